import { expect, it } from 'vitest';
import { kernelCases } from '../kernels/table.ts';

it('the cpu backend passes the kernel table inside a web worker', async () => {
  const worker = new Worker(new URL('./cpu-kernels.worker.ts', import.meta.url), { type: 'module' });
  try {
    const report = await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = (event) => reject(new Error(event.message));
    });
    expect(report).toEqual({ cases: kernelCases.length, failures: [] });
  } finally {
    worker.terminate();
  }
});
