import { NacreError } from '../core/errors.ts';
import type { DeviceArray } from '../tensor/backend.ts';
import { type Decoder, packed } from './decoder.ts';
import { summarise } from './sampling.ts';
import { RowBuilder } from './session.ts';

/** A token whose layer logits are wanted at a position of a text (from 0): how strongly each layer predicts it to come next. */
export interface ProbePoint {
  readonly position: number;
  readonly token: number;
}

export interface LayerLogits {
  readonly layers: number;
  /** z_l = ⟨h_l[position], W[token]⟩ without the final norm (PEARL eq. 2), f32 [points, layers]. */
  readonly raw: Float32Array;
  /** The same behind the final norm (the logit lens), f32 [points, layers]; the last layer's is the model's own logit. */
  readonly normed: Float32Array;
  /** The model's logit of the token, f32 [points]. */
  readonly logits: Float32Array;
}

/** Products recorded while a call runs; read once it has ended. */
interface Recorded {
  readonly layer: number;
  /** Which points the entries of the arrays are. */
  readonly points: readonly number[];
  readonly raw: DeviceArray;
  readonly normed: DeviceArray;
}

/**
 * Reads `tokens` and returns the layer logits of the points, in their order. PEARL's feature of the token y_d that a text
 * has at position d is the point {position: d − 1, token: y_d}.
 * @throws {NacreError} `bad-probe-point` for a point outside the text or the vocabulary, `prompt-too-long`, `token-out-of-range`.
 */
export async function probeLayers(decoder: Decoder, tokens: readonly number[], points: readonly ProbePoint[]): Promise<LayerLogits> {
  const wanted = [...new Set(points.map(({ position }) => position))].sort((a, b) => a - b);
  return (await observe(decoder, tokens, points, wanted)).layerLogits;
}

export interface Alternative {
  readonly id: number;
  readonly probability: number;
}

export interface ReadToken {
  readonly id: number;
  /** ln p given the tokens before it; absent for the first. */
  readonly logprob?: number;
  /** Entropy in nats of the distribution it was predicted by. */
  readonly entropy?: number;
  /** The likeliest tokens at this place, likeliest first. */
  readonly top: readonly Alternative[];
  /** Layer logits of this token at the position that predicts it, one a layer; empty for the first. */
  readonly raw: readonly number[];
  readonly normed: readonly number[];
}

export interface TextReading {
  readonly layers: number;
  readonly tokens: readonly ReadToken[];
  /** The likeliest tokens after the text. */
  readonly next: readonly Alternative[];
  /** max |normed last-layer logit − the model's own logit| over the tokens. */
  readonly selfCheck: number;
}

/** Reads a whole text and says how each of its tokens was predicted, with the `top` likeliest alternatives. @throws as `probeLayers`. */
export async function readText(decoder: Decoder, tokens: readonly number[], top: number): Promise<TextReading> {
  const points = tokens.slice(1).map((token, position) => ({ position, token }));
  const { layerLogits, own } = await observe(decoder, tokens, points, [...tokens.keys()]);
  const { layers, raw, normed, logits } = layerLogits;
  const { vocab } = decoder.config;
  const row = (position: number): Float32Array => own.subarray(position * vocab, (position + 1) * vocab);
  const read = tokens.map((id, i): ReadToken => {
    if (i === 0) return { id, top: [], raw: [], normed: [] };
    const before = row(i - 1);
    const { logSum, entropy } = summarise(before);
    const place = (values: Float32Array): number[] => [...values.subarray((i - 1) * layers, i * layers)];
    return { id, logprob: before[id] - logSum, entropy, top: likeliest(before, top), raw: place(raw), normed: place(normed) };
  });
  const selfCheck = points.reduce((worst, _, i) => Math.max(worst, Math.abs(normed[(i + 1) * layers - 1] - logits[i])), 0);
  return { layers, tokens: read, next: tokens.length === 0 ? [] : likeliest(row(tokens.length - 1), top), selfCheck };
}

function likeliest(logits: Float32Array, count: number): Alternative[] {
  const { logSum } = summarise(logits);
  const order = Array.from(logits.keys()).sort((a, b) => logits[b] - logits[a] || a - b);
  return order.slice(0, count).map((id) => ({ id, probability: Math.exp(logits[id] - logSum) }));
}

interface Observed {
  readonly layerLogits: LayerLogits;
  /** The model's logits at the wanted positions, [wanted, vocab]. */
  readonly own: Float32Array;
}

