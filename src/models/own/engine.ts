import { NacreError } from '../../core/errors.ts';
import { Random } from '../../core/random.ts';
import type { Message, TokenTrace } from '../../core/types.ts';
import type { Backend, BackendKind } from '../../tensor/backend.ts';
import { createCpuBackend } from '../../tensor/cpu/backend.ts';
import { createWebGpuBackend } from '../../tensor/webgpu/backend.ts';
import { Decoder } from '../../transformer/decoder.ts';
import type { LoadProgress } from '../../transformer/mlc/read.ts';
import type { GradientWorker } from '../../transformer/parallel.ts';
import { trainableWeights } from '../../transformer/parameters.ts';
import { type LayerLogits, type ProbePoint, probeLayers, readText, type TextReading } from '../../transformer/probe.ts';
import { type Prefix, SequencePool, type TurnFinish } from '../../transformer/session.ts';
import { type AdamStep, type OptimiserState, type ShardGradient, Trainer } from '../../transformer/train.ts';
import type { TrainBatch } from '../../transformer/train-batch.ts';
import type { ModelInfo, SamplingOptions } from '../types.ts';
import { Conversation, Speech } from './conversation.ts';
import { type LoadedModel, loadModel, type ModelSource, openSource } from './source.ts';

export interface EngineOptions {
  readonly backend: BackendKind;
  /** Unpack all weights to float32, so that they can be updated. */
  readonly trainable?: boolean;
}

/** One turn of one sequence, as plain data. */
export interface EngineTurn extends SamplingOptions {
  readonly sequence: number;
  /** What is said to the model before it answers. */
  readonly messages: readonly Message[];
  readonly maxTokens: number;
  /** The answer ends before the first of these texts. */
  readonly stop?: readonly string[];
  /** The tokens drawn depend on the text so far, `seed` and `key` alone. */
  readonly seed: number;
  readonly key: string;
  /** Asks for what learning from the turn needs. */
  readonly detail?: { readonly entropyTopK: number };
}

/** What learning from a turn needs beyond the turn itself. */
export interface TurnDetail {
  /** Tokens of the new messages. */
  readonly inputIds: readonly number[];
  /** The template rewrote earlier turns, so `inputIds` are the whole text. */
  readonly restart: boolean;
  /** Vocabulary text of each sampled token. */
  readonly pieces: readonly string[];
  /** Entropy over the likeliest tokens at each sampled token (nats). */
  readonly topEntropies: readonly number[];
}

export interface EngineTurnResult {
  /** Without special tokens. */
  readonly text: string;
  readonly tokens: TokenTrace;
  readonly finish: TurnFinish;
  /** Tokens of the new messages. */
  readonly inputTokens: number;
  /** All tokens before the answer, a shared prefix included. */
  readonly historyTokens: number;
  readonly detail?: TurnDetail;
}

export interface OpenedPrefix {
  readonly prefix: number;
  readonly tokens: number;
  readonly ids: readonly number[];
}

/** What callers in any thread may ask of an engine; ids are numbers, everything else plain data. */
export interface EngineHandle extends GradientWorker {
  info(): Promise<ModelInfo>;
  /** Reads the beginning of many conversations once. */
  openPrefix(messages: readonly Message[]): Promise<OpenedPrefix>;
  closePrefix(prefix: number): Promise<void>;
  /** `count` conversations behind a prefix. */
  start(prefix: number, count: number): Promise<number[]>;
  /** A copy of a conversation as it is, or as it was before its turn `turn`. */
  fork(sequence: number, turn?: number): Promise<number>;
  release(sequences: readonly number[]): Promise<void>;
  /** One turn of each, decoded together. `onText` is told an answer's visible text as it grows. */
  turns(requests: readonly EngineTurn[], onText?: (request: number, text: string) => void): Promise<EngineTurnResult[]>;
  /** Layer logits of chosen tokens at chosen positions of a text given as ids. */
  probe(ids: readonly number[], points: readonly ProbePoint[]): Promise<LayerLogits>;
  /** Every token of a text with its probability, entropy, alternatives and layer logits, and the ids' texts. */
  read(text: string | readonly Message[], top: number): Promise<EngineReading>;
  /** Ends the turns now running with finish `cancelled`. */
  cancel(): Promise<void>;
  close(): Promise<void>;
}

export interface EngineReading extends TextReading {
  /** Vocabulary entry of each id that the reading names. */
  readonly texts: ReadonlyMap<number, string>;
}

interface OpenPrefix {
  /** Absent where the template gives these messages no text of their own. */
  readonly prefix: Prefix | undefined;
  readonly messages: readonly Message[];
  readonly text: string;
}

interface Loaded {
  readonly backend: Backend;
  /** The weights are on the backend: what they were made from may go. */
  readonly model: Omit<LoadedModel, 'weights'>;
  readonly decoder: Decoder;
  readonly pool: SequencePool;
  readonly speech: Speech;
  readonly trainable: boolean;
}

