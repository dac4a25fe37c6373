import type { TrainBatch } from '../../src/transformer/train-batch.ts';
import type { DecoderWeights } from '../../src/transformer/weights.ts';

/**
 * A decoder's forward pass in plain float64, one sequence and one position at a time, written from the formulas alone.
 * Weights are float64 arrays so that finite differences are exact enough.
 */
export interface ReferenceLayer {
  inputNorm: Float64Array;
  qkv: Float64Array;
  qkvBias?: Float64Array;
  qNorm?: Float64Array;
  kNorm?: Float64Array;
  o: Float64Array;
  postNorm: Float64Array;
  gateUp: Float64Array;
  down: Float64Array;
}

export interface ReferenceWeights {
  embed: Float64Array;
  layers: ReferenceLayer[];
  finalNorm: Float64Array;
  unembed: Float64Array;
}

export function referenceWeights(weights: DecoderWeights): ReferenceWeights {
  const wide = (matrix: DecoderWeights['embed']): Float64Array => {
    if (matrix.format !== 'f32') throw new Error('the reference takes f32 weights');
    return Float64Array.from(matrix.data);
  };
  const embed = wide(weights.embed);
  return {
    embed,
    layers: weights.layers.map((layer) => ({
      inputNorm: Float64Array.from(layer.inputNorm),
      qkv: wide(layer.qkv),
      ...(layer.qkvBias ? { qkvBias: Float64Array.from(layer.qkvBias) } : {}),
      ...(layer.qNorm ? { qNorm: Float64Array.from(layer.qNorm) } : {}),
      ...(layer.kNorm ? { kNorm: Float64Array.from(layer.kNorm) } : {}),
      o: wide(layer.o),
      postNorm: Float64Array.from(layer.postNorm),
      gateUp: wide(layer.gateUp),
      down: wide(layer.down),
    })),
    finalNorm: Float64Array.from(weights.finalNorm),
    unembed: weights.unembed ? wide(weights.unembed) : embed,
  };
}

/** Logits [tokens][vocab] and the residual stream after each layer [layers][tokens][hidden]. */
export function referenceForward(
  config: DecoderWeights['config'],
  weights: ReferenceWeights,
  tokens: readonly number[],
): { logits: number[][]; residuals: number[][][] } {
  const { hidden, heads, kvHeads, headDim, ffn, normEps } = config;
  let stream = tokens.map((id) => Array.from(weights.embed.subarray(id * hidden, (id + 1) * hidden), (x) => x * config.embedScale));
  const residuals: number[][][] = [];
  for (const layer of weights.layers) {
    const qs: number[][] = [];
    const ks: number[][] = [];
    const vs: number[][] = [];
    stream = stream.map((h, position) => {
      const qkv = times(layer.qkv, norm(h, layer.inputNorm, normEps)).map((x, i) => x + (layer.qkvBias?.[i] ?? 0));
      const head = (i: number, weight: Float64Array | undefined): number[] => {
        const values = qkv.slice(i * headDim, (i + 1) * headDim);
        return rotate(weight ? norm(values, weight, normEps) : values, position, config);
      };
      qs.push(Array.from({ length: heads }, (_, i) => head(i, layer.qNorm)).flat());
      ks.push(Array.from({ length: kvHeads }, (_, i) => head(heads + i, layer.kNorm)).flat());
      vs.push(qkv.slice((heads + kvHeads) * headDim));
      const attended: number[] = [];
      for (let i = 0; i < heads; i++) {
        const kv = Math.floor((i * kvHeads) / heads) * headDim;
        const q = qs[position]!.slice(i * headDim, (i + 1) * headDim);
        const scores = ks.map((k) => q.reduce((sum, x, d) => sum + x * k[kv + d]!, 0) / Math.sqrt(headDim));
        const top = Math.max(...scores);
        const weightsOf = scores.map((s) => Math.exp(s - top));
        const total = weightsOf.reduce((a, b) => a + b, 0);
        for (let d = 0; d < headDim; d++) attended.push(weightsOf.reduce((sum, w, j) => sum + (w / total) * vs[j]![kv + d]!, 0));
      }
      const mid = plus(h, times(layer.o, attended));
      const gateUp = times(layer.gateUp, norm(mid, layer.postNorm, normEps));
      const act = Array.from({ length: ffn }, (_, i) => (gateUp[i]! / (1 + Math.exp(-gateUp[i]!))) * gateUp[ffn + i]!);
      return plus(mid, times(layer.down, act));
    });
    residuals.push(stream);
  }
  return { logits: stream.map((h) => times(weights.unembed, norm(h, weights.finalNorm, normEps))), residuals };
}

