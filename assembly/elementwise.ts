/** Norms, rotary positions and the gated activation. Strides are in bytes. */
import { exp1, exp4 } from './exponential';
import { dot, sum4 } from './vector';

/** out = x / √(mean x² + eps) · weight, for `groups` vectors a row. */
export function rmsNorm(
  out: usize,
  outStride: usize,
  x: usize,
  xStride: usize,
  weight: usize,
  rows: i32,
  groups: i32,
  dim: i32,
  eps: f32,
): void {
  const bytes = (<usize>dim) << 2;
  const fours = (<usize>(dim & ~3)) << 2;
  for (let r = 0; r < rows; r++) {
    let from = x + r * xStride;
    let to = out + r * outStride;
    for (let g = 0; g < groups; g++) {
      const inverse = inverseRoot(from, dim, eps);
      const inverses = f32x4.splat(inverse);
      let at: usize = 0;
      for (; at < fours; at += 16) {
        v128.store(to + at, f32x4.mul(f32x4.mul(v128.load(from + at), inverses), v128.load(weight + at)));
      }
      for (; at < bytes; at += 4) store<f32>(to + at, load<f32>(from + at) * inverse * load<f32>(weight + at));
      from += bytes;
      to += bytes;
    }
  }
}

function inverseRoot(x: usize, dim: i32, eps: f32): f32 {
  return 1 / Mathf.sqrt(dot(x, x, dim) / <f32>dim + eps);
}

/**
 * With s = 1/√(mean x² + eps) and g = dOut∘weight: dx = s·(g − x·s²·mean(g∘x)); dWeight += dOut∘x·s.
 */
export function rmsNormBackward(
  dx: usize,
  dxStride: usize,
  dWeight: usize,
  dOut: usize,
  dOutStride: usize,
  x: usize,
  xStride: usize,
  weight: usize,
  rows: i32,
  groups: i32,
  dim: i32,
  eps: f32,
  accumulate: bool,
): void {
  const bytes = (<usize>dim) << 2;
  const fours = (<usize>(dim & ~3)) << 2;
  for (let r = 0; r < rows; r++) {
    let from = x + r * xStride;
    let grad = dOut + r * dOutStride;
    let to = dx + r * dxStride;
    for (let g = 0; g < groups; g++) {
      const s = inverseRoot(from, dim, eps);
      const pull = (tripleDot(from, weight, grad, dim) * s * s) / <f32>dim;
      const ss = f32x4.splat(s);
      const pulls = f32x4.splat(pull);
      let at: usize = 0;
      for (; at < fours; at += 16) {
        const value = v128.load(from + at);
        const slope = v128.load(grad + at);
        v128.store(dWeight + at, f32x4.add(v128.load(dWeight + at), f32x4.mul(f32x4.mul(slope, value), ss)));
        let step = f32x4.mul(ss, f32x4.sub(f32x4.mul(slope, v128.load(weight + at)), f32x4.mul(value, pulls)));
        if (accumulate) step = f32x4.add(v128.load(to + at), step);
        v128.store(to + at, step);
      }
      for (; at < bytes; at += 4) {
        const value = load<f32>(from + at);
        const slope = load<f32>(grad + at);
        store<f32>(dWeight + at, load<f32>(dWeight + at) + slope * value * s);
        const step = s * (slope * load<f32>(weight + at) - value * pull);
        store<f32>(to + at, accumulate ? load<f32>(to + at) + step : step);
      }
      from += bytes;
      grad += bytes;
      to += bytes;
    }
  }
}

function tripleDot(a: usize, b: usize, c: usize, length: i32): f32 {
  const end = a + ((<usize>length) << 2);
  const fours = a + ((<usize>length & ~3) << 2);
  let sums = f32x4.splat(0);
  for (; a < fours; a += 16, b += 16, c += 16) {
    sums = f32x4.add(sums, f32x4.mul(f32x4.mul(v128.load(a), v128.load(b)), v128.load(c)));
  }
  let sum = sum4(sums);
  for (; a < end; a += 4, b += 4, c += 4) sum += load<f32>(a) * load<f32>(b) * load<f32>(c);
  return sum;
}

