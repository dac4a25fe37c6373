import { expect, it } from 'vitest';
import { webLlmMachine } from '../../../../src/models/webllm/machine.ts';

it('reads what the GPU offers, or that there is none', async () => {
  expect(await webLlmMachine()).toMatchObject({ webgpu: false, f16: false, bufferBytes: 0 });
  const adapter = {
    info: { vendor: 'acme', architecture: 'fast', device: '', description: '' },
    features: new Set(['shader-f16']),
    limits: { maxStorageBufferBindingSize: 2 ** 30 },
  };
  const gpu = { requestAdapter: async () => adapter } as unknown as GPU;
  expect(await webLlmMachine(gpu)).toMatchObject({ webgpu: true, software: false, f16: true, bufferBytes: 2 ** 30 });
});
