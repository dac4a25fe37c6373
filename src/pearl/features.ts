import { type LayerLogits, lateLayers, type ProbePoint } from '../transformer/probe.ts';
import type { FeatureId } from './settings.ts';
import type { Decision, LayerCurve } from './types.ts';

/** What to read of a trajectory for one decision: its tokens as far as needed, and the points. The first point is always d's own. */
export interface FeatureProbe {
  readonly ids: readonly number[];
  readonly points: readonly ProbePoint[];
}

/**
 * Logit features need one point: the residual stream that predicts y_d, at position d−1. State features need the final hidden
 * state after tokens have been read: of token d alone, or of every token of the divergent suffix [d, end).
 */
export function featureProbe(ids: readonly number[], decision: Decision, feature: FeatureId): FeatureProbe {
  const { position: d, end, tokenId } = decision;
  const own: ProbePoint = { position: d - 1, token: tokenId };
  const after = (position: number): ProbePoint => ({ position, token: ids[position]! });
  switch (feature) {
    case 'late-logits':
    case 'all-logits':
      return { ids: ids.slice(0, d), points: [own] };
    case 'token-state':
      return { ids: ids.slice(0, d + 1), points: [own, after(d)] };
    case 'pooled-state':
      return { ids: ids.slice(0, end), points: [own, ...Array.from({ length: end - d }, (_, i) => after(d + i))] };
  }
}

/** φ(d), L2-normalised (eq. 3 for `late-logits`, which the device computes; the other three are the representations of §4.3). */
export function decisionFeature(read: LayerLogits, feature: FeatureId): Float64Array {
  const { layers, raw, late, states } = read;
  const width = states.length / Math.max(1, raw.length / layers);
  switch (feature) {
    case 'late-logits':
      return Float64Array.from(late.subarray(0, lateLayers(layers)));
    case 'all-logits':
      return l2Normalise(raw.subarray(0, layers));
    case 'token-state':
      return l2Normalise(states.subarray(width, 2 * width));
    case 'pooled-state':
      return l2Normalise(meanRow(states.subarray(width), width));
  }
}

/** Numbers in a feature of a model with these sizes. */
export function featureLength(feature: FeatureId, layers: number, hidden: number): number {
  switch (feature) {
    case 'late-logits':
      return lateLayers(layers);
    case 'all-logits':
      return layers;
    case 'token-state':
    case 'pooled-state':
      return hidden;
  }
}

/** z_l of the divergent token after every layer, without and with the final norm. */
export function layerCurve({ layers, raw, normed }: LayerLogits): LayerCurve {
  return { raw: Array.from(raw.subarray(0, layers)), normed: Array.from(normed.subarray(0, layers)) };
}

/**
 * Late-half target logits averaged over all sampled tokens of a trajectory: what the MEDS-style memory compares. Points are
 * those of `trajectoryProbe`.
 */
export function trajectoryFeature(read: LayerLogits): Float64Array {
  const mean = meanRow(read.raw, read.layers);
  return l2Normalise(mean.subarray(read.layers - lateLayers(read.layers)));
}

export function trajectoryProbe(trajectory: {
  readonly ids: readonly number[];
  readonly turns: readonly { readonly span: { readonly start: number; readonly end: number } }[];
}): FeatureProbe {
  const { ids, turns } = trajectory;
  const points = turns.flatMap(({ span: { start, end } }) =>
    Array.from({ length: end - start }, (_, i) => ({ position: start + i - 1, token: ids[start + i]! })),
  );
  return { ids, points };
}

/** Unit length in float64; a vector of zeros stays as it is. */
export function l2Normalise(values: ArrayLike<number>): Float64Array {
  const out = Float64Array.from(values);
  let sum = 0;
  for (const value of out) sum += value * value;
  const length = Math.sqrt(sum);
  return length > 0 ? out.map((value) => value / length) : out;
}

function meanRow(rows: Float32Array, width: number): Float64Array {
  const mean = new Float64Array(width);
  const count = rows.length / width;
  for (let i = 0; i < rows.length; i++) mean[i % width]! += rows[i]! / count;
  return mean;
}
