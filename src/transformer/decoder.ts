import { NacreError } from '../core/errors.ts';
import { Breather } from '../core/pause.ts';
import type { Backend, DeviceArray, Strided } from '../tensor/backend.ts';
import { countParameters, type DeviceWeights, freeWeights, uploadWeights } from './device-weights.ts';
import { KvArena } from './kv-arena.ts';
import { ropeFrequencies, ropeTables } from './rope.ts';
import { Scratch } from './scratch.ts';
import type { DecoderConfig, DecoderWeights } from './weights.ts';

/**
 * New tokens of any number of sequences, packed into rows. A sequence's rows stand in order; its keys and values go to the
 * arena rows `kvRows`, and row r attends `spans[r]` = (prefixStart, prefixLength, ownStart, ownLength), itself included.
 */
export interface PackedRows {
  /** u32 [rows] */
  readonly ids: Uint32Array;
  /** u32 [rows] */
  readonly positions: Uint32Array;
  /** u32 [rows] */
  readonly kvRows: Uint32Array;
  /** u32 [rows, 4] */
  readonly spans: Uint32Array;
  /** Ascending row numbers whose next-token logits are wanted. */
  readonly wanted: readonly number[];
}

/** Sees the residual stream [rows, hidden] after each layer of each chunk; `firstRow` is the chunk's place in the call. */
export type LayerObserver = (layer: number, h: DeviceArray, firstRow: number, rows: number) => void;

export interface ForwardOptions {
  readonly observe?: LayerObserver;
  /** Looked at between chunks. */
  readonly signal?: AbortSignal;
}

/** Most rows computed together: long prompts are read in chunks, which bounds the work arrays. */
const CHUNK = 512;
/** On the CPU a chunk takes about this many multiplications, a second or so, that a prompt can be cancelled in between. */
const CPU_CHUNK_WORK = 1e10;
const LEAST_CHUNK = 16;
/** Most logits (rows · vocabulary) held at once: 64 MiB. */
const MAX_LOGITS = 1 << 24;

/** A Qwen3/Qwen2/Llama-style decoder on a backend, with the keys and values of its sequences. */
export class Decoder {
  readonly config: DecoderConfig;
  readonly backend: Backend;
  readonly parameters: number;
  readonly weights: DeviceWeights;
  readonly arena: KvArena;
  readonly scratch: Scratch;
  private readonly frequencies: Float64Array;
  private readonly chunk: number;
  private tables: { cos: DeviceArray; sin: DeviceArray; positions: number } | undefined;

  constructor(backend: Backend, weights: DecoderWeights) {
    this.backend = backend;
    this.config = weights.config;
    this.parameters = countParameters(weights);
    this.weights = uploadWeights(backend, weights);
    this.arena = new KvArena(backend, weights.config);
    this.scratch = new Scratch(backend);
    this.frequencies = ropeFrequencies(weights.config);
    const affordable = backend.info.kind === 'cpu' ? Math.floor(CPU_CHUNK_WORK / this.parameters) : CHUNK;
    this.chunk = Math.max(LEAST_CHUNK, Math.min(CHUNK, affordable));
  }

  /**
   * Reads the rows and returns the logits of the wanted ones, f32 [wanted, vocab]. A row's logits do not depend on the
   * other rows of the call nor on how the call is cut into chunks.
   * @throws {NacreError} `token-out-of-range` for an id outside the vocabulary; the signal's reason when it is aborted, and
   * then some rows may not have been read
   */
  async forward(packed: PackedRows, { observe, signal }: ForwardOptions = {}): Promise<Float32Array> {
    const { vocab } = this.config;
    const rows = packed.ids.length;
    for (const id of packed.ids) if (id >= vocab) throw tokenOutOfRange(id, vocab);
    const logits = new Float32Array(packed.wanted.length * vocab);
    const breather = new Breather();
    let done = 0;
    for (let first = 0; first < rows; first += this.chunk) {
      if (first > 0) await breather.breathe();
      signal?.throwIfAborted();
      const count = Math.min(this.chunk, rows - first);
      const h = this.readChunk(packed, first, count, observe);
      const end = packed.wanted.findIndex((row) => row >= first + count);
      const wanted = packed.wanted.slice(done, end < 0 ? undefined : end).map((row) => row - first);
      const step = Math.max(1, Math.floor(MAX_LOGITS / vocab));
      for (let i = 0; i < wanted.length; i += step) {
        const some = wanted.slice(i, i + step);
        const array = this.unembedRows(h, some);
        logits.set((await this.backend.read(array, 0, some.length * vocab)) as Float32Array, (done + i) * vocab);
      }
      done += wanted.length;
    }
    return logits;
  }

  /** Cosine and sine tables that cover at least `positions` positions. */
  ropeArrays(positions: number): { cos: DeviceArray; sin: DeviceArray } {
    if (!this.tables || this.tables.positions < positions) {
      if (this.tables) {
        this.backend.free(this.tables.cos);
        this.backend.free(this.tables.sin);
      }
      const covered = Math.max(256, 2 ** Math.ceil(Math.log2(positions)));
      const { cos, sin } = ropeTables(this.frequencies, covered);
      this.tables = { cos: this.backend.upload(cos, 'rope cos'), sin: this.backend.upload(sin, 'rope sin'), positions: covered };
    }
    return this.tables;
  }

