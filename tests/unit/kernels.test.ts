import { afterAll, beforeAll, describe, it } from 'vitest';
import type { Backend } from '../../src/tensor/backend.ts';
import { createCpuBackend } from '../../src/tensor/cpu/backend.ts';
import { kernelCases } from '../kernels/table.ts';

describe('every kernel on the cpu backend', () => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await createCpuBackend();
  });
  afterAll(() => backend.destroy());

  it.each(kernelCases)('$name', async ({ run }) => {
    await run(backend);
  });
});
