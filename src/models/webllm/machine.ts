import { describeAdapter } from '../../tensor/adapter.ts';
import { freeStorage } from '../download.ts';
import type { WebLlmMachine } from './catalogue.ts';

/** What this machine offers to WebLLM. `gpu` stands in for `navigator.gpu` outside browsers. */
export async function webLlmMachine(gpu?: GPU): Promise<WebLlmMachine> {
  const { available, software, features, limits } = await describeAdapter(gpu);
  const { deviceMemory } = (typeof navigator === 'undefined' ? {} : navigator) as { readonly deviceMemory?: number };
  const freeBytes = await freeStorage();
  return {
    webgpu: available,
    software,
    f16: features.includes('shader-f16'),
    bufferBytes: limits.maxStorageBufferBindingSize ?? 0,
    ...(deviceMemory === undefined ? {} : { memoryGiB: deviceMemory }),
    ...(freeBytes === undefined ? {} : { freeBytes }),
  };
}