export function norm(x: readonly number[], weight: Float64Array, eps: number): number[] {
  const square = x.reduce((sum, value) => sum + value * value, 0) / x.length;
  return x.map((value, i) => (value / Math.sqrt(square + eps)) * weight[i]!);
}

function times(matrix: Float64Array, x: readonly number[]): number[] {
  const rows = matrix.length / x.length;
  return Array.from({ length: rows }, (_, r) => x.reduce((sum, value, c) => sum + value * matrix[r * x.length + c]!, 0));
}

function plus(a: readonly number[], b: readonly number[]): number[] {
  return a.map((value, i) => value + b[i]!);
}

function rotate(x: readonly number[], position: number, config: DecoderWeights['config']): number[] {
  const half = x.length / 2;
  return x.map((value, j) => {
    let frequency = 1 / config.ropeTheta ** ((2 * (j % half)) / x.length);
    const scaling = config.ropeScaling;
    if (scaling) {
      const turns = (scaling.original * frequency) / (2 * Math.PI);
      const keep = Math.min(1, Math.max(0, (turns - scaling.low) / (scaling.high - scaling.low)));
      frequency = keep * frequency + ((1 - keep) * frequency) / scaling.factor;
    }
    const angle = position * frequency;
    return j < half ? value * Math.cos(angle) - x[j + half]! * Math.sin(angle) : value * Math.cos(angle) + x[j - half]! * Math.sin(angle);
  });
}

/** Every parameter array by the name it has in the flat order. */
export function referenceParameters(weights: ReferenceWeights): Map<string, Float64Array> {
  const all = new Map<string, Float64Array>([['embed', weights.embed]]);
  weights.layers.forEach((layer, index) => {
    for (const [part, array] of Object.entries(layer)) all.set(`layers.${index}.${part}`, array);
  });
  all.set('finalNorm', weights.finalNorm);
  if (weights.unembed !== weights.embed) all.set('unembed', weights.unembed);
  return all;
}

/** Sum over the rows of a packed batch of weight·(−ln p of the target), or of the clipped policy loss. */
export function referenceLoss(config: DecoderWeights['config'], weights: ReferenceWeights, batch: TrainBatch): number {
  const prefix = Array.from(batch.prefix ?? []);
  let loss = 0;
  batch.sequenceStarts.forEach((start, s) => {
    const end = batch.sequenceStarts[s + 1] ?? batch.tokens.length;
    const { logits } = referenceForward(config, weights, [...prefix, ...batch.tokens.subarray(start, end)]);
    for (let row = start; row < end; row++) {
      const scores = logits[prefix.length + row - start]!;
      const top = Math.max(...scores);
      const logprob = scores[batch.targets[row]!]! - top - Math.log(scores.reduce((sum, x) => sum + Math.exp(x - top), 0));
      if (!batch.policy) loss -= batch.weights[row]! * logprob;
      else {
        const { advantages, behaviour, clip } = batch.policy;
        const ratio = Math.exp(logprob - behaviour[row]!);
        const bounded = Math.min(Math.max(ratio, 1 - clip), 1 + clip);
        loss -= batch.weights[row]! * Math.min(ratio * advantages[row]!, bounded * advantages[row]!);
      }
    }
  });
  return loss;
}
