import { NacreError, toPlainError } from '../../core/errors.ts';
import type { Message, TokenTrace } from '../../core/types.ts';
import { describeAdapter } from '../../tensor/adapter.ts';
import { cancelled, type OnTransfer } from '../download.ts';
import { Limiter } from '../endpoint/limiter.ts';
import type { GenerationFinish, ModelInfo, SamplingOptions } from '../types.ts';
import { verifyCached } from './cache.ts';
import { toEntry, type WebLlmRecord } from './catalogue.ts';
import { filesDamaged, gpuLost, webLlmError } from './errors.ts';
import { downloadModel, type FilesAccess } from './files.ts';
import { deviceOf, heldTokens, importWebLlm, type LibraryConfig, type LibraryEngine, type WebLlmLibrary } from './library.ts';
import { finishOf, libraryRequest } from './request.ts';
import { TokenTracer } from './trace.ts';

export interface WebLlmOptions {
  /** Tokens that prompt and answer may have together, where the model's own number is too large or too small. */
  readonly contextLength?: number;
  /** Record ids, log-probabilities and entropies, and allow `topK`: some milliseconds a token. */
  readonly trace?: boolean;
  /** Let models that can reason before they answer (Qwen3) do so; their answers get much longer. */
  readonly thinking?: boolean;
  /** Read every prompt afresh, so that an answer does not depend on the calls before, down to the last bit. */
  readonly exact?: boolean;
}

/** One question, as plain data. */
export interface WebLlmRequest extends SamplingOptions {
  /** Names the request for `cancel`. */
  readonly id: string;
  readonly messages: readonly Message[];
  readonly maxTokens: number;
  readonly seed: number;
  readonly schema?: object;
  readonly stop?: readonly string[];
}

export interface WebLlmAnswer {
  /** As the model said it, reasoning included. */
  readonly text: string;
  readonly finish: GenerationFinish;
  /** Newly read tokens. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** All tokens before the answer, those kept from earlier calls included. */
  readonly historyTokens: number;
  readonly tokens?: TokenTrace;
}

/** What callers in any thread may ask of the engine. */
export interface WebLlmHandle {
  /** Downloads what is missing and loads the model in place of the one before. */
  load(record: WebLlmRecord, options: WebLlmOptions, onTransfer?: OnTransfer): Promise<ModelInfo>;
  /** Breaks off a load; what has been downloaded is kept. */
  cancelLoad(): Promise<void>;
  /** Answers one question after those asked before. `onText` is told the text so far. */
  generate(request: WebLlmRequest, onText?: (text: string) => void): Promise<WebLlmAnswer>;
  /** Ends a request with finish `cancelled`: at once while it waits, after its current token while it runs. */
  cancel(id: string): Promise<void>;
  close(): Promise<void>;
}

interface Loaded {
  readonly engine: LibraryEngine;
  readonly record: WebLlmRecord;
  readonly options: WebLlmOptions;
  readonly tracer: TokenTracer | undefined;
  /** Rejects when the device is lost. */
  readonly lost: Promise<never>;
}

const NOTHING: Omit<WebLlmAnswer, 'finish'> = { text: '', inputTokens: 0, outputTokens: 0, historyTokens: 0 };

/** Runs one model through WebLLM; lives in a worker of its own. One request at a time, in the order in which they came. */
export class WebLlmEngine implements WebLlmHandle {
  private readonly importLibrary: () => Promise<WebLlmLibrary>;
  private readonly access: FilesAccess;
  private readonly queue = new Limiter(1);
  private readonly requests = new Map<string, AbortController>();
  private loading: AbortController | undefined;
  private loaded: Loaded | undefined;

  constructor(importLibrary: () => Promise<WebLlmLibrary> = importWebLlm, access: FilesAccess = {}) {
    this.importLibrary = importLibrary;
    this.access = access;
  }

