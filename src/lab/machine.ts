import type { MachineState } from './service.ts';

/** What `describeAdapter` of the tensor layer reports, as far as the choice of a backend needs it. */
export interface AdapterReport {
  readonly available: boolean;
  readonly adapter: string;
  readonly software: boolean;
  readonly reason?: string;
}

/** Most engine workers the lab starts: more than this only adds memory for a model this small. */
const MAX_WORKERS = 8;

/**
 * Chooses the backend: WebGPU only on a hardware adapter, because a software one is right but slower than the CPU kernels.
 * `wanted` other than `auto` is obeyed.
 */
export function chooseBackend(wanted: 'auto' | 'cpu' | 'webgpu', adapter: AdapterReport, cores: number): MachineState['backend'] {
  const workers = Math.max(1, Math.min(MAX_WORKERS, cores));
  const cpu = (reason: string) => ({ kind: 'cpu' as const, reason, workers });
  const gpu = (reason: string) => ({ kind: 'webgpu' as const, reason, workers: 1 });
  if (wanted === 'cpu') return cpu('The configuration asks for the CPU.');
  if (wanted === 'webgpu') return gpu('The configuration asks for WebGPU.');
  if (!adapter.available) return cpu(`WebGPU is not available${adapter.reason ? ` (${adapter.reason})` : ''}, so the CPU kernels run.`);
  if (adapter.software) return cpu('The WebGPU adapter is a software one, slower than the CPU kernels, so those run.');
  return gpu('A hardware WebGPU adapter was found.');
}
