import { NacreError } from '../core/errors.ts';
import type { DeviceArray } from '../tensor/backend.ts';
import { type Decoder, type LayerObserver, packed } from './decoder.ts';
import type { Region } from './kv-arena.ts';
import { summarise } from './sampling.ts';
import { RowBuilder } from './session.ts';

/** Most logits held at once. */
const MAX_LOGITS = 1 << 22;

/** A token and the position whose residual stream predicts it (the last position the model reads before it). */
export interface ProbePoint {
  readonly position: number;
  readonly token: number;
}

/** Layer logits of the points, row-major [points, layers]. */
export interface LayerLogits {
  readonly layers: number;
  /** z_l = ⟨h_l, W[token]⟩ (PEARL eq. 2), without the final norm. */
  readonly raw: Float32Array;
  /** The latter half of `raw` of each point, layers ⌊L/2⌋ to L−1, scaled to unit length (PEARL eq. 3). [points, L − ⌊L/2⌋] */
  readonly late: Float32Array;
  /** The same with the final norm (the logit lens); the last layer's is the model's own logit. */
  readonly normed: Float32Array;
  /** The model's own logit of each point, from its full unembedding. */
  readonly logits: Float32Array;
  /** Final hidden state of each point after the final norm, [points, hidden]. */
  readonly states: Float32Array;
}

/**
 * Reads `tokens` and returns the logits of chosen tokens at chosen positions after every layer. Only the unembedding rows of
 * those tokens enter the layer logits.
 * @throws {NacreError} `bad-probe-point` for a position that is not read or a token outside the vocabulary, `text-too-long`
 */
export async function probeLayers(decoder: Decoder, tokens: readonly number[], points: readonly ProbePoint[]): Promise<LayerLogits> {
  const { layers, vocab } = decoder.config;
  for (const { position, token } of points) {
    if (!(position >= 0 && position < tokens.length)) throw badPoint(`position ${position}`, `0 to ${tokens.length - 1}`);
    if (!(token >= 0 && token < vocab)) throw badPoint(`token ${token}`, `0 to ${vocab - 1}`);
  }
  const raw = new Float32Array(points.length * layers);
  const late = new Float32Array(points.length * lateLayers(layers));
  const normed = new Float32Array(points.length * layers);
  const logits = new Float32Array(points.length);
  const states = new Float32Array(points.length * decoder.config.hidden);
  if (points.length === 0) return { layers, raw, late, normed, logits, states };
  const wanted = [...new Set(points.map((point) => point.position))].sort((a, b) => a - b);
  const region = reserve(decoder, tokens);
  const collector = new Collector(decoder, points);
  try {
    // Block by block, so that the full logits of few positions are held at a time.
    const block = Math.max(1, Math.floor(MAX_LOGITS / vocab));
    let read = 0;
    for (let i = 0; i < wanted.length; i += block) {
      const some = wanted.slice(i, i + block);
      const end = some.at(-1)! + 1;
      const from = read;
      const rows = rowsOf(tokens, region.start, from, end).packed(some.map((position) => position - from));
      const observe: LayerObserver = (layer, h, first, count) => collector.collect(layer, h, from + first, count);
      const full = await decoder.forward(rows, { observe });
      points.forEach(({ position, token }, p) => {
        const at = some.indexOf(position);
        if (at >= 0) logits[p] = full[at * vocab + token]!;
      });
      read = end;
    }
    await collector.read(raw, late, normed, states);
  } finally {
    collector.free();
    decoder.arena.release(region);
  }
  return { layers, raw, late, normed, logits, states };
}

/** Layers in the latter half of a model. */
export function lateLayers(layers: number): number {
  return layers - Math.floor(layers / 2);
}

/** Gathers layer logits while the decoder runs: those of all layers into one array, read once at the end. */
class Collector {
  private readonly decoder: Decoder;
  private readonly points: readonly ProbePoint[];
  private readonly raw: DeviceArray;
  private readonly late: DeviceArray;
  private readonly normed: DeviceArray;
  private readonly states: DeviceArray;

  constructor(decoder: Decoder, points: readonly ProbePoint[]) {
    this.decoder = decoder;
    this.points = points;
    const length = points.length * decoder.config.layers;
    this.raw = decoder.backend.create('f32', length, 'probe raw');
    this.late = decoder.backend.create('f32', points.length * lateLayers(decoder.config.layers), 'probe late');
    this.normed = decoder.backend.create('f32', length, 'probe normed');
    this.states = decoder.backend.create('f32', points.length * decoder.config.hidden, 'probe states');
  }

  /** `h` holds positions [first, first + count) after `layer`. */
  collect(layer: number, h: DeviceArray, first: number, count: number): void {
    const { backend, scratch, weights, config } = this.decoder;
    const { hidden, normEps: eps, layers } = config;
    const inside = this.points.flatMap((point, i) => (point.position >= first && point.position < first + count ? [i] : []));
    if (inside.length === 0) return;
    const rows = inside.length;
    const hRows = scratch.u32(
      'probe rows',
      Uint32Array.from(inside, (i) => this.points[i]!.position - first),
    );
    const tokens = scratch.u32(
      'probe tokens',
      Uint32Array.from(inside, (i) => this.points[i]!.token),
    );
    const toRows = scratch.u32(
      'probe to',
      Uint32Array.from(inside, (i) => i * layers + layer),
    );
    const own = scratch.u32('probe own rows', Uint32Array.from(inside.keys()));
    const out = scratch.f32('probe out', rows);
    const picked = packed(scratch.f32('probe picked', rows * hidden), hidden);
    const normed = scratch.f32('probe normed', rows * hidden);
    const store = (to: DeviceArray): void => backend.copyRows({ to: packed(to, 1), toRows, from: packed(out, 1), rows, width: 1 });
    backend.layerLogits({ out, h, hRows, tokens, w: weights.unembed, count: rows });
    store(this.raw);
    backend.copyRows({ to: picked, from: packed(h, hidden), fromRows: hRows, rows, width: hidden });
    backend.rmsNorm({ out: packed(normed, hidden), x: picked, weight: weights.finalNorm, rows, groups: 1, dim: hidden, eps });
    backend.layerLogits({ out, h: normed, hRows: own, tokens, w: weights.unembed, count: rows });
    store(this.normed);
    if (layer < layers - 1) return;
    const toPoints = scratch.u32('probe points', Uint32Array.from(inside));
    backend.copyRows({ to: packed(this.states, hidden), toRows: toPoints, from: packed(normed, hidden), rows, width: hidden });
  }

