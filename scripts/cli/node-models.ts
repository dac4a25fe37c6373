import { readdir, readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { type EngineHandle, OwnEngine } from '../../src/models/own/engine.ts';
import { PooledPolicy } from '../../src/models/own/policy.ts';
import { loadModel } from '../../src/models/own/source.ts';
import { createBackend } from '../../src/tensor/index.ts';
import { startNodeWorker } from '../node-worker.ts';
import { findModel } from './node-files.ts';
import { nodeGpu } from './node-gpu.ts';

export interface NodePolicy {
  readonly policy: PooledPolicy;
  close(): Promise<void>;
}

/** A model on all cores: one CPU engine a worker thread. @param trainable unpack the weights so that they can be updated. */
export async function connectCpuPolicy(model: string, trainable = false): Promise<NodePolicy> {
  const { id, folder } = findModel('model', model);
  const source = { kind: 'memory' as const, id, files: await readFolder(folder) };
  const workers = Array.from({ length: availableParallelism() }, () => startNodeWorker<OwnEngine>('engine'));
  const close = async (): Promise<void> => {
    for (const worker of workers) await worker.close();
  };
  try {
    await Promise.all(workers.map(({ remote }) => remote.load(source, 'file:///', { backend: 'cpu', trainable })));
    return { policy: await PooledPolicy.connect(workers.map(({ remote }): EngineHandle => remote)), close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

/** A model on WebGPU: on a GPU that Node itself can reach, if there is one, and else in headless Chromium. */
export async function connectGpuPolicy(model: string, signal?: AbortSignal): Promise<NodePolicy> {
  const found = findModel('model', model);
  const gpu = await nodeGpu();
  if (gpu === undefined) {
    const { connectChromiumEngine } = await import('./chromium-task.ts');
    const { engine, close } = await connectChromiumEngine(found, signal);
    return { policy: await PooledPolicy.connect([engine]), close };
  }
  const engine = new OwnEngine();
  await engine.use((await createBackend('webgpu', { gpu })).backend, await loadModel(found.source, found.id));
  return { policy: await PooledPolicy.connect([engine]), close: () => engine.close() };
}

async function readFolder(folder: string): Promise<ReadonlyMap<string, Uint8Array>> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
  return new Map(await Promise.all(names.map(async (name) => [name, new Uint8Array(await readFile(join(folder, name)))] as const)));
}
