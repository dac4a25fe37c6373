import { afterAll, beforeAll, describe, it } from 'vitest';
import type { Backend } from '../../src/tensor/backend.ts';
import { createWebGpuBackend } from '../../src/tensor/webgpu/backend.ts';
import { kernelCases } from '../kernels/table.ts';

describe('every kernel on the webgpu backend', () => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await createWebGpuBackend({ hardwareKernels: true });
  });
  afterAll(() => backend.destroy());

  it.each(kernelCases)('$name', async ({ run }) => {
    await run(backend);
  });
});

describe('products as software adapters run them', () => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await createWebGpuBackend();
  });
  afterAll(() => backend.destroy());

  it.each(kernelCases.filter(({ name }) => name.startsWith('linear ')))('$name', async ({ run }) => {
    await run(backend);
  });
});
