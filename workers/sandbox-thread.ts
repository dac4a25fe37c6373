import wasmUrl from '@jitl/quickjs-wasmfile-release-sync/wasm?url';
import { NacreError } from '../src/core/errors.ts';
import { connectService } from '../src/core/rpc.ts';
import type { SandboxService } from '../src/suites/sandbox/service.ts';
import { type SandboxThread, SupervisedSandbox } from '../src/suites/sandbox/supervised.ts';

/** The sandbox of a page or worker in the browser; its code and its WebAssembly are fetched when first needed. */
export function browserSandbox(): SupervisedSandbox {
  return new SupervisedSandbox(startThread);
}

async function startThread(): Promise<SandboxThread> {
  const response = await fetch(wasmUrl);
  if (!response.ok) {
    throw new NacreError('sandbox-unavailable', `The sandbox could not be loaded (HTTP ${response.status}).`, 'Reload the page.');
  }
  const wasm = await response.arrayBuffer();
  const worker = new Worker(new URL('./sandbox.ts', import.meta.url), { type: 'module', name: 'sandbox' });
  const { remote, release } = connectService<SandboxService>(worker);
  const end = (): void => {
    release();
    worker.terminate();
  };
  try {
    await remote.open(wasm);
  } catch (thrown) {
    end();
    throw thrown;
  }
  return { sandbox: remote, end };
}
