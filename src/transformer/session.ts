import { NacreError } from '../core/errors.ts';
import { Breather } from '../core/pause.ts';
import type { Random } from '../core/random.ts';
import type { TokenTrace } from '../core/types.ts';
import type { Decoder, PackedRows } from './decoder.ts';
import type { Region } from './kv-arena.ts';
import { type Sampling, sampleToken } from './sampling.ts';

/** Tokens read once and shared by any number of sequences. Freed when the last holder lets go. */
export interface Prefix {
  readonly tokens: readonly number[];
}

/** A text in progress: an optional prefix, then tokens of its own. */
export interface Sequence {
  readonly prefix: Prefix | undefined;
  /**
   * Own tokens, all that were given or sampled. The last sampled token of a turn (the stop token, say) has not been read
   * by the model yet: it is read together with the tokens of the next turn.
   */
  readonly tokens: readonly number[];
}

export interface TurnRequest extends Sampling {
  readonly sequence: Sequence;
  /** New input tokens, read before the first token is sampled. */
  readonly tokens: readonly number[];
  readonly maxTokens: number;
  readonly stopIds: readonly number[];
  /** Called with the ids so far after each token; true ends the turn with finish `stop`. */
  readonly until?: (ids: readonly number[]) => boolean;
  /** The sequence's own stream, so that its tokens do not depend on the batch. Unused at temperature 0. */
  readonly random: Random;
}

/**
 * - `stop`: the last id is a stop token, or `until` said so; `length`: `maxTokens` were sampled;
 * - `context`: the context is full (no ids when the new tokens already did not fit: then nothing was read);
 * - `cancelled`: the signal was aborted; what was sampled so far stays in the sequence.
 */
export type TurnFinish = 'stop' | 'length' | 'context' | 'cancelled';

export interface TurnResult extends TokenTrace {
  readonly finish: TurnFinish;
  /** Entropy over the likeliest tokens at each sampled one, where the request asks for it. */
  readonly topEntropies?: readonly number[];
}

export interface TurnOptions {
  readonly signal?: AbortSignal;
  readonly onToken?: (request: number, id: number) => void;
}

interface PrefixState extends Prefix {
  readonly region: Region;
  holders: number;
}

interface SequenceState extends Sequence {
  readonly prefix: PrefixState | undefined;
  readonly tokens: number[];
  region: Region;
  /** How many own tokens have keys and values; the rest are pending. */
  read: number;
  released: boolean;
}

interface Running {
  readonly index: number;
  readonly request: TurnRequest;
  readonly sequence: SequenceState;
  readonly ids: number[];
  readonly logprobs: number[];
  readonly entropies: number[];
  readonly topEntropies: number[];
}

/** Own regions grow in steps of this many rows at least. */
const REGION_STEP = 32;

/** Batched generation over sequences that share prefixes and can be forked. */
export class SequencePool {
  readonly decoder: Decoder;

  constructor(decoder: Decoder) {
    this.decoder = decoder;
  }

  /** Reads `tokens` once. @throws {NacreError} `prefix-too-long` when they fill the context; the signal's reason when it is aborted. */
  async createPrefix(tokens: readonly number[], signal?: AbortSignal): Promise<Prefix> {
    const { contextLength } = this.decoder.config;
    if (tokens.length >= contextLength) {
      throw new NacreError(
        'prefix-too-long',
        `The context text takes ${tokens.length} tokens; the model reads ${contextLength} in all.`,
        'Shorten the context or use a model with a longer context.',
      );
    }
    const region = this.decoder.arena.allocate(tokens.length);
    const rows = new RowBuilder();
    tokens.forEach((id, i) => {
      rows.add(id, i, region.start + i, [0, 0, region.start, i + 1]);
    });
    try {
      await this.decoder.forward(rows.packed([]), signal ? { signal } : {});
    } catch (error) {
      this.decoder.arena.release(region);
      throw error;
    }
    const prefix: PrefixState = { tokens: tokens.slice(), region, holders: 1 };
    return prefix;
  }

