import { NacreError } from '../core/errors.ts';
import type { Random } from '../core/random.ts';

export interface Sampling {
  /** 0 takes the likeliest token, the lowest id on ties. */
  readonly temperature: number;
  /** Nucleus mass (Holtzman et al. 2020) in (0, 1]. */
  readonly topP: number;
  /** 0 or absent: no limit. */
  readonly topK?: number;
}

export interface SampledToken {
  readonly id: number;
  /** ln p of the token under the plain softmax (temperature 1, nothing cut off). */
  readonly logprob: number;
  /** Entropy in nats of that softmax. */
  readonly entropy: number;
}

/**
 * Draws the next token from one row of logits. Top-k cuts first, then top-p over the tempered probabilities that are left;
 * one draw of `random` per token at a temperature above 0, none at 0.
 * @throws {NacreError} `non-finite-logits`
 */
export function sampleToken(logits: Float32Array, sampling: Sampling, random: Random): SampledToken {
  const { best, max, logSum, entropy } = summarise(logits);
  const id = sampling.temperature === 0 ? best : draw(logits, max, sampling, random);
  return { id, logprob: logits[id]! - logSum, entropy };
}

/** Maximum (lowest index on ties), log-sum-exp and entropy of a row of logits, in float64. */
export function summarise(logits: Float32Array): { best: number; max: number; logSum: number; entropy: number } {
  let best = 0;
  for (let i = 1; i < logits.length; i++) if (logits[i]! > logits[best]!) best = i;
  const max = logits[best]!;
  let sum = 0;
  let weighted = 0;
  for (let i = 0; i < logits.length; i++) {
    const shifted = logits[i]! - max;
    const weight = Math.exp(shifted);
    if (weight > 0) weighted += weight * shifted;
    sum += weight;
  }
  if (!Number.isFinite(max) || !Number.isFinite(sum)) {
    throw new NacreError(
      'non-finite-logits',
      'The model produced numbers that are not finite.',
      'The weights are damaged or training diverged: load the model again, or lower the learning rate.',
    );
  }
  const logZ = Math.log(sum);
  return { best, max, logSum: max + logZ, entropy: Math.max(0, logZ - weighted / sum) };
}

function draw(logits: Float32Array, max: number, { temperature, topP, topK = 0 }: Sampling, random: Random): number {
  const u = random.next();
  const weight = (id: number): number => Math.exp((logits[id]! - max) / temperature);
  if (topP >= 1 && (topK <= 0 || topK >= logits.length)) {
    let total = 0;
    for (let i = 0; i < logits.length; i++) total += weight(i);
    let rest = u * total;
    for (let i = 0; i < logits.length; i++) {
      rest -= weight(i);
      if (rest < 0) return i;
    }
    return lastPositive(logits, weight);
  }
  let kept = Array.from(logits.keys()).sort((a, b) => logits[b]! - logits[a]! || a - b);
  if (topK > 0) kept = kept.slice(0, topK);
  const weights = kept.map(weight);
  const total = weights.reduce((sum, w) => sum + w, 0);
  let mass = 0;
  let size = 0;
  while (size < kept.length && mass < topP * total) mass += weights[size++]!;
  size = Math.max(1, size);
  let rest = u * weights.slice(0, size).reduce((sum, w) => sum + w, 0);
  for (let i = 0; i < size; i++) {
    rest -= weights[i]!;
    if (rest < 0) return kept[i]!;
  }
  return kept[size - 1]!;
}

/** Where rounding let the running sum end a hair above the draw: the last token that has any probability. */
function lastPositive(logits: Float32Array, weight: (id: number) => number): number {
  let last = logits.length - 1;
  while (last > 0 && weight(last) === 0) last--;
  return last;
}
