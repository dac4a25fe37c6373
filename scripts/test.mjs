import { spawnSync } from 'node:child_process';
import { ensureChromium } from './chromium.mjs';
import { buildPage, ROOT, setup } from './setup.mjs';

/** Everything in order: cheap checks first, so that a mistake is seen early. Names given on the command line select stages. */
const STAGES = [
  ['lint', ['node_modules/@biomejs/biome/bin/biome', 'check', '.']],
  ['types', ['node_modules/typescript/bin/tsc', '--noEmit']],
  ['unit', ['node_modules/vitest/vitest.mjs', 'run', '--project', 'unit']],
  ['gpu', ['node_modules/vitest/vitest.mjs', 'run', '--project', 'gpu']],
  ['e2e', ['node_modules/vitest/vitest.mjs', 'run', '--project', 'e2e']],
];

try {
  const wanted = process.argv.slice(2);
  const unknown = wanted.filter((name) => !STAGES.some(([stage]) => stage === name));
  if (unknown.length > 0) throw new Error(`Unknown stage ${unknown.join(', ')}: choose from ${STAGES.map(([name]) => name).join(', ')}.`);
  setup();
  process.env.CHROME_PATH = ensureChromium();
  buildPage();
  for (const [name, args] of STAGES) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const began = Date.now();
    console.log(`\n── ${name}`);
    const { status } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit' });
    console.log(`── ${name}: ${status === 0 ? 'passed' : 'FAILED'} in ${((Date.now() - began) / 1000).toFixed(1)} s`);
    if (status !== 0) process.exit(1);
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