  /** Lets go of the caller's hold; sequences that use the prefix keep it alive. */
  releasePrefix(prefix: Prefix): void {
    this.drop(prefix as PrefixState);
  }

  /** An empty sequence, behind the prefix if one is given. */
  start(prefix?: Prefix): Sequence {
    const state = prefix as PrefixState | undefined;
    if (state) hold(state);
    const sequence: SequenceState = { prefix: state, tokens: [], region: { start: 0, rows: 0 }, read: 0, released: false };
    return sequence;
  }

  /** An independent copy in the same state, or in that of its first `tokens` own tokens. */
  fork(sequence: Sequence, tokens = sequence.tokens.length): Sequence {
    const parent = live(sequence);
    if (parent.prefix) hold(parent.prefix);
    const read = Math.min(parent.read, tokens);
    const region = read > 0 ? this.decoder.arena.allocate(roundUp(read)) : { start: 0, rows: 0 };
    this.decoder.arena.copy(parent.region, region, read);
    const child: SequenceState = { prefix: parent.prefix, tokens: parent.tokens.slice(0, tokens), region, read, released: false };
    return child;
  }

  release(sequence: Sequence): void {
    const state = live(sequence);
    state.released = true;
    this.decoder.arena.release(state.region);
    if (state.prefix) this.drop(state.prefix);
  }

  /** Prefix and own tokens together. */
  length(sequence: Sequence): number {
    return (sequence.prefix?.tokens.length ?? 0) + sequence.tokens.length;
  }

  /**
   * One turn of every request: reads its new tokens, then samples until it stops. The first call to the model reads the new
   * tokens of all; later ones one sampled token per sequence still running.
   * @returns results in the order of the requests
   * @throws {NacreError} `empty-turn` when a request leaves nothing to read, `sequence-twice`, `sequence-released`
   */
  async decodeTurn(requests: readonly TurnRequest[], options: TurnOptions = {}): Promise<TurnResult[]> {
    const results = new Array<TurnResult>(requests.length);
    let running = this.admit(requests, results);
    const breather = new Breather();
    const finish = (run: Running, how: TurnFinish): void => {
      results[run.index] = turnResult(run, how);
    };
    while (running.length > 0) {
      await breather.breathe();
      if (options.signal?.aborted) {
        for (const run of running) finish(run, 'cancelled');
        break;
      }
      const logits = await this.readPending(
        running.map((run) => run.sequence),
        options.signal,
      );
      if (!logits) continue;
      const { vocab, contextLength } = this.decoder.config;
      running = running.filter((run, row) => {
        const { request, sequence } = run;
        const sampled = sampleToken(logits.subarray(row * vocab, (row + 1) * vocab), request, request.random);
        sequence.tokens.push(sampled.id);
        run.ids.push(sampled.id);
        run.logprobs.push(sampled.logprob);
        run.entropies.push(sampled.entropy);
        if (sampled.topEntropy !== undefined) run.topEntropies.push(sampled.topEntropy);
        options.onToken?.(run.index, sampled.id);
        if (request.stopIds.includes(sampled.id) || request.until?.(run.ids)) finish(run, 'stop');
        else if (run.ids.length >= request.maxTokens) finish(run, 'length');
        else if (this.length(sequence) >= contextLength) finish(run, 'context');
        else return true;
        return false;
      });
    }
    return results;
  }

  /** Appends the new tokens of every request; those that do not fit, or want no tokens, are finished at once. */
  private admit(requests: readonly TurnRequest[], results: TurnResult[]): Running[] {
    const running: Running[] = [];
    const seen = new Set<Sequence>();
    for (const request of requests) {
      const sequence = live(request.sequence);
      if (seen.has(sequence)) throw misuse('sequence-twice', 'A sequence stands twice in one batch.');
      seen.add(sequence);
      if (sequence.tokens.length - sequence.read + request.tokens.length === 0) {
        throw misuse('empty-turn', 'A turn must bring at least one token for the model to read.');
      }
      if (!(request.maxTokens >= 1)) throw misuse('bad-max-tokens', `maxTokens must be at least 1, is ${request.maxTokens}.`);
    }
    requests.forEach((request, index) => {
      const sequence = live(request.sequence);
      const run: Running = { index, request, sequence, ids: [], logprobs: [], entropies: [], topEntropies: [] };
      if (this.length(sequence) + request.tokens.length >= this.decoder.config.contextLength) {
        results[index] = turnResult(run, 'context');
        return;
      }
      for (const id of request.tokens) sequence.tokens.push(id);
      running.push(run);
    });
    return running;
  }

