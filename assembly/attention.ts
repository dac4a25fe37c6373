/**
 * Attention of one query row at a time, softmax over its whole span (no running rescaling: spans are short). Weights of a
 * row are laid out by position in the span, prefix first, and every sum over keys runs in that order, so the result does
 * not depend on where the keys are stored or how the span is split.
 *
 * `scratch` holds, for each head of a key group, two rows of `room` numbers: softmax weights, then their gradients.
 */
import { exp4 } from './exponential';
import { addScaled, dot, max4, sum4 } from './vector';

/** Scores → softmax weights in place. Lanes past `count` in the last vector are scratch and become 0. */
function softmax(values: usize, count: i32): void {
  for (let i = count; i & 3; i++) store<f32>(values + (i << 2), -Infinity);
  const end = values + ((<usize>count) << 2);
  let maxes = f32x4.splat(-Infinity);
  for (let at = values; at < end; at += 16) maxes = f32x4.pmax(maxes, v128.load(at));
  const max = max4(maxes);
  let sums = f32x4.splat(0);
  for (let at = values; at < end; at += 16) {
    const power = exp4(f32x4.sub(v128.load(at), max));
    sums = f32x4.add(sums, power);
    v128.store(at, power);
  }
  const inverse = f32x4.splat(1 / sum4(sums));
  for (let at = values; at < end; at += 16) v128.store(at, f32x4.mul(v128.load(at), inverse));
}

/** Row i of four vectors as column i, summed: the four horizontal sums. */
function sums4(a: v128, b: v128, c: v128, d: v128): v128 {
  const low = f32x4.add(v128.shuffle<f32>(a, b, 0, 4, 1, 5), v128.shuffle<f32>(a, b, 2, 6, 3, 7));
  const high = f32x4.add(v128.shuffle<f32>(c, d, 0, 4, 1, 5), v128.shuffle<f32>(c, d, 2, 6, 3, 7));
  return f32x4.add(v128.shuffle<f32>(low, high, 0, 1, 4, 5), v128.shuffle<f32>(low, high, 2, 3, 6, 7));
}

/** to[j] = scale · <x, row j of keys>, four keys at a time; up to three numbers past `count` are overwritten. */
function scores(to: usize, x: usize, keys: usize, stride: usize, count: i32, headDim: i32, scale: f32): void {
  const bytes = (<usize>headDim) << 2;
  const fours = (<usize>(headDim & ~3)) << 2;
  const scales = f32x4.splat(scale);
  for (let j = 0; j < count; j += 4) {
    // In the last turn missing keys are read as the last one.
    const k0 = keys;
    const k1 = j + 1 < count ? k0 + stride : k0;
    const k2 = j + 2 < count ? k1 + stride : k1;
    const k3 = j + 3 < count ? k2 + stride : k2;
    let a = f32x4.splat(0);
    let b = a;
    let c = a;
    let d = a;
    if (headDim === 16) {
      const x0 = v128.load(x);
      const x1 = v128.load(x, 16);
      const x2 = v128.load(x, 32);
      const x3 = v128.load(x, 48);
      a = dot16(x0, x1, x2, x3, k0);
      b = dot16(x0, x1, x2, x3, k1);
      c = dot16(x0, x1, x2, x3, k2);
      d = dot16(x0, x1, x2, x3, k3);
    } else {
      for (let at: usize = 0; at < fours; at += 16) {
        const part = v128.load(x + at);
        a = f32x4.add(a, f32x4.mul(part, v128.load(k0 + at)));
        b = f32x4.add(b, f32x4.mul(part, v128.load(k1 + at)));
        c = f32x4.add(c, f32x4.mul(part, v128.load(k2 + at)));
        d = f32x4.add(d, f32x4.mul(part, v128.load(k3 + at)));
      }
    }
    let sums = sums4(a, b, c, d);
    for (let at = fours; at < bytes; at += 4) {
      let column = f32x4.splat(load<f32>(k0 + at));
      column = f32x4.replace_lane(column, 1, load<f32>(k1 + at));
      column = f32x4.replace_lane(column, 2, load<f32>(k2 + at));
      column = f32x4.replace_lane(column, 3, load<f32>(k3 + at));
      sums = f32x4.add(sums, f32x4.mul(v128.load32_splat(x + at), column));
    }
    v128.store(to + (j << 2), f32x4.mul(sums, scales));
    keys += 4 * stride;
  }
}