  /** Final norm of chosen rows of `h`, then the unembedding: f32 [rows, vocab] in a scratch array. */
  private unembedRows(h: DeviceArray, rows: readonly number[]): DeviceArray {
    const { hidden, vocab, normEps } = this.config;
    const count = rows.length;
    const picked = packed(this.scratch.f32('picked', count * hidden), hidden);
    const fromRows = this.scratch.u32('picked rows', Uint32Array.from(rows));
    this.backend.copyRows({ to: picked, from: packed(h, hidden), fromRows, rows: count, width: hidden });
    const normed = this.scratch.f32('picked normed', count * hidden);
    this.backend.rmsNorm({
      out: packed(normed, hidden),
      x: picked,
      weight: this.weights.finalNorm,
      rows: count,
      groups: 1,
      dim: hidden,
      eps: normEps,
    });
    const out = this.scratch.f32('logits', count * vocab);
    this.backend.linear({ out, x: normed, w: this.weights.unembed, rows: count, accumulate: false });
    return out;
  }

  /** Runs all layers over rows [first, first + rows) and stores their keys and values; returns the last residual stream. */
  private readChunk(input: PackedRows, first: number, rows: number, observe: LayerObserver | undefined): DeviceArray {
    const { backend, scratch, config, weights } = this;
    const { hidden, heads, kvHeads, headDim, ffn, normEps: eps } = config;
    const end = first + rows;
    const [qWidth, kvWidth] = [heads * headDim, kvHeads * headDim];
    const width = qWidth + 2 * kvWidth;
    const positionList = input.positions.subarray(first, end);
    const { cos, sin } = this.ropeArrays(positionList.reduce((top, p) => Math.max(top, p), 0) + 1);
    const ids = scratch.u32('ids', input.ids.subarray(first, end));
    const positions = scratch.u32('positions', positionList);
    const kvRows = scratch.u32('kv rows', input.kvRows.subarray(first, end));
    const spans = scratch.u32('spans', input.spans.subarray(4 * first, 4 * end));
    const h = scratch.f32('h', rows * hidden);
    const normed = scratch.f32('normed', rows * hidden);
    const qkv = scratch.f32('qkv', rows * width);
    const attended = scratch.f32('attended', rows * qWidth);
    const gateUp = scratch.f32('gate up', rows * 2 * ffn);
    const activated = scratch.f32('activated', rows * ffn);
    const norm = (weight: DeviceArray): void =>
      backend.rmsNorm({ out: packed(normed, hidden), x: packed(h, hidden), weight, rows, groups: 1, dim: hidden, eps });

    backend.embed({ out: h, table: weights.embed, ids, rows, scale: config.embedScale });
    weights.layers.forEach((layer, index) => {
      norm(layer.inputNorm);
      backend.linear({
        out: qkv,
        x: normed,
        w: layer.qkv,
        ...(layer.qkvBias ? { bias: layer.qkvBias } : {}),
        rows,
        accumulate: false,
      });
      const turned = this.normaliseHeads(index, qkv, rows);
      backend.rope({ x: packed(turned.array, turned.stride), cos, sin, positions, rows, heads: heads + kvHeads, headDim, inverse: false });
      const [keys, values] = [packed(this.arena.keys[index]!, kvWidth), packed(this.arena.values[index]!, kvWidth)];
      backend.copyRows({ to: keys, toRows: kvRows, from: { ...turned, offset: qWidth }, rows, width: kvWidth });
      backend.copyRows({
        to: values,
        toRows: kvRows,
        from: { array: qkv, offset: qWidth + kvWidth, stride: width },
        rows,
        width: kvWidth,
      });
      backend.attention({ out: attended, q: turned, k: keys, v: values, spans, rows, heads, kvHeads, headDim });
      backend.linear({ out: h, x: attended, w: layer.o, rows, accumulate: true });
      norm(layer.postNorm);
      backend.linear({ out: gateUp, x: normed, w: layer.gateUp, rows, accumulate: false });
      backend.swiglu({ out: activated, gateUp, rows, dim: ffn });
      backend.linear({ out: h, x: activated, w: layer.down, rows, accumulate: true });
      observe?.(index, h, first, rows);
    });
    return h;
  }

  /** Queries and keys after their per-head norm (Qwen3) in an array of their own; without such norms, where they are. */
  private normaliseHeads(index: number, qkv: DeviceArray, rows: number): Strided {
    const { heads, kvHeads, headDim: dim, normEps: eps } = this.config;
    const { qNorm, kNorm } = this.weights.layers[index]!;
    const stride = (heads + 2 * kvHeads) * dim;
    if (!qNorm || !kNorm) return packed(qkv, stride);
    const turnedStride = (heads + kvHeads) * dim;
    const turned = this.scratch.f32('turned', rows * turnedStride);
    const part = (array: DeviceArray, offset: number, width: number): Strided => ({ array, offset, stride: width });
    this.backend.rmsNorm({ out: part(turned, 0, turnedStride), x: part(qkv, 0, stride), weight: qNorm, rows, groups: heads, dim, eps });
    this.backend.rmsNorm({
      out: part(turned, heads * dim, turnedStride),
      x: part(qkv, heads * dim, stride),
      weight: kNorm,
      rows,
      groups: kvHeads,
      dim,
      eps,
    });
    return packed(turned, turnedStride);
  }

  /** Frees everything the decoder holds on the backend, not the backend. */
  free(): void {
    freeWeights(this.backend, this.weights);
    this.arena.free();
    this.scratch.free();
    if (this.tables) {
      this.backend.free(this.tables.cos);
      this.backend.free(this.tables.sin);
      this.tables = undefined;
    }
  }
}

/** Dense rows of width `stride`. */
export function packed(array: DeviceArray, stride: number): Strided {
  return { array, offset: 0, stride };
}

function tokenOutOfRange(id: number, vocab: number): NacreError {
  return new NacreError(
    'token-out-of-range',
    `Token id ${id} is outside the model's vocabulary of ${vocab}.`,
    `Use ids from 0 to ${vocab - 1}, made by this model's own tokenizer.`,
  );
}