  /**
   * Reads what is pending in each sequence; returns the logits behind each one's last token, [sequences, vocab], or
   * undefined when the signal was aborted meanwhile: then all is still pending.
   */
  private async readPending(sequences: readonly SequenceState[], signal: AbortSignal | undefined): Promise<Float32Array | undefined> {
    const rows = new RowBuilder();
    const wanted: number[] = [];
    for (const sequence of sequences) {
      this.reserve(sequence);
      const { prefix, region, tokens } = sequence;
      const before = prefix?.tokens.length ?? 0;
      for (let i = sequence.read; i < tokens.length; i++) {
        rows.add(tokens[i]!, before + i, region.start + i, [prefix?.region.start ?? 0, before, region.start, i + 1]);
      }
      wanted.push(rows.count - 1);
    }
    try {
      const logits = await this.decoder.forward(rows.packed(wanted), signal ? { signal } : {});
      for (const sequence of sequences) sequence.read = sequence.tokens.length;
      return logits;
    } catch (error) {
      if (signal?.aborted) return undefined;
      throw error;
    }
  }

  /** Makes room for all own tokens, moving to a region half as large again when the present one is full. */
  private reserve(sequence: SequenceState): void {
    const { region, tokens, read } = sequence;
    if (tokens.length <= region.rows) return;
    const larger = this.decoder.arena.allocate(roundUp(Math.max(tokens.length + 1, Math.ceil(region.rows * 1.5))));
    this.decoder.arena.copy(region, larger, read);
    this.decoder.arena.release(region);
    sequence.region = larger;
  }

  private drop(prefix: PrefixState): void {
    if (prefix.holders <= 0) throw misuse('prefix-released', 'A prefix was released twice.');
    prefix.holders--;
    if (prefix.holders === 0) this.decoder.arena.release(prefix.region);
  }
}

/** Collects rows for one call. */
export class RowBuilder {
  private readonly ids: number[] = [];
  private readonly positions: number[] = [];
  private readonly kvRows: number[] = [];
  private readonly spans: number[] = [];

  get count(): number {
    return this.ids.length;
  }

  add(id: number, position: number, kvRow: number, span: readonly [number, number, number, number]): void {
    this.ids.push(id);
    this.positions.push(position);
    this.kvRows.push(kvRow);
    this.spans.push(...span);
  }

  packed(wanted: readonly number[]): PackedRows {
    return {
      ids: Uint32Array.from(this.ids),
      positions: Uint32Array.from(this.positions),
      kvRows: Uint32Array.from(this.kvRows),
      spans: Uint32Array.from(this.spans),
      wanted,
    };
  }
}

function turnResult({ request, ids, logprobs, entropies, topEntropies }: Running, finish: TurnFinish): TurnResult {
  return { ids, logprobs, entropies, finish, ...(request.entropyTopK === undefined ? {} : { topEntropies }) };
}

function roundUp(rows: number): number {
  return Math.ceil(rows / REGION_STEP) * REGION_STEP;
}

function hold(prefix: PrefixState): void {
  if (prefix.holders <= 0) throw misuse('prefix-released', 'A prefix was used after its release.');
  prefix.holders++;
}

function live(sequence: Sequence): SequenceState {
  const state = sequence as SequenceState;
  if (state.released) throw misuse('sequence-released', 'A sequence was used after its release.');
  return state;
}

function misuse(code: string, message: string): NacreError {
  return new NacreError(code, message, 'This is a defect of Nacre: please report it with the details.');
}
