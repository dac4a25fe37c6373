/** The loss, the optimiser and the gradient norm. */
import { exp1, exp4 } from './exponential';
import { max4, sum4 } from './vector';

/** loss = weight·(logsumexp − logit of the target); dLogits = weight·(softmax − one-hot). dLogits may be logits. */
export function crossEntropy(loss: usize, dLogits: usize, logits: usize, targets: usize, weights: usize, rows: i32, vocab: i32): void {
  const bytes = (<usize>vocab) << 2;
  const fours = (<usize>(vocab & ~3)) << 2;
  for (let r = 0; r < rows; r++, logits += bytes, dLogits += bytes) {
    const weight = load<f32>(weights + (r << 2));
    if (weight === 0) {
      store<f32>(loss + (r << 2), 0);
      memory.fill(dLogits, 0, bytes);
      continue;
    }
    const target = (<usize>load<u32>(targets + (r << 2))) << 2;
    const wanted = load<f32>(logits + target);
    const max = rowMax(logits, fours, bytes);
    const maxes = f32x4.splat(max);
    let sums = f32x4.splat(0);
    let at: usize = 0;
    for (; at < fours; at += 16) {
      const power = exp4(f32x4.sub(v128.load(logits + at), maxes));
      sums = f32x4.add(sums, power);
      v128.store(dLogits + at, power);
    }
    let sum = sum4(sums);
    for (; at < bytes; at += 4) {
      const power = exp1(load<f32>(logits + at) - max);
      sum += power;
      store<f32>(dLogits + at, power);
    }
    store<f32>(loss + (r << 2), weight * <f32>(<f64>max - <f64>wanted + Math.log(sum)));
    const factor = weight / sum;
    const factors = f32x4.splat(factor);
    for (at = 0; at < fours; at += 16) v128.store(dLogits + at, f32x4.mul(v128.load(dLogits + at), factors));
    for (; at < bytes; at += 4) store<f32>(dLogits + at, load<f32>(dLogits + at) * factor);
    store<f32>(dLogits + target, load<f32>(dLogits + target) - weight);
  }
}

/**
 * report[r] = (loss, ln p, whether the clip binds) and dLogits[r] = weight·f·(softmax − onehot), with
 * r = exp(ln p − behaviour), Ã = advantage·multiplier, f = r·Ã or 0 where the clip binds; terms[r] = (weight, advantage,
 * multiplier, behaviour). A weight of 0 writes zeros. dLogits may be logits.
 */
export function policyLoss(
  report: usize,
  dLogits: usize,
  logits: usize,
  targets: usize,
  terms: usize,
  clip: f64,
  rows: i32,
  vocab: i32,
): void {
  const bytes = (<usize>vocab) << 2;
  const fours = (<usize>(vocab & ~3)) << 2;
  for (let r = 0; r < rows; r++, logits += bytes, dLogits += bytes, report += 12, terms += 16) {
    const weight = load<f32>(terms);
    if (weight === 0) {
      memory.fill(report, 0, 12);
      memory.fill(dLogits, 0, bytes);
      continue;
    }
    const target = (<usize>load<u32>(targets + (r << 2))) << 2;
    const wanted = load<f32>(logits + target);
    const max = rowMax(logits, fours, bytes);
    const maxes = f32x4.splat(max);
    let sums = f32x4.splat(0);
    let at: usize = 0;
    for (; at < fours; at += 16) {
      const power = exp4(f32x4.sub(v128.load(logits + at), maxes));
      sums = f32x4.add(sums, power);
      v128.store(dLogits + at, power);
    }
    let sum = sum4(sums);
    for (; at < bytes; at += 4) {
      const power = exp1(load<f32>(logits + at) - max);
      sum += power;
      store<f32>(dLogits + at, power);
    }
    const logprob = <f64>wanted - <f64>max - Math.log(sum);
    const advantage = <f64>load<f32>(terms + 4) * <f64>load<f32>(terms + 8);
    const ratio = Math.exp(logprob - <f64>load<f32>(terms + 12));
    const binds = advantage > 0 ? ratio > 1 + clip : advantage < 0 && ratio < 1 - clip;
    const bounded = Math.min(1 + clip, Math.max(1 - clip, ratio));
    store<f32>(report, <f32>(<f64>-weight * Math.min(ratio * advantage, bounded * advantage)));
    store<f32>(report + 4, <f32>logprob);
    store<f32>(report + 8, binds ? 1 : 0);
    const factor: f32 = binds ? 0 : <f32>(<f64>weight * ratio * advantage);
    const scale = factor / sum;
    const scales = f32x4.splat(scale);
    for (at = 0; at < fours; at += 16) v128.store(dLogits + at, f32x4.mul(v128.load(dLogits + at), scales));
    for (; at < bytes; at += 4) store<f32>(dLogits + at, load<f32>(dLogits + at) * scale);
    store<f32>(dLogits + target, load<f32>(dLogits + target) - factor);
  }
}

