import { connectService } from '../core/rpc.ts';
import type { LabService } from '../lab/service.ts';

/** Starts the lab worker. Every method rejects with a NacreError; a worker that dies rejects what is open. */
export function connectLab(): LabService {
  const worker = new Worker(new URL('../../workers/lab.ts', import.meta.url), { type: 'module', name: 'lab' });
  return connectService<LabService>(worker).remote;
}
