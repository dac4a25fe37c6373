import { toPlainError } from '../../src/core/errors.ts';
import { createCpuBackend } from '../../src/tensor/cpu/backend.ts';
import { kernelCases } from '../kernels/table.ts';

/** Runs the whole kernel table on the CPU backend inside a worker and posts what failed. */
async function runTable(): Promise<string[]> {
  const backend = await createCpuBackend();
  const failures: string[] = [];
  for (const { name, run } of kernelCases) {
    try {
      await run(backend);
    } catch (error) {
      failures.push(`${name}: ${toPlainError(error).message}`);
    }
  }
  backend.destroy();
  return failures;
}

runTable().then(
  (failures) => postMessage({ cases: kernelCases.length, failures }),
  (error) => postMessage({ cases: 0, failures: [toPlainError(error).message] }),
);