function dot16(x0: v128, x1: v128, x2: v128, x3: v128, k: usize): v128 {
  const low = f32x4.add(f32x4.mul(x0, v128.load(k)), f32x4.mul(x1, v128.load(k, 16)));
  const high = f32x4.add(f32x4.mul(x2, v128.load(k, 32)), f32x4.mul(x3, v128.load(k, 48)));
  return f32x4.add(low, high);
}

/** to += Σ_j weights[j] · row j of rows, 16 numbers at a time in registers. */
function addWeighted(to: usize, weights: usize, rows: usize, stride: usize, count: i32, headDim: i32): void {
  let d = 0;
  const end = weights + ((<usize>count) << 2);
  for (; d + 16 <= headDim; d += 16) {
    let a = v128.load(to);
    let b = v128.load(to, 16);
    let c = v128.load(to, 32);
    let e = v128.load(to, 48);
    let row = rows + (d << 2);
    for (let w = weights; w < end; w += 4) {
      const weight = v128.load32_splat(w);
      a = f32x4.add(a, f32x4.mul(weight, v128.load(row)));
      b = f32x4.add(b, f32x4.mul(weight, v128.load(row, 16)));
      c = f32x4.add(c, f32x4.mul(weight, v128.load(row, 32)));
      e = f32x4.add(e, f32x4.mul(weight, v128.load(row, 48)));
      row += stride;
    }
    v128.store(to, a);
    v128.store(to, b, 16);
    v128.store(to, c, 32);
    v128.store(to, e, 48);
    to += 64;
  }
  if (d === headDim) return;
  let row = rows + (d << 2);
  for (let w = weights; w < end; w += 4) {
    addScaled(to, row, load<f32>(w), headDim - d);
    row += stride;
  }
}

/** Softmax weights of one query head over its span. */
function weigh(weights: usize, q: usize, k: usize, kStride: usize, span: usize, headDim: i32, scale: f32): void {
  const prefix = load<i32>(span, 4);
  const own = load<i32>(span, 12);
  scores(weights, q, k + <usize>load<u32>(span) * kStride, kStride, prefix, headDim, scale);
  scores(weights + (prefix << 2), q, k + <usize>load<u32>(span, 8) * kStride, kStride, own, headDim, scale);
  softmax(weights, prefix + own);
}

/** Strides are in bytes; scratch holds the longest span and three numbers more. */
export function attention(
  out: usize,
  q: usize,
  qStride: usize,
  k: usize,
  kStride: usize,
  v: usize,
  vStride: usize,
  spans: usize,
  scratch: usize,
  rows: i32,
  heads: i32,
  kvHeads: i32,
  headDim: i32,
): void {
  const bytes = (<usize>headDim) << 2;
  const scale = <f32>(1 / Math.sqrt(headDim));
  for (let r = 0; r < rows; r++) {
    const span = spans + (r << 4);
    const prefix = load<i32>(span, 4);
    const own = load<i32>(span, 12);
    for (let h = 0; h < heads; h++) {
      const kvOffset = <usize>((h * kvHeads) / heads) * bytes;
      memory.fill(out, 0, bytes);
      if (prefix + own > 0) {
        weigh(scratch, q + h * bytes, k + kvOffset, kStride, span, headDim, scale);
        const values = v + kvOffset;
        addWeighted(out, scratch, values + <usize>load<u32>(span) * vStride, vStride, prefix, headDim);
        addWeighted(out, scratch + (prefix << 2), values + <usize>load<u32>(span, 8) * vStride, vStride, own, headDim);
      }
      out += bytes;
    }
    q += qStride;
  }
}

/**
 * Gradients by recomputing the weights of a row: with P the weights, dP = dOut·vᵀ and δ = <dOut, out>,
 * dS = P∘(dP − δ)/√headDim; dq = dS·k, dk += dSᵀ·q, dv += Pᵀ·dOut. The heads that share a key head are done together,
 * so that each gradient row of keys and values is read and written once for all of them.
 */
