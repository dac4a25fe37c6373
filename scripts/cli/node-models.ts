import { readdir, readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { NacreError } from '../../src/core/errors.ts';
import { ENDPOINT, type ModelChoice } from '../../src/lab/config.ts';
import { asActor } from '../../src/lab/models/acting.ts';
import type { RolloutModel } from '../../src/models/chat-rollouts.ts';
import { connectEndpoint } from '../../src/models/endpoint/connect.ts';
import type { KeyRing } from '../../src/models/endpoint/keys.ts';
import { type EngineHandle, OwnEngine } from '../../src/models/own/engine.ts';
import { PooledPolicy } from '../../src/models/own/policy.ts';
import { isShipped } from '../../src/models/own/shipped.ts';
import { loadModel, type ModelSource } from '../../src/models/own/source.ts';
import { createBackend } from '../../src/tensor/index.ts';
import { type NodeWorkerConnection, startNodeWorker } from '../node-worker.ts';
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

  private async start({ model, backend, runtime = 'own', endpoint }: ModelChoice) {
    if (model === ENDPOINT && endpoint) {
      const onNotice = (notice: string): void => void process.stderr.write(`${notice}\n`);
      const connected = await connectEndpoint(endpoint, this.keys, { signal: this.signal, onNotice });
      return { model: connected, close: () => connected.close() };
    }
    if (runtime !== 'own') {
      throw new NacreError(
        'runtime-unsuitable',
        `The runtime "${runtime}" of the model "${model}" runs in browsers only.`,
        'Remove the field runtime: the own runtime reads the same files. Or run this experiment in the page.',
      );
    }
    const { policy, close } = await (backend === 'webgpu' ? connectGpuPolicy(model, this.signal) : connectCpuPolicy(model));
    return { model: isShipped(model) ? policy : asActor(policy), close };
  }
}

/** Models with more weights than this get one engine: further ones would each hold a copy of them. */
const LARGE = 20e6;
/** Large models run on few sequences at a time: each keeps its own keys and values. */
const TOGETHER_LARGE = 8;

/**
 * A model on the CPU: one engine a worker thread, on all cores for small models.
 * @param trainable unpack the weights so that they can be updated
 */
export async function connectCpuPolicy(model: string, trainable = false): Promise<NodePolicy> {
  const source = await sourceOf(model);
  const workers: NodeWorkerConnection<OwnEngine>[] = [];
  const close = async (): Promise<void> => {
    for (const worker of workers) await worker.close();
  };
  const open = async (): Promise<EngineHandle> => {
    const worker = startNodeWorker<OwnEngine>('engine');
    workers.push(worker);
    await worker.remote.load(source, 'file:///', { backend: 'cpu', trainable });
    return worker.remote;
  };
  try {
    const first = await open();
    const large = (await first.info()).parameters > LARGE;
    const others = large ? [] : await Promise.all(Array.from({ length: availableParallelism() - 1 }, open));
    return { policy: await PooledPolicy.connect([first, ...others], ...(large ? [TOGETHER_LARGE] : [])), close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

/** The files of a model on disk in memory, or its address. */
async function sourceOf(model: string): Promise<ModelSource> {
  if (/^https?:\/\//i.test(model)) return { kind: 'url', url: model };
  const { id, folder, gguf } = findModel('model', model);
  return { kind: 'memory', id, files: await readFolder(folder, gguf) };
}

/** A model on WebGPU: on a GPU that Node itself can reach, if there is one, and else in headless Chromium. */
export async function connectGpuPolicy(model: string, signal?: AbortSignal, trainable = false): Promise<NodePolicy> {
  const found = findModel('model', model);
  const gpu = await nodeGpu();
  if (gpu === undefined) {
    const { connectChromiumEngine } = await import('./chromium-task.ts');
    const { engine, close } = await connectChromiumEngine(found, signal, trainable);
    return { policy: await PooledPolicy.connect([engine]), close };
  }
  const engine = new OwnEngine();
  await engine.use((await createBackend('webgpu', { gpu })).backend, await loadModel(found.source, found.id), trainable);
  return { policy: await PooledPolicy.connect([engine]), close: () => engine.close() };
}

/** All files of a folder, or one of them. */
async function readFolder(folder: string, only: string | undefined): Promise<ReadonlyMap<string, Uint8Array>> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile() && (only === undefined || entry.name === only)).map((entry) => entry.name);
  return new Map(await Promise.all(names.map(async (name) => [name, new Uint8Array(await readFile(join(folder, name)))] as const)));
}