/** (a, b) → (a·cos − b·sin, b·cos + a·sin) for a, b half a head apart; `sign` −1 rotates back. */
export function rope(
  x: usize,
  stride: usize,
  cos: usize,
  sin: usize,
  positions: usize,
  rows: i32,
  heads: i32,
  headDim: i32,
  sign: f32,
): void {
  const half = (<usize>headDim) << 1;
  const fours = half & ~15;
  const signs = f32x4.splat(sign);
  for (let r = 0; r < rows; r++) {
    const table = <usize>load<u32>(positions + (r << 2)) * half;
    let low = x + r * stride;
    for (let h = 0; h < heads; h++) {
      let at: usize = 0;
      for (; at < fours; at += 16) {
        const c = v128.load(cos + table + at);
        const s = f32x4.mul(v128.load(sin + table + at), signs);
        const a = v128.load(low + at);
        const b = v128.load(low + half + at);
        v128.store(low + at, f32x4.sub(f32x4.mul(a, c), f32x4.mul(b, s)));
        v128.store(low + half + at, f32x4.add(f32x4.mul(b, c), f32x4.mul(a, s)));
      }
      for (; at < half; at += 4) {
        const c = load<f32>(cos + table + at);
        const s = load<f32>(sin + table + at) * sign;
        const a = load<f32>(low + at);
        const b = load<f32>(low + half + at);
        store<f32>(low + at, a * c - b * s);
        store<f32>(low + half + at, b * c + a * s);
      }
      low += 2 * half;
    }
  }
}

/** out = gate·σ(gate)·up, rows of gate then up. */
export function swiglu(out: usize, gateUp: usize, rows: i32, dim: i32): void {
  const bytes = (<usize>dim) << 2;
  const fours = (<usize>(dim & ~3)) << 2;
  const one = f32x4.splat(1);
  for (let r = 0; r < rows; r++) {
    const up = gateUp + bytes;
    let at: usize = 0;
    for (; at < fours; at += 16) {
      const gate = v128.load(gateUp + at);
      const silu = f32x4.div(gate, f32x4.add(one, exp4(f32x4.neg(gate))));
      v128.store(out + at, f32x4.mul(silu, v128.load(up + at)));
    }
    for (; at < bytes; at += 4) {
      const gate = load<f32>(gateUp + at);
      store<f32>(out + at, (gate / (1 + exp1(-gate))) * load<f32>(up + at));
    }
    out += bytes;
    gateUp += 2 * bytes;
  }
}

/** dGate = dOut·up·σ·(1 + gate·(1 − σ)); dUp = dOut·gate·σ. */
export function swigluBackward(dGateUp: usize, dOut: usize, gateUp: usize, rows: i32, dim: i32): void {
  const bytes = (<usize>dim) << 2;
  const fours = (<usize>(dim & ~3)) << 2;
  const one = f32x4.splat(1);
  for (let r = 0; r < rows; r++) {
    let at: usize = 0;
    for (; at < fours; at += 16) {
      const gate = v128.load(gateUp + at);
      const sigmoid = f32x4.div(one, f32x4.add(one, exp4(f32x4.neg(gate))));
      const slope = f32x4.mul(sigmoid, f32x4.add(one, f32x4.mul(gate, f32x4.sub(one, sigmoid))));
      const grad = v128.load(dOut + at);
      v128.store(dGateUp + at, f32x4.mul(f32x4.mul(grad, v128.load(gateUp + bytes + at)), slope));
      v128.store(dGateUp + bytes + at, f32x4.mul(grad, f32x4.mul(gate, sigmoid)));
    }
    for (; at < bytes; at += 4) {
      const gate = load<f32>(gateUp + at);
      const sigmoid: f32 = 1 / (1 + exp1(-gate));
      const grad = load<f32>(dOut + at);
      store<f32>(dGateUp + at, grad * load<f32>(gateUp + bytes + at) * (sigmoid * (1 + gate * (1 - sigmoid))));
      store<f32>(dGateUp + bytes + at, grad * (gate * sigmoid));
    }
    dGateUp += 2 * bytes;
    dOut += bytes;
    gateUp += 2 * bytes;
  }
}
