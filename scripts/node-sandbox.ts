import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { SandboxService } from '../src/suites/sandbox/service.ts';
import { SupervisedSandbox } from '../src/suites/sandbox/supervised.ts';
import { startNodeWorker } from './node-worker.ts';

/** The engine's WebAssembly file. */
export function readSandboxWasm(): Promise<Uint8Array<ArrayBuffer>> {
  const path = createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/wasm');
  return readFile(path);
}

/** The sandbox of a command: a Node worker thread, started when first needed. */
export function nodeSandbox(): SupervisedSandbox {
  return new SupervisedSandbox(async () => {
    const { remote, close } = startNodeWorker<SandboxService>('sandbox');
    await remote.open(await readSandboxWasm());
    return { sandbox: remote, end: close };
  });
}
