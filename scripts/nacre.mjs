#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { ROOT, setup } from './setup.mjs';

/** Sets the checkout up, then runs the TypeScript command line; signals and the exit code pass through. */
try {
  setup();
  const child = spawn(process.execPath, ['--import', 'tsx', 'scripts/cli/main.ts', ...process.argv.slice(2)], {
    cwd: ROOT,
    // The channel tells the command when this process is gone, however it ended.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, NACRE_CWD: process.env.INIT_CWD ?? process.cwd() },
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