  async load(record: WebLlmRecord, options: WebLlmOptions, onTransfer?: OnTransfer): Promise<ModelInfo> {
    this.loading?.abort(cancelled(`Loading ${record.model_id}`));
    const loading = new AbortController();
    this.loading = loading;
    return this.queue.run(async () => {
      this.discard();
      try {
        // Packages with a manifest of their own list their files elsewhere: WebLLM itself gets those.
        const access = { ...this.access, signal: loading.signal };
        const plan = record.model_manifest === undefined ? await downloadModel(record, onTransfer, access) : undefined;
        const report = onTransfer && loadReporter(onTransfer, plan?.totalBytes ?? toEntry(record).downloadBytes);
        this.loaded = await this.open(record, options, loading.signal, report);
      } catch (thrown) {
        loading.signal.throwIfAborted();
        throw await this.loadError(thrown, record);
      }
      return this.info(this.loaded);
    }, loading.signal);
  }

  async cancelLoad(): Promise<void> {
    this.loading?.abort(cancelled('Loading the model'));
  }

  async generate(request: WebLlmRequest, onText?: (text: string) => void): Promise<WebLlmAnswer> {
    const controller = new AbortController();
    this.requests.set(request.id, controller);
    try {
      return await this.queue.run(() => this.answer(request, controller.signal, onText), controller.signal);
    } catch (thrown) {
      if (controller.signal.aborted) return { ...NOTHING, finish: 'cancelled' };
      throw thrown;
    } finally {
      this.requests.delete(request.id);
    }
  }

  async cancel(id: string): Promise<void> {
    this.requests.get(id)?.abort(cancelled('The answer'));
  }

  async close(): Promise<void> {
    await this.cancelLoad();
    for (const controller of this.requests.values()) controller.abort(cancelled('The answer'));
    await this.queue.run(async () => this.discard());
  }

  /** Tries once more on a new device when the device is lost: the same seed gives the same answer. */
  private async answer(request: WebLlmRequest, signal: AbortSignal, onText?: (text: string) => void): Promise<WebLlmAnswer> {
    for (let attempt = 0; ; attempt++) {
      const loaded = this.ready();
      try {
        return await Promise.race([this.ask(loaded, request, signal, onText), loaded.lost]);
      } catch (thrown) {
        const error = webLlmError(thrown, failureContext(loaded.record));
        if (error.code !== 'gpu-lost' || attempt > 0) throw error;
        this.discard();
        try {
          this.loaded = await this.open(loaded.record, loaded.options, signal);
        } catch (again) {
          throw await this.loadError(again, loaded.record);
        }
      }
    }
  }

  private async ask(loaded: Loaded, request: WebLlmRequest, signal: AbortSignal, onText?: (text: string) => void): Promise<WebLlmAnswer> {
    const { engine, record, options, tracer } = loaded;
    if ((request.topK ?? 0) > 0 && !tracer) throw topKUnsupported(record.model_id);
    if (options.exact) await engine.resetChat();
    if (tracer) {
      tracer.topK = request.topK ?? 0;
      tracer.take();
    }
    const interrupt = (): void => {
      engine.interruptGenerate();
    };
    signal.addEventListener('abort', interrupt);
    try {
      let finish = '';
      let read = 0;
      let said = 0;
      for await (const { choices, usage } of await engine.chat.completions.create(libraryRequest(record, request, options))) {
        finish = choices[0]?.finish_reason ?? finish;
        if (usage) ({ prompt_tokens: read, completion_tokens: said } = usage);
        // WebLLM forgets an interrupt that comes before it has begun.
        if (signal.aborted) interrupt();
        if (onText && choices.length > 0) onText(await engine.getMessage());
      }
      // Chunks keep the beginning of a stop text that later turns out to be one; the message does not.
      const text = await engine.getMessage();
      const tokens = tracer?.take();
      const held = heldTokens(engine, record.model_id);
      const outputTokens = tokens?.ids.length ?? said;
      return {
        text,
        finish: signal.aborted ? 'cancelled' : finishOf(finish, outputTokens, request.maxTokens),
        inputTokens: read,
        outputTokens,
        historyTokens: Math.max(read, held === undefined ? 0 : held - outputTokens),
        ...(tokens ? { tokens } : {}),
      };
    } finally {
      signal.removeEventListener('abort', interrupt);
    }
  }

