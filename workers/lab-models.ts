import { NacreError } from '../src/core/errors.ts';
import { type Connection, connectService } from '../src/core/rpc.ts';
import type { ModelChoice } from '../src/lab/config.ts';
import { type AdapterReport, chooseBackend } from '../src/lab/machine.ts';
import { asActor, withRoomToSpeak } from '../src/lab/models/acting.ts';
import { ModelLibrary } from '../src/lab/models/library.ts';
import { type ModelPlan, planModel, shippedPlan } from '../src/lab/models/resolve.ts';
import type { PearlConfig } from '../src/lab/pearl-config.ts';
import type { OwnPolicy } from '../src/lab/work.ts';
import { asRolloutModel, type RolloutModel } from '../src/models/chat-rollouts.ts';
import type { OnTransfer } from '../src/models/download.ts';
import { openGguf, titleOf } from '../src/models/llamacpp/gguf-store.ts';
import { WllamaModel } from '../src/models/llamacpp/model.ts';
import type { EngineHandle, OwnEngine } from '../src/models/own/engine.ts';
import { PooledPolicy } from '../src/models/own/policy.ts';
import { isShipped } from '../src/models/own/shipped.ts';
import { type LoadedModel, loadModel, type ModelSource, openSource } from '../src/models/own/source.ts';
import type { WebLlmRecord } from '../src/models/webllm/catalogue.ts';
import type { WebLlmEngine } from '../src/models/webllm/engine.ts';
import { downloadModel } from '../src/models/webllm/files.ts';
import { webLlmMachine } from '../src/models/webllm/machine.ts';
import { WebLlmModel } from '../src/models/webllm/model.ts';

/** Models with more weights than this get one engine: further ones would each hold a copy of them. */
const LARGE = 20e6;
/** Large models run on few sequences at a time: each keeps its own keys and values. */
const TOGETHER = { small: 64, large: 8 };

export interface Machine {
  readonly adapter: AdapterReport;
  readonly cores: number;
  /** Address below which shipped models lie. */
  readonly base: string;
}

interface Started<T> extends Connection<T> {
  end(): void;
}

export const library = new ModelLibrary();

/** Loads a chosen model, in workers of its own that `close` ends. */
export async function startModel(choice: ModelChoice, machine: Machine, onTransfer: OnTransfer): Promise<RolloutModel> {
  const plan = isShipped(choice.model) ? shippedPlan(choice.model) : planModel(choice, await library.stored(), await webLlmMachine());
  const { contextLength } = choice;
  const context = contextLength === undefined ? {} : { contextLength };
  switch (plan.runtime) {
    case 'webllm':
      return startWebLlm(plan.record, context, onTransfer);
    case 'llamacpp': {
      const gpu = { auto: 'auto', cpu: 'never', webgpu: 'always' } as const;
      const options = { ...context, gpu: gpu[choice.backend] };
      const model = await WllamaModel.load({ kind: 'url', url: plan.url }, options, { onTransfer });
      return withRoomToSpeak(asRolloutModel(model, { parallel: 1 }));
    }
    case 'own':
      return startOwn(await ownSource(plan, onTransfer), choice, machine, onTransfer);
  }
}

/** The files of a model for the own runtime, stored first where there is a store for them. */
async function ownSource(plan: Extract<ModelPlan, { runtime: 'own' }>, onTransfer: OnTransfer): Promise<ModelSource> {
  switch (plan.from) {
    case 'source':
      return plan.source;
    case 'mlc':
      if (!plan.stored) await downloadModel(plan.record, onTransfer);
      return { kind: 'webllm', url: plan.record.model };
    case 'gguf': {
      const files = await openGguf(plan.url, onTransfer);
      const [file] = files;
      if (files.length !== 1 || !file) {
        throw new NacreError(
          'runtime-unsuitable',
          `${titleOf(plan.url)} was split into ${files.length} files, which the own runtime does not read.`,
          'Choose the runtime llamacpp, or a model in one file.',
        );
      }
      return { kind: 'gguf', id: titleOf(plan.url), file };
    }
  }
}

