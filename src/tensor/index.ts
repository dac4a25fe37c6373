import type { NacreError } from '../core/errors.ts';
import { describeAdapter } from './adapter.ts';
import type { Backend, BackendKind } from './backend.ts';
import { createCpuBackend } from './cpu/backend.ts';
import { createWebGpuBackend } from './webgpu/backend.ts';

export type BackendChoice = 'auto' | BackendKind;

export interface ChosenBackend {
  readonly backend: Backend;
  /** One sentence for people: which backend this is and why. */
  readonly reason: string;
}

export interface BackendOptions {
  /** Stands in for `navigator.gpu`: the npm package `webgpu` in Node. */
  readonly gpu?: GPU;
  readonly onLost?: (error: NacreError) => void;
}

/**
 * Opens a backend. `auto` takes WebGPU only on a hardware adapter, since a software one is several times slower than the CPU backend.
 * @throws {NacreError} `webgpu-unavailable` when `webgpu` was asked for and there is none
 */
export async function createBackend(choice: BackendChoice, options: BackendOptions = {}): Promise<ChosenBackend> {
  if (choice === 'cpu') return { backend: await createCpuBackend(), reason: 'The CPU backend, as chosen.' };
  if (choice === 'webgpu') {
    const backend = await createWebGpuBackend(options);
    const caution = backend.info.software ? ', a software adapter: right but slow' : '';
    return { backend, reason: `WebGPU on ${backend.info.adapter}, as chosen${caution}.` };
  }
  const found = await describeAdapter(options.gpu);
  if (!found.available)
    return { backend: await createCpuBackend(), reason: `The CPU backend, because ${found.reason ?? 'there is no GPU'}.` };
  if (found.software) {
    const reason = `The CPU backend: the only GPU adapter (${found.adapter}) is a software one, which is slower.`;
    return { backend: await createCpuBackend(), reason };
  }
  try {
    return { backend: await createWebGpuBackend(options), reason: `WebGPU on ${found.adapter}.` };
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    return { backend: await createCpuBackend(), reason: `The CPU backend, because the GPU failed: ${why}` };
  }
}