  private async open(record: WebLlmRecord, options: WebLlmOptions, signal: AbortSignal, onReport?: LoadReport): Promise<Loaded> {
    const { MLCEngine } = await this.importLibrary();
    const tracer = options.trace ? new TokenTracer() : undefined;
    const engine = new MLCEngine({
      appConfig: { model_list: [record], cacheBackend: 'cache' },
      initProgressCallback: (report) => onReport?.(report),
      ...(tracer ? { logitProcessorRegistry: new Map([[record.model_id, tracer]]) } : {}),
      logLevel: 'WARN',
    });
    const stop = (): void => quietly(engine.unload());
    signal.addEventListener('abort', stop);
    try {
      signal.throwIfAborted();
      const { contextLength } = options;
      await engine.reload(record.model_id, contextLength === undefined ? undefined : { context_window_size: contextLength });
      signal.throwIfAborted();
    } finally {
      signal.removeEventListener('abort', stop);
    }
    return { engine, record, options, tracer, lost: lossOf(engine, record) };
  }

  /** Where a load failed over its files, the damaged ones are found and deleted, so that the next load gets them again. */
  private async loadError(thrown: unknown, record: WebLlmRecord): Promise<NacreError> {
    const error = webLlmError(thrown, failureContext(record));
    if (error.code !== 'model-files-damaged' && error.code !== 'webllm-failed') return error;
    const checked = await verifyCached(record.model, { ...this.access, repair: true }).catch((failed: unknown) => {
      // The check is a service on top: its own failure must not hide the first one.
      if (toPlainError(failed).code === 'unexpected') throw failed;
      return undefined;
    });
    return checked && checked.damaged.length > 0 ? filesDamaged(record.model_id, checked.damaged) : error;
  }

  private async info({ record, options }: Loaded): Promise<ModelInfo> {
    const { id, title, parameters, contextLength } = toEntry(record);
    const { adapter } = await describeAdapter();
    return {
      id,
      title,
      parameters,
      backend: 'webllm',
      adapter,
      contextLength: options.contextLength ?? contextLength,
      capabilities: { chat: true, json: true, logprobs: options.trace ?? false, probe: false, train: false },
    };
  }

  private discard(): void {
    const { loaded } = this;
    this.loaded = undefined;
    // On a lost device this may never end, and nothing waits for it.
    if (loaded) quietly(loaded.engine.unload());
  }

  private ready(): Loaded {
    if (!this.loaded) throw new NacreError('model-not-loaded', 'WebLLM holds no model.', 'Load a model first.');
    return this.loaded;
  }
}

type LoadReport = LibraryConfig['initProgressCallback'];

/** WebLLM's words about a load as bytes. Its shaders are compiled when all weights are in memory, and count as nothing. */
function loadReporter(onTransfer: OnTransfer, totalBytes: number): LoadReport {
  return ({ progress, text }) => {
    const phase = text.startsWith('Fetching') ? 'download' : 'load';
    const done = text.includes('shader') ? 1 : progress;
    onTransfer({ phase, loadedBytes: Math.round(done * totalBytes), totalBytes });
  };
}

function lossOf(engine: LibraryEngine, record: WebLlmRecord): Promise<never> {
  const lost = new Promise<never>((_, reject) => {
    deviceOf(engine, record.model_id)?.lost.then(() => reject(gpuLost(failureContext(record))));
  });
  // Unloading a model loses its device too, when nobody waits any more.
  lost.catch(() => undefined);
  return lost;
}

function failureContext(record: WebLlmRecord) {
  return { model: record.model_id, memoryBytes: toEntry(record).memoryBytes };
}

/** For clean-up whose failure changes nothing: the engine is not used again. */
function quietly(work: Promise<unknown>): void {
  work.catch(() => undefined);
}

function topKUnsupported(model: string): NacreError {
  return new NacreError(
    'top-k-unsupported',
    `WebLLM cannot draw from the likeliest tokens alone (topK) as ${model} is loaded.`,
    'Set topK to 0, or load the model with traces of its tokens.',
  );
}