function rowMax(logits: usize, fours: usize, bytes: usize): f32 {
  let maxes = f32x4.splat(-Infinity);
  let at: usize = 0;
  for (; at < fours; at += 16) maxes = f32x4.pmax(maxes, v128.load(logits + at));
  let max = f32x4.extract_lane(max4(maxes), 0);
  for (; at < bytes; at += 4) max = Mathf.max(max, load<f32>(logits + at));
  return max;
}

/** mScale and vScale are the bias corrections 1/(1 − βᵗ); rest1 and rest2 are 1 − β. */
export function adam(
  param: usize,
  grad: usize,
  m: usize,
  v: usize,
  length: i32,
  lr: f32,
  beta1: f32,
  rest1: f32,
  beta2: f32,
  rest2: f32,
  eps: f32,
  weightDecay: f32,
  mScale: f32,
  vScale: f32,
  gradScale: f32,
): void {
  const fours = (<usize>(length & ~3)) << 2;
  const bytes = (<usize>length) << 2;
  let at: usize = 0;
  for (; at < fours; at += 16) {
    const g = f32x4.mul(v128.load(grad + at), f32x4.splat(gradScale));
    const mean = f32x4.add(f32x4.mul(f32x4.splat(beta1), v128.load(m + at)), f32x4.mul(f32x4.splat(rest1), g));
    const square = f32x4.mul(f32x4.mul(f32x4.splat(rest2), g), g);
    const spread = f32x4.add(f32x4.mul(f32x4.splat(beta2), v128.load(v + at)), square);
    v128.store(m + at, mean);
    v128.store(v + at, spread);
    const root = f32x4.add(f32x4.sqrt(f32x4.mul(spread, f32x4.splat(vScale))), f32x4.splat(eps));
    const old = v128.load(param + at);
    const step = f32x4.add(f32x4.div(f32x4.mul(mean, f32x4.splat(mScale)), root), f32x4.mul(f32x4.splat(weightDecay), old));
    v128.store(param + at, f32x4.sub(old, f32x4.mul(f32x4.splat(lr), step)));
  }
  for (; at < bytes; at += 4) {
    const g = load<f32>(grad + at) * gradScale;
    const mean = beta1 * load<f32>(m + at) + rest1 * g;
    const spread = beta2 * load<f32>(v + at) + rest2 * g * g;
    store<f32>(m + at, mean);
    store<f32>(v + at, spread);
    const old = load<f32>(param + at);
    const step = (mean * mScale) / (Mathf.sqrt(spread * vScale) + eps) + weightDecay * old;
    store<f32>(param + at, old - lr * step);
  }
}

/** Σ x², summed in float64. */
export function sumSquares(x: usize, length: i32): f64 {
  const end = x + ((<usize>length) << 2);
  const fours = x + ((<usize>length & ~3) << 2);
  let low = f64x2.splat(0);
  let high = low;
  for (; x < fours; x += 16) {
    const values = v128.load(x);
    const a = f64x2.promote_low_f32x4(values);
    const b = f64x2.promote_low_f32x4(v128.shuffle<f32>(values, values, 2, 3, 2, 3));
    low = f64x2.add(low, f64x2.mul(a, a));
    high = f64x2.add(high, f64x2.mul(b, b));
  }
  low = f64x2.add(low, high);
  let sum = f64x2.extract_lane(low, 0) + f64x2.extract_lane(low, 1);
  for (; x < end; x += 4) {
    const value = <f64>load<f32>(x);
    sum += value * value;
  }
  return sum;
}