/** One call over the text that records the points' products after each layer. @param wanted ascending positions, those of all points among them. */
async function observe(
  decoder: Decoder,
  tokens: readonly number[],
  points: readonly ProbePoint[],
  wanted: readonly number[],
): Promise<Observed> {
  const { layers, vocab } = decoder.config;
  checkPoints(decoder, tokens, points);
  const region = decoder.arena.allocate(tokens.length);
  const recorded: Recorded[] = [];
  try {
    const rows = new RowBuilder();
    tokens.forEach((id, i) => {
      rows.add(id, i, region.start + i, [0, 0, region.start, i + 1]);
    });
    const own = await decoder.forward(rows.packed(wanted), (layer, h, firstRow, count) => {
      const inside = [...points.keys()].filter((i) => points[i].position >= firstRow && points[i].position < firstRow + count);
      if (inside.length > 0) recorded.push(record(decoder, layer, h, firstRow, points, inside));
    });
    const places = new Map(wanted.map((position, place) => [position, place]));
    const layerLogits: LayerLogits = {
      layers,
      raw: new Float32Array(points.length * layers),
      normed: new Float32Array(points.length * layers),
      logits: Float32Array.from(points, ({ position, token }) => own[(places.get(position) as number) * vocab + token]),
    };
    for (const { layer, points: inside, raw, normed } of recorded) {
      await scatter(decoder, raw, inside, layer, layerLogits.raw);
      await scatter(decoder, normed, inside, layer, layerLogits.normed);
    }
    return { layerLogits, own };
  } finally {
    for (const { raw, normed } of recorded) {
      decoder.backend.free(raw);
      decoder.backend.free(normed);
    }
    decoder.arena.release(region);
  }
}

/** Records the products of one layer's residual stream with the rows of the unembedding that the points name. */
function record(
  decoder: Decoder,
  layer: number,
  h: DeviceArray,
  firstRow: number,
  points: readonly ProbePoint[],
  inside: readonly number[],
): Recorded {
  const { backend, scratch, weights, config } = decoder;
  const { hidden, normEps: eps } = config;
  const count = inside.length;
  const hRows = scratch.u32(
    'probe rows',
    Uint32Array.from(inside, (i) => points[i].position - firstRow),
  );
  const tokens = scratch.u32(
    'probe tokens',
    Uint32Array.from(inside, (i) => points[i].token),
  );
  const each = scratch.u32('probe own rows', Uint32Array.from(inside.keys()));
  const picked = packed(scratch.f32('probe picked', count * hidden), hidden);
  const behindNorm = packed(scratch.f32('probe normed', count * hidden), hidden);
  backend.copyRows({ to: picked, from: packed(h, hidden), fromRows: hRows, rows: count, width: hidden });
  backend.rmsNorm({ out: behindNorm, x: picked, weight: weights.finalNorm, rows: count, groups: 1, dim: hidden, eps });
  const raw = backend.create('f32', count, 'layer logits');
  const normed = backend.create('f32', count, 'normed layer logits');
  const w = weights.unembed;
  backend.layerLogits({ out: raw, h: picked.array, hRows: each, tokens, w, count });
  backend.layerLogits({ out: normed, h: behindNorm.array, hRows: each, tokens, w, count });
  return { layer, points: inside, raw, normed };
}

async function scatter(decoder: Decoder, from: DeviceArray, points: readonly number[], layer: number, to: Float32Array): Promise<void> {
  const values = await decoder.backend.read(from, 0, points.length);
  points.forEach((point, i) => {
    to[point * decoder.config.layers + layer] = values[i];
  });
}

function checkPoints(decoder: Decoder, tokens: readonly number[], points: readonly ProbePoint[]): void {
  const { vocab, contextLength } = decoder.config;
  if (tokens.length > contextLength) {
    throw new NacreError(
      'prompt-too-long',
      `The text has ${tokens.length} tokens; the model reads ${contextLength} in all.`,
      'Shorten the text or use a model with a longer context.',
    );
  }
  for (const { position, token } of points) {
    if (!(position >= 0 && position < tokens.length)) {
      throw new NacreError(
        'bad-probe-point',
        `Position ${position} is outside the text of ${tokens.length} tokens.`,
        'Positions count from 0.',
      );
    }
    if (!(token >= 0 && token < vocab)) {
      throw new NacreError(
        'bad-probe-point',
        `Token id ${token} is outside the model's vocabulary of ${vocab}.`,
        `Use ids from 0 to ${vocab - 1}.`,
      );
    }
  }
}
