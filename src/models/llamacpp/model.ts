import type { Message } from '../../core/types.ts';
import { describeAdapter } from '../../tensor/adapter.ts';
import type { OnTransfer } from '../download.ts';
import { Limiter } from '../endpoint/limiter.ts';
import { stripThinking } from '../think.ts';
import type { ChatModel, GenerateOptions, Generation, GenerationFinish, ModelInfo, TokenProbability } from '../types.ts';
import { isCrash, llamaCppError } from './errors.ts';
import { type GgufAccess, isGguf, notGguf, openGguf, titleOf } from './gguf-store.ts';
import {
  type CreateWllama,
  createWllama,
  type WllamaChunk,
  type WllamaInstance,
  type WllamaLogger,
  type WllamaRequest,
} from './library.ts';

/** Where a GGUF model is. Plain data that can be posted to a worker. */
export type GgufSource =
  /** Address of the file, or of the first of a split one; its page on Hugging Face will do. */
  | { readonly kind: 'url'; readonly url: string }
  /** A file from this device, or all the files of a split one. */
  | { readonly kind: 'files'; readonly id: string; readonly files: readonly Blob[] };

export interface LlamaCppOptions {
  /** Tokens that prompt and answer may have together; 4096 unless given, and never more than the model was trained for. */
  readonly contextLength?: number;
  /** Threads, where the page is cross-origin isolated; chosen by the number of cores unless given. */
  readonly threads?: number;
  /** Whether to compute on the GPU: `auto` does so on a hardware adapter. */
  readonly gpu?: 'auto' | 'never' | 'always';
  /** Let models that can reason before they answer do so; their answers get much longer. */
  readonly thinking?: boolean;
  /** Read every prompt afresh, so that an answer does not depend on the calls before, down to the last bit. */
  readonly exact?: boolean;
  /** Give the probability of each token of an answer. */
  readonly probabilities?: boolean;
}

export interface LlamaCppAccess extends GgufAccess {
  readonly onTransfer?: OnTransfer;
  readonly create?: CreateWllama;
}

const DEFAULT_CONTEXT = 4096;
const MOST_THREADS = 8;
/** Prompts are read in pieces of so many tokens; between them a call can be cancelled. */
const BATCH = { cpu: 128, gpu: 512 };
const ALL_LAYERS = 9999;
const WARNINGS = 3;

interface Running {
  readonly wllama: WllamaInstance;
  readonly native: readonly string[];
}

/** Any GGUF model on llama.cpp in WebAssembly. One request at a time, in the order in which they came. */
export class WllamaModel implements ChatModel {
  readonly info: ModelInfo;
  private readonly files: readonly Blob[];
  private readonly options: LlamaCppOptions;
  private readonly create: CreateWllama;
  private readonly queue = new Limiter(1);
  private running: Running | undefined;

  private constructor(running: Running, files: readonly Blob[], info: ModelInfo, options: LlamaCppOptions, create: CreateWllama) {
    this.running = running;
    this.files = files;
    this.info = info;
    this.options = options;
    this.create = create;
  }

  /**
   * Gets a model's files where they are not stored, and loads it. Runs in a worker, because downloads are written in place.
   * @throws {NacreError} what `openGguf` says, `not-gguf`, `architecture-unsupported`, `out-of-memory`, `model-files-damaged`;
   *   the signal's reason when it is aborted
   */
  static async load(source: GgufSource, options: LlamaCppOptions = {}, access: LlamaCppAccess = {}): Promise<WllamaModel> {
    const { onTransfer, create = createWllama, signal } = access;
    const id = source.kind === 'url' ? titleOf(source.url) : source.id;
    const files = source.kind === 'url' ? await openGguf(source.url, onTransfer, access) : source.files;
    for (const file of files) if (!(await isGguf(file))) throw notGguf(source.kind === 'url' ? source.url : id);
    signal?.throwIfAborted();
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    onTransfer?.({ phase: 'load', loadedBytes: 0, totalBytes: bytes });
    const adapter = await describeAdapter();
    const wanted = options.gpu ?? 'auto';
    const gpu = wanted === 'always' || (wanted === 'auto' && adapter.available && !adapter.software);
    const running = await start(create, files, { ...options, gpu: gpu ? 'always' : 'never' }, id);
    onTransfer?.({ phase: 'load', loadedBytes: bytes, totalBytes: bytes });
    const { meta } = running.wllama.getModelMetadata();
    const { n_ctx, n_ctx_train } = running.wllama.getLoadedContextInfo();
    const threads = running.wllama.getNumThreads();
    const info: ModelInfo = {
      id,
      title: meta['general.name'] ?? id,
      parameters: parametersOf(meta['general.size_label'] ?? ''),
      backend: 'llamacpp',
      adapter: gpu ? adapter.adapter : `CPU, ${threads} ${threads === 1 ? 'thread' : 'threads'}`,
      contextLength: n_ctx_train > 0 ? Math.min(n_ctx, n_ctx_train) : n_ctx,
      capabilities: { chat: true, json: true, logprobs: false, probe: false, train: false },
    };
    return new WllamaModel(running, files, info, { ...options, gpu: gpu ? 'always' : 'never' }, create);
  }

  /**
   * Answers one conversation, after those asked before. Reasoning is counted and left out of the text. If llama.cpp ends, it is
   * started again, without the GPU, and asked once more: the same seed gives the same answer.
   * @throws {NacreError} `context-length`, `schema-refused` and what else `llamaCppError` names; the signal's reason when it is
   *   aborted
   */
  async generate(messages: readonly Message[], options: GenerateOptions): Promise<Generation> {
    const signal = options.signal ?? new AbortController().signal;
    signal.throwIfAborted();
    return this.queue.run(async () => {
      for (let attempt = 0; ; attempt++) {
        this.running ??= await start(this.create, this.files, { ...this.options, gpu: 'never' }, this.info.id);
        const { native } = this.running;
        try {
          return await this.ask(this.running.wllama, messages, options, signal);
        } catch (thrown) {
          signal.throwIfAborted();
          const error = llamaCppError(thrown, this.info.id, native);
          if (!isCrash(thrown)) throw error;
          await this.stop();
          if (attempt > 0 || error.code === 'context-length') throw error;
        }
      }
    }, signal);
  }