export function attentionBackward(
  dq: usize,
  dqStride: usize,
  dk: usize,
  dkStride: usize,
  dv: usize,
  dvStride: usize,
  dOut: usize,
  out: usize,
  q: usize,
  qStride: usize,
  k: usize,
  kStride: usize,
  v: usize,
  vStride: usize,
  spans: usize,
  scratch: usize,
  room: i32,
  rows: i32,
  heads: i32,
  kvHeads: i32,
  headDim: i32,
): void {
  const bytes = (<usize>headDim) << 2;
  const roomBytes = (<usize>room) << 2;
  const scale = <f32>(1 / Math.sqrt(headDim));
  for (let r = 0; r < rows; r++) {
    const span = spans + (r << 4);
    const prefix = load<i32>(span, 4);
    const own = load<i32>(span, 12);
    const count = prefix + own;
    const prefixRow = <usize>load<u32>(span);
    const ownRow = <usize>load<u32>(span, 8);
    memory.fill(dq, 0, bytes * heads);
    let head = 0;
    for (let g = 0; g < kvHeads && count > 0; g++) {
      const first = head;
      const kvOffset = g * bytes;
      const keys = k + kvOffset;
      const values = v + kvOffset;
      for (; head < heads && (head * kvHeads) / heads === g; head++) {
        const weights = scratch + <usize>(2 * (head - first)) * roomBytes;
        const dScores = weights + roomBytes;
        const grad = dOut + head * bytes;
        weigh(weights, q + head * bytes, keys, kStride, span, headDim, scale);
        scores(dScores, grad, values + prefixRow * vStride, vStride, prefix, headDim, 1);
        scores(dScores + (prefix << 2), grad, values + ownRow * vStride, vStride, own, headDim, 1);
        const delta = f32x4.splat(dot(grad, out + head * bytes, headDim));
        const scales = f32x4.splat(scale);
        for (let j = 0; j < count; j += 4) {
          const dWeight = f32x4.sub(v128.load(dScores + (j << 2)), delta);
          v128.store(dScores + (j << 2), f32x4.mul(f32x4.mul(v128.load(weights + (j << 2)), dWeight), scales));
        }
        const to = dq + head * bytes;
        addWeighted(to, dScores, keys + prefixRow * kStride, kStride, prefix, headDim);
        addWeighted(to, dScores + (prefix << 2), keys + ownRow * kStride, kStride, own, headDim);
      }
      const group = head - first;
      const queries = q + first * bytes;
      const grads = dOut + first * bytes;
      const dKeys = dk + kvOffset;
      const dValues = dv + kvOffset;
      const own4 = scratch + (prefix << 2);
      spread(dKeys + prefixRow * dkStride, dkStride, scratch + roomBytes, roomBytes, queries, prefix, group, headDim);
      spread(dKeys + ownRow * dkStride, dkStride, own4 + roomBytes, roomBytes, queries, own, group, headDim);
      spread(dValues + prefixRow * dvStride, dvStride, scratch, roomBytes, grads, prefix, group, headDim);
      spread(dValues + ownRow * dvStride, dvStride, own4, roomBytes, grads, own, group, headDim);
    }
    dq += dqStride;
    dOut += bytes * heads;
    out += bytes * heads;
    q += qStride;
  }
}

/** Row j of `to` += Σ_h weights[h][j] · x[h], for the `group` heads of one key head; their weights lie 2·roomBytes apart. */
function spread(to: usize, stride: usize, weights: usize, roomBytes: usize, x: usize, count: i32, group: i32, headDim: i32): void {
  const bytes = (<usize>headDim) << 2;
  for (let j = 0; j < count; j++) {
    let d = 0;
    for (; d + 16 <= headDim; d += 16) {
      const at = to + (d << 2);
      let a = v128.load(at);
      let b = v128.load(at, 16);
      let c = v128.load(at, 32);
      let e = v128.load(at, 48);
      let from = x + (d << 2);
      let w = weights;
      for (let h = 0; h < group; h++) {
        const weight = v128.load32_splat(w);
        a = f32x4.add(a, f32x4.mul(weight, v128.load(from)));
        b = f32x4.add(b, f32x4.mul(weight, v128.load(from, 16)));
        c = f32x4.add(c, f32x4.mul(weight, v128.load(from, 32)));
        e = f32x4.add(e, f32x4.mul(weight, v128.load(from, 48)));
        from += bytes;
        w += 2 * roomBytes;
      }
      v128.store(at, a);
      v128.store(at, b, 16);
      v128.store(at, c, 32);
      v128.store(at, e, 48);
    }
    if (d < headDim) {
      for (let h = 0; h < group; h++) {
        addScaled(to + (d << 2), x + h * bytes + (d << 2), load<f32>(weights + <usize>(2 * h) * roomBytes), headDim - d);
      }
    }
    to += stride;
    weights += 4;
  }
}