  async read(raw: Float32Array, late: Float32Array, normed: Float32Array, states: Float32Array): Promise<void> {
    const { backend, config } = this.decoder;
    const { layers } = config;
    const width = lateLayers(layers);
    const x = { array: this.raw, offset: layers - width, stride: layers };
    backend.l2Normalise({ out: packed(this.late, width), x, rows: this.points.length, width });
    late.set((await backend.read(this.late)) as Float32Array);
    raw.set((await backend.read(this.raw)) as Float32Array);
    normed.set((await backend.read(this.normed)) as Float32Array);
    states.set((await backend.read(this.states)) as Float32Array);
  }

  free(): void {
    for (const array of [this.raw, this.late, this.normed, this.states]) this.decoder.backend.free(array);
  }
}

export interface LikelyToken {
  readonly id: number;
  readonly probability: number;
}

/** A token of a text and how the model saw it coming. */
export interface TokenReading {
  readonly id: number;
  /** ln p given the tokens before it; absent for the first. */
  readonly logprob?: number;
  /** Entropy (nats) of the distribution it stands against. */
  readonly entropy?: number;
  readonly top: readonly LikelyToken[];
  /** Layer logits at the position that predicts it; empty for the first. */
  readonly raw: readonly number[];
  readonly normed: readonly number[];
}

export interface TextReading {
  readonly layers: number;
  readonly tokens: readonly TokenReading[];
  /** Likeliest tokens behind the text. */
  readonly next: readonly LikelyToken[];
  /** max |normed logit of the last layer − the model's own logit| over the text. */
  readonly selfCheck: number;
}

/** Probability, entropy, likeliest alternatives and layer logits of every token of a text. @param top how many alternatives. */
export async function readText(decoder: Decoder, tokens: readonly number[], top: number): Promise<TextReading> {
  const { vocab, layers } = decoder.config;
  if (tokens.length === 0) return { layers, tokens: [], next: [], selfCheck: 0 };
  const points = tokens.slice(1).map((token, position) => ({ position, token }));
  const { raw, normed, logits: own } = await probeLayers(decoder, tokens, points);
  const selfCheck = points.reduce((worst, _, i) => Math.max(worst, Math.abs(normed[i * layers + layers - 1]! - own[i]!)), 0);
  const row = (array: Float32Array, i: number): number[] => Array.from(array.subarray(i * layers, (i + 1) * layers));
  const read: TokenReading[] = [{ id: tokens[0]!, top: [], raw: [], normed: [] }];
  let next: readonly LikelyToken[] = [];
  const region = reserve(decoder, tokens);
  try {
    const block = Math.max(1, Math.floor(MAX_LOGITS / vocab));
    for (let from = 0; from < tokens.length; from += block) {
      const rows = rowsOf(tokens, region.start, from, Math.min(tokens.length, from + block));
      const logits = await decoder.forward(rows.packed(Array.from({ length: rows.count }, (_, i) => i)));
      for (let i = 0; i < rows.count; i++) {
        const here = logits.subarray(i * vocab, (i + 1) * vocab);
        const id = tokens[from + i + 1];
        if (id === undefined) next = likeliest(here, top);
        else {
          const { logSum, entropy } = summarise(here);
          const layerRows = { raw: row(raw, from + i), normed: row(normed, from + i) };
          read.push({ id, logprob: here[id]! - logSum, entropy, top: likeliest(here, top), ...layerRows });
        }
      }
    }
  } finally {
    decoder.arena.release(region);
  }
  return { layers, tokens: read, next, selfCheck };
}

function likeliest(logits: Float32Array, count: number): LikelyToken[] {
  const { logSum } = summarise(logits);
  const ids = Array.from(logits.keys()).sort((a, b) => logits[b]! - logits[a]! || a - b);
  return ids.slice(0, count).map((id) => ({ id, probability: Math.exp(logits[id]! - logSum) }));
}

function reserve(decoder: Decoder, tokens: readonly number[]): Region {
  const { contextLength } = decoder.config;
  if (tokens.length > contextLength) {
    throw new NacreError('text-too-long', `The text has ${tokens.length} tokens; the model reads ${contextLength}.`, 'Shorten the text.');
  }
  return decoder.arena.allocate(tokens.length);
}

/** Tokens [from, to) of a text whose keys and values begin at arena row `start`. */
function rowsOf(tokens: readonly number[], start: number, from: number, to: number): RowBuilder {
  const rows = new RowBuilder();
  for (let i = from; i < to; i++) rows.add(tokens[i]!, i, start + i, [0, 0, start, i + 1]);
  return rows;
}

function badPoint(what: string, range: string): NacreError {
  return new NacreError('bad-probe-point', `The probe asks for ${what}, outside ${range}.`, `Choose one from ${range}.`);
}
