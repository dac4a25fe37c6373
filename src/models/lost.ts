import { toPlainError } from '../core/errors.ts';

/** Failures after which a loaded model is gone: its device, its memory or its thread. Loading it again may help, asking again cannot. */
const LOST: ReadonlySet<string> = new Set([
  'device-lost',
  'gpu-lost',
  'gpu-internal',
  'gpu-out-of-memory',
  'out-of-memory',
  'worker-failed',
  'worker-closed',
  'model-not-loaded',
]);

export function isModelLost(thrown: unknown): boolean {
  return LOST.has(toPlainError(thrown).code);
}
