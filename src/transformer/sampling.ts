import { NacreError } from '../core/errors.ts';
import type { Random } from '../core/random.ts';

export interface Sampling {
  /** 0 takes the likeliest token, the lowest id on ties. */
  readonly temperature: number;
  /** Nucleus mass (Holtzman et al. 2020) in (0, 1]. */
  readonly topP: number;
  /** 0 or absent: no limit. */
  readonly topK?: number;
  /** Also measure the entropy over this many likeliest tokens, renormalised. Changes nothing in what is drawn. */
  readonly entropyTopK?: number;
}

export interface SampledToken {
  readonly id: number;
  /** ln p of the token under the plain softmax (temperature 1, nothing cut off). */
  readonly logprob: number;
  /** Entropy in nats of that softmax. */
  readonly entropy: number;
  /** Entropy in nats over the `entropyTopK` likeliest tokens; absent unless asked for. */
  readonly topEntropy?: number;
}

/**
 * Draws the next token from one row of logits. Top-k cuts first, then top-p over the tempered probabilities that are left;
 * one draw of `random` per token at a temperature above 0, none at 0.
 * @throws {NacreError} `non-finite-logits`
 */
export function sampleToken(logits: Float32Array, sampling: Sampling, random: Random): SampledToken {
  const { best, max, logSum, entropy } = summarise(logits);
  const id = sampling.temperature === 0 ? best : draw(logits, max, sampling, random);
  const sampled = { id, logprob: logits[id]! - logSum, entropy };
  const { entropyTopK } = sampling;
  if (entropyTopK === undefined) return sampled;
  return { ...sampled, topEntropy: entropyTopK >= logits.length ? entropy : topEntropy(logits, entropyTopK) };
}

/** Entropy in nats of the softmax over the `count` largest logits alone. */
export function topEntropy(logits: Float32Array, count: number): number {
  const ascending = logits.slice().sort();
  return summarise(ascending.subarray(Math.max(0, ascending.length - count))).entropy;
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
  const weights = Float64Array.from(logits, (logit) => Math.exp((logit - max) / temperature));
  const all = sum(weights);
  if (topP >= 1 && (topK <= 0 || topK >= logits.length)) return pick(weights.keys(), weights, u * all);
  // With top-p alone, tokens that each have less than (1 − p)/n cannot be in the nucleus: together they do not fill what is outside.
  const least = topK > 0 ? 0 : (all * (1 - topP)) / logits.length;
  const likely = Array.from(weights.keys()).filter((id) => weights[id]! >= least);
  likely.sort((a, b) => logits[b]! - logits[a]! || a - b);
  const kept = topK > 0 ? likely.slice(0, topK) : likely;
  const total = topK > 0 ? sum(kept.map((id) => weights[id]!)) : all;
  let mass = 0;
  let size = 0;
  while (size < kept.length && (size === 0 || mass < topP * total)) mass += weights[kept[size++]!]!;
  return pick(kept.slice(0, size), weights, u * mass);
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

/** The first id at which the running sum passes `goal`; where rounding keeps it below, the last id that has any weight. */
function pick(ids: Iterable<number>, weights: Float64Array, goal: number): number {
  let rest = goal;
  let last = 0;
  for (const id of ids) {
    if (weights[id]! > 0) last = id;
    rest -= weights[id]!;
    if (rest < 0) return id;
  }
  return last;
}