  async close(): Promise<void> {
    await this.stop();
  }

  private async ask(
    wllama: WllamaInstance,
    messages: readonly Message[],
    options: GenerateOptions,
    signal: AbortSignal,
  ): Promise<Generation> {
    const started = performance.now();
    let text = '';
    let finish = '';
    let usage: NonNullable<WllamaChunk['usage']> = { prompt_tokens: 0, completion_tokens: 0 };
    const probabilities: TokenProbability[] = [];
    const onData = (chunk: WllamaChunk): void => {
      const choice = chunk.choices[0];
      text += choice?.delta?.content ?? '';
      finish = choice?.finish_reason ?? finish;
      usage = chunk.usage ?? usage;
      for (const { id = -1, token, logprob } of choice?.logprobs?.content ?? []) probabilities.push({ id, text: token, logprob });
      if (choice?.delta?.content) options.onText?.(stripThinking(text));
    };
    await wllama.createChatCompletion({ ...this.request(messages, options), onData, abortSignal: signal });
    signal.throwIfAborted();
    const { prompt_tokens: history, completion_tokens: outputTokens, prompt_tokens_details: details } = usage;
    const inputTokens = history - (details?.cached_tokens ?? 0);
    return {
      text: stripThinking(text),
      finish: finishOf(finish, outputTokens, options.maxTokens),
      usage: { calls: 1, inputTokens, outputTokens, textVolume: history + outputTokens, ms: performance.now() - started },
      ...(probabilities.length === 0 ? {} : { probabilities }),
    };
  }

  private request(messages: readonly Message[], options: GenerateOptions): Omit<WllamaRequest, 'onData' | 'abortSignal'> {
    const { temperature, topP, topK = 0, maxTokens, seed, schema, stop = [] } = options;
    const { thinking = false, exact = false, probabilities = false } = this.options;
    return {
      messages: messages.map(({ role, content }) => ({ role, content })),
      stream: true,
      stream_options: { include_usage: true },
      temperature,
      top_p: topP,
      top_k: topK,
      // On unless switched off.
      min_p: 0,
      // All ones would ask for a seed by chance.
      seed: seed % 0x8000_0000,
      max_tokens: maxTokens,
      cache_prompt: !exact,
      // A fixed date keeps the same seed at the same answer on any day; see `jinjaTemplate`.
      chat_template_kwargs: { enable_thinking: thinking && schema === undefined, date_string: '26 Jul 2024' },
      ...(stop.length === 0 ? {} : { stop: [...stop] }),
      ...(schema === undefined ? {} : { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } } }),
      ...(probabilities ? { logprobs: true, top_logprobs: 1 } : {}),
    };
  }

  private async stop(): Promise<void> {
    const { running } = this;
    this.running = undefined;
    await running?.wllama.exit();
  }
}

/** Starts llama.cpp in a worker of its own and loads the model. */
async function start(create: CreateWllama, files: readonly Blob[], options: LlamaCppOptions, id: string): Promise<Running> {
  const native: string[] = [];
  const wllama = await create(collector(native));
  const gpu = options.gpu === 'always';
  try {
    await wllama.loadModel([...files], {
      n_ctx: options.contextLength ?? DEFAULT_CONTEXT,
      n_batch: gpu ? BATCH.gpu : BATCH.cpu,
      n_threads: options.threads ?? defaultThreads(),
      n_gpu_layers: gpu ? ALL_LAYERS : 0,
      n_parallel: 1,
      jinja: true,
      reasoning_format: 'none',
      log_level: WARNINGS,
    });
    // A file that llama.cpp cannot read loads without an error, to a model without a context.
    if (wllama.getLoadedContextInfo().n_ctx === 0) throw new Error(native.at(-1) ?? 'error loading model');
    return { wllama, native };
  } catch (thrown) {
    await wllama.exit();
    throw llamaCppError(thrown, id, native);
  }
}

/** Keeps the last lines that llama.cpp prints about something wrong. */
function collector(lines: string[]): WllamaLogger {
  const keep = (...words: unknown[]): void => {
    lines.push(words.map(String).join(' '));
    if (lines.length > 20) lines.shift();
  };
  const drop = (): undefined => undefined;
  return { debug: drop, log: drop, warn: keep, error: keep };
}

/** All cores of a small machine; half of a large one, whose cores mostly come in pairs that share their arithmetic. */
function defaultThreads(): number {
  const cores = typeof navigator === 'undefined' ? 1 : navigator.hardwareConcurrency;
  return Math.max(1, Math.min(MOST_THREADS, cores <= 4 ? cores : Math.floor(cores / 2)));
}

function finishOf(reason: string, said: number, maxTokens: number): GenerationFinish {
  if (reason !== 'length') return 'stop';
  return said < maxTokens ? 'context' : 'length';
}

/** `135M`, `1.7B`, `8x7B` as GGUF files write their size; 0 where they do not. */
function parametersOf(label: string): number {
  const found = /^(?:(\d+)x)?(\d+(?:\.\d+)?)([MBT])/.exec(label);
  if (!found) return 0;
  return Number(found[1] ?? 1) * Number(found[2]) * ({ M: 1e6, B: 1e9, T: 1e12 }[found[3]!] ?? 0);
}
