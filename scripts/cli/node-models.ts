import { readdir, readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { ENDPOINT, type ModelChoice } from '../../src/lab/config.ts';
import type { RolloutModel } from '../../src/models/chat-rollouts.ts';
import { connectEndpoint } from '../../src/models/endpoint/connect.ts';
import type { KeyRing } from '../../src/models/endpoint/keys.ts';
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

/** The models of one command: each choice is connected once, and all are closed together. */
export class NodeModels {
  private readonly open = new Map<string, Promise<{ readonly model: RolloutModel; close(): Promise<void> }>>();

  constructor(
    private readonly keys: KeyRing,
    private readonly signal: AbortSignal,
  ) {}

  async connect(choice: ModelChoice): Promise<RolloutModel> {
    const key = JSON.stringify(choice);
    const opening = this.open.get(key) ?? this.start(choice);
    this.open.set(key, opening);
    return (await opening).model;
  }

  async close(): Promise<void> {
    for (const opening of this.open.values()) {
      const [outcome] = await Promise.allSettled([opening]);
      // One that could not be connected has told its caller and holds nothing.
      if (outcome.status === 'fulfilled') await outcome.value.close();
    }
  }

  private async start({ model, backend, endpoint }: ModelChoice) {
    if (model === ENDPOINT && endpoint) {
      const onNotice = (notice: string): void => void process.stderr.write(`${notice}\n`);
      const connected = await connectEndpoint(endpoint, this.keys, { signal: this.signal, onNotice });
      return { model: connected, close: () => connected.close() };
    }
    const { policy, close } = await (backend === 'webgpu' ? connectGpuPolicy(model, this.signal) : connectCpuPolicy(model));
    return { model: policy, close };
  }
}

/** A model on all cores: one CPU engine a worker thread. @param trainable unpack the weights so that they can be updated. */
export async function connectCpuPolicy(model: string, trainable = false): Promise<NodePolicy> {
  const { id, folder, gguf } = findModel('model', model);
  const source = { kind: 'memory' as const, id, files: await readFolder(folder, gguf) };
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

/** All files of a folder, or one of them. */
async function readFolder(folder: string, only: string | undefined): Promise<ReadonlyMap<string, Uint8Array>> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile() && (only === undefined || entry.name === only)).map((entry) => entry.name);
  return new Map(await Promise.all(names.map(async (name) => [name, new Uint8Array(await readFile(join(folder, name)))] as const)));
}