/** A model on as many engines as the machine and its size allow. */
async function startOwn(source: ModelSource, { backend }: ModelChoice, machine: Machine, onTransfer: OnTransfer): Promise<RolloutModel> {
  const { policy, end } = await openEngines(source, { backend, trainable: false }, machine, onTransfer);
  return { ...(source.kind === 'shipped' ? plain(policy) : asActor(policy)), close: async () => end() };
}

/** A fresh copy of a shipped model whose weights can be trained. @throws {NacreError} `unknown-model`. */
export async function startPolicy({ model, backend }: PearlConfig['target'], machine: Machine): Promise<OwnPolicy> {
  const { policy, end } = await openEngines(trainableSource(model), { backend, trainable: true }, machine, () => undefined);
  return { policy, close: async () => end() };
}

/** A shipped model in memory, for its tokenizer and shapes. @throws {NacreError} `unknown-model`. */
export async function loadShipped(model: string, base: string): Promise<LoadedModel> {
  const { source, id } = openSource(trainableSource(model), base);
  return loadModel(source, id);
}

function trainableSource(model: string): ModelSource {
  if (isShipped(model)) return { kind: 'shipped', id: model };
  if (/^https?:\/\//.test(model)) return { kind: 'url', url: model };
  throw new NacreError(
    'unknown-model',
    `target.model: "${model}" is neither a shipped model nor an address.`,
    'Only models of the own runtime can be trained: use nacre-tiny, or the https address of a folder in MLC format.',
  );
}

async function openEngines(
  source: ModelSource,
  { backend, trainable }: { readonly backend: ModelChoice['backend']; readonly trainable: boolean },
  machine: Machine,
  onTransfer: OnTransfer,
): Promise<{ readonly policy: PooledPolicy; end(): void }> {
  const choice = chooseBackend(backend, machine.adapter, machine.cores);
  const engines: Started<OwnEngine>[] = [];
  const end = (): void => {
    for (const engine of engines) engine.end();
  };
  const open = async (watched: boolean): Promise<EngineHandle> => {
    const engine = start<OwnEngine>(new Worker(new URL('./engine.ts', import.meta.url), { type: 'module', name: 'engine' }));
    engines.push(engine);
    const report = ({ loadedBytes, totalBytes }: { readonly loadedBytes: number; readonly totalBytes: number }): void =>
      onTransfer({ phase: 'load', loadedBytes, totalBytes });
    await engine.remote.load(source, machine.base, { backend: choice.kind, trainable }, ...(watched ? [report] : []));
    return engine.remote;
  };
  try {
    const first = await open(source.kind !== 'shipped');
    const { parameters } = await first.info();
    const large = parameters > LARGE;
    const others = await Promise.all(Array.from({ length: large ? 0 : choice.workers - 1 }, () => open(false)));
    return { policy: await PooledPolicy.connect([first, ...others], large ? TOGETHER.large : TOGETHER.small), end };
  } catch (thrown) {
    end();
    throw thrown;
  }
}

async function startWebLlm(
  record: WebLlmRecord,
  options: { readonly contextLength?: number },
  onTransfer: OnTransfer,
): Promise<RolloutModel> {
  const engine = start<WebLlmEngine>(new Worker(new URL('./webllm.ts', import.meta.url), { type: 'module', name: 'webllm' }));
  try {
    const info = await engine.remote.load(record, options, onTransfer);
    const model = withRoomToSpeak(asRolloutModel(new WebLlmModel(engine.remote, info), { parallel: 1 }));
    return { ...model, close: async () => engine.end() };
  } catch (thrown) {
    engine.end();
    throw thrown;
  }
}

/** The trained policy plays the suite as it was trained to. */
function plain(policy: PooledPolicy): RolloutModel {
  return {
    info: policy.info,
    generate: (messages, options) => policy.generate(messages, options),
    rollouts: (jobs, options) => policy.rollouts(jobs, options),
    close: () => policy.close(),
  };
}

function start<T>(worker: Worker): Started<T> {
  const connection = connectService<T>(worker);
  return {
    ...connection,
    end() {
      connection.release();
      worker.terminate();
    },
  };
}