/** A model of the own runtime with its conversations; lives in an engine worker, or in the caller's thread. */
export class OwnEngine implements EngineHandle {
  private loaded: Loaded | undefined;
  private trainer: Trainer | undefined;
  private readonly prefixes = new Map<number, OpenPrefix>();
  private readonly conversations = new Map<number, Conversation>();
  private nextId = 1;
  private cancelling = new AbortController();
  private queue: Promise<unknown> = Promise.resolve();

  /**
   * Loads a model.
   * @param base address below which shipped models lie @param onProgress told how much of its files has been read
   */
  async load(source: ModelSource, base: string, options: EngineOptions, onProgress?: (progress: LoadProgress) => void): Promise<ModelInfo> {
    const opened = openSource(source, base);
    const model = await loadModel(opened.source, opened.id, onProgress ? { onProgress } : {});
    const backend = options.backend === 'cpu' ? await createCpuBackend() : await createWebGpuBackend();
    return this.use(backend, model, options.trainable ?? false);
  }

  /** Takes a model already in memory. */
  async use(backend: Backend, model: LoadedModel, trainable = false): Promise<ModelInfo> {
    await this.close();
    const decoder = new Decoder(backend, trainable ? trainableWeights(model.weights) : model.weights);
    const speech = new Speech(model.tokenizer, model.chatTemplate);
    const { weights: _, ...rest } = model;
    this.loaded = { backend, model: rest, decoder, pool: new SequencePool(decoder), speech, trainable };
    return this.info();
  }

  async info(): Promise<ModelInfo> {
    const { backend, model, decoder, trainable } = this.ready();
    return {
      id: model.id,
      title: model.id,
      parameters: decoder.parameters,
      backend: backend.info.kind,
      adapter: backend.info.adapter,
      contextLength: decoder.config.contextLength,
      vocabulary: decoder.config.vocab,
      layers: decoder.config.layers,
      capabilities: { chat: true, json: false, logprobs: true, probe: true, train: trainable },
    };
  }

  openPrefix(messages: readonly Message[]): Promise<OpenedPrefix> {
    return this.exclusive(async () => {
      const { pool, speech, model } = this.ready();
      const text = speech.opening(messages);
      const ids = text === '' ? [] : speech.encode(text, model.chatTemplate.addSpecial);
      const prefix = ids.length === 0 ? undefined : await pool.createPrefix(ids);
      const id = this.nextId++;
      this.prefixes.set(id, { prefix, messages, text: prefix ? text : '' });
      return { prefix: id, tokens: ids.length, ids };
    });
  }

  async closePrefix(id: number): Promise<void> {
    const { prefix } = this.prefix(id);
    if (prefix) this.ready().pool.releasePrefix(prefix);
    this.prefixes.delete(id);
  }

  async start(prefixId: number, count: number): Promise<number[]> {
    const { prefix, messages, text } = this.prefix(prefixId);
    const { pool, speech } = this.ready();
    return Array.from({ length: count }, () => this.add(new Conversation(speech, pool.start(prefix), messages, text)));
  }

  fork(sequence: number, turn?: number): Promise<number> {
    return this.exclusive(async () => {
      const parent = this.conversation(sequence);
      const { pool } = this.ready();
      const at = turn ?? parent.turns;
      return this.add(parent.copy(parent.unread(at) ? pool.start() : pool.fork(parent.sequence, parent.tokensAt(at)), at));
    });
  }

  async release(sequences: readonly number[]): Promise<void> {
    const { pool } = this.ready();
    for (const id of sequences) {
      pool.release(this.conversation(id).sequence);
      this.conversations.delete(id);
    }
  }

  turns(requests: readonly EngineTurn[], onText?: (request: number, text: string) => void): Promise<EngineTurnResult[]> {
    const { signal } = this.cancelling;
    return this.exclusive(async () => {
      const { pool, decoder, speech } = this.ready();
      const asked = requests.map((request) => {
        const conversation = this.conversation(request.sequence);
        const next = conversation.ask(request.messages);
        if (next.restart) {
          pool.release(conversation.sequence);
          conversation.sequence = pool.start();
        }
        return { request, conversation, ...next, history: pool.length(conversation.sequence) + next.ids.length };
      });
      const results = await pool.decodeTurn(
        asked.map(({ request, conversation, ids }, i) => ({
          sequence: conversation.sequence,
          tokens: ids,
          temperature: request.temperature,
          topP: request.topP,
          topK: request.topK ?? 0,
          maxTokens: request.maxTokens,
          stopIds: decoder.config.eosIds,
          random: new Random(request.seed, request.key),
          ...(request.detail ? { entropyTopK: request.detail.entropyTopK } : {}),
          ...watch(request, conversation, onText && ((text) => onText(i, text))),
        })),
        { signal },
      );
      return results.map(({ finish, topEntropies, ...tokens }, i) => {
        const { conversation, ids, history, restart } = asked[i]!;
        const text = beforeStop(conversation.answer(tokens.ids), requests[i]!.stop ?? []).text;
        const turn = { text, tokens, finish, inputTokens: ids.length, historyTokens: history };
        if (!topEntropies) return turn;
        const pieces = tokens.ids.map((id) => speech.tokenizer.tokenText(id));
        return { ...turn, detail: { inputIds: ids, restart, pieces, topEntropies } };
      });
    });
  }

  probe(ids: readonly number[], points: readonly ProbePoint[]): Promise<LayerLogits> {
    return this.exclusive(() => probeLayers(this.ready().decoder, ids, points));
  }

  read(text: string | readonly Message[], top: number): Promise<EngineReading> {
    return this.exclusive(async () => {
      const { decoder, speech, model } = this.ready();
      const { chatTemplate, tokenizer } = model;
      const ids =
        typeof text === 'string'
          ? speech.encode(text, true)
          : speech.encode(chatTemplate.render(text, { addGenerationPrompt: true }), chatTemplate.addSpecial);
      const reading = await readText(decoder, ids, top);
      const named = [...ids, ...[...reading.tokens.flatMap((token) => token.top), ...reading.next].map(({ id }) => id)];
      return { ...reading, texts: new Map(named.map((id) => [id, tokenizer.tokenText(id)])) };
    });
  }

  async cancel(): Promise<void> {
    this.cancelling.abort();
    this.cancelling = new AbortController();
  }

  gradient(batch: TrainBatch): Promise<ShardGradient> {
    return this.exclusive(() => this.training().gradient(batch));
  }

  /** Updates the weights. All prefixes and conversations end: what they have read was read by the old weights. */
  step(gradient: Float32Array, settings: AdamStep): Promise<void> {
    return this.exclusive(async () => {
      this.forget();
      await this.training().step(gradient, settings);
    });
  }

  parameters(): Promise<Float32Array> {
    return this.exclusive(() => this.training().parameters());
  }

  optimiser(): Promise<OptimiserState> {
    return this.exclusive(() => this.training().optimiser());
  }

  /** Replaces the weights, and ends prefixes and conversations as `step` does. */
  loadParameters(parameters: Float32Array, optimiser?: OptimiserState): Promise<void> {
    return this.exclusive(async () => {
      this.forget();
      await this.training().loadParameters(parameters, optimiser);
    });
  }

  async close(): Promise<void> {
    await this.cancel();
    await this.exclusive(async () => {
      if (!this.loaded) return;
      this.prefixes.clear();
      this.conversations.clear();
      this.trainer = undefined;
      this.loaded.backend.destroy();
      this.loaded = undefined;
    });
  }

  /** Calls to the model share work arrays, so they run one after the other. */
  private exclusive<T>(work: () => Promise<T>): Promise<T> {
    const result = this.queue.then(work, work);
    // The caller of `work` sees its error; the queue only waits.
    this.queue = result.catch(() => undefined);
    return result;
  }

  private forget(): void {
    const { pool } = this.ready();
    for (const { sequence } of this.conversations.values()) pool.release(sequence);
    for (const { prefix } of this.prefixes.values()) if (prefix) pool.releasePrefix(prefix);
    this.conversations.clear();
    this.prefixes.clear();
  }

  private training(): Trainer {
    const { decoder, trainable } = this.ready();
    if (!trainable) {
      throw new NacreError('model-not-trainable', 'This model was loaded for generation only.', 'Load it for training.');
    }
    this.trainer ??= new Trainer(decoder);
    return this.trainer;
  }

  private add(conversation: Conversation): number {
    const id = this.nextId++;
    this.conversations.set(id, conversation);
    return id;
  }

  private ready(): Loaded {
    if (!this.loaded) throw new NacreError('model-not-loaded', 'The engine holds no model.', 'Load a model first.');
    return this.loaded;
  }

  private prefix(id: number): OpenPrefix {
    const found = this.prefixes.get(id);
    if (!found) throw unknownId('prefix', id);
    return found;
  }

  private conversation(id: number): Conversation {
    const found = this.conversations.get(id);
    if (!found) throw unknownId('sequence', id);
    return found;
  }
}

/** Follows the text of an answer where somebody wants to see it, or where a text ends it. */
function watch(
  { stop = [] }: EngineTurn,
  conversation: Conversation,
  onText: ((text: string) => void) | undefined,
): { until?: (ids: readonly number[]) => boolean } {
  if (stop.length === 0 && !onText) return {};
  return {
    until(ids) {
      const { text, stopped } = beforeStop(conversation.preview(ids), stop);
      onText?.(text);
      return stopped;
    },
  };
}

/** The text before the first of the stop texts. */
function beforeStop(text: string, stops: readonly string[]): { text: string; stopped: boolean } {
  const places = stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
  return places.length === 0 ? { text, stopped: false } : { text: text.slice(0, Math.min(...places)), stopped: true };
}

function unknownId(kind: string, id: number): NacreError {
  return new NacreError(
    `unknown-${kind}`,
    `The engine has no ${kind} ${id}: it was released, or the weights have changed since.`,
    'Start it again from its messages.',
  );
}
