/**
 * One row times packed weights, as when a model generates a token: the weights are read once, so they are widened in
 * registers and never written down. The same sums in the same order as the tiles of multiply.ts make of unpacked panels.
 */
import { isBlocks } from './block-panels';
import { walkPanel } from './blocks';
import { widen16 } from './half';
import { put8 } from './multiply';
import { BF16, F16, F32, panelBytes, scaleBytes } from './panels';

/** The sums of the eight columns of a panel. */
const sums = memory.data(32, 16);

/** out[n] (+)= x[k] · wᵀ + bias */
export function multiplyPackedRow(
  out: usize,
  x: usize,
  panels: usize,
  scales: usize,
  format: i32,
  bias: usize,
  n: i32,
  k: i32,
  accumulate: bool,
): void {
  const zero = f32x4.splat(0);
  for (let first = 0; first < n; first += 8, panels += panelBytes(format, k), scales += scaleBytes(k)) {
    v128.store(sums, zero);
    v128.store(sums, zero, 16);
    if (isBlocks(format)) walkPanel(sums, x, panels, format, k);
    else if (format === F32) addPlain(x, panels, k);
    else if (format === F16) addHalves(x, panels, k);
    else if (format === BF16) addBrains(x, panels, k);
    else addCodes(x, panels, scales, k);
    const at = (<usize>first) << 2;
    put8(out + at, v128.load(sums), v128.load(sums, 16), bias ? bias + at : 0, min(8, n - first), accumulate);
  }
}

function addPlain(x: usize, panel: usize, k: i32): void {
  let sum0 = v128.load(sums);
  let sum1 = v128.load(sums, 16);
  for (const end = x + ((<usize>k) << 2); x < end; x += 4, panel += 32) {
    const v = v128.load32_splat(x);
    sum0 = f32x4.add(sum0, f32x4.mul(v, v128.load(panel)));
    sum1 = f32x4.add(sum1, f32x4.mul(v, v128.load(panel, 16)));
  }
  v128.store(sums, sum0);
  v128.store(sums, sum1, 16);
}

function addHalves(x: usize, panel: usize, k: i32): void {
  let sum0 = v128.load(sums);
  let sum1 = v128.load(sums, 16);
  for (const end = x + ((<usize>k) << 2); x < end; x += 4, panel += 16) {
    const halves = v128.load(panel);
    const v = v128.load32_splat(x);
    sum0 = f32x4.add(sum0, f32x4.mul(v, widen16(i32x4.extend_low_i16x8_u(halves))));
    sum1 = f32x4.add(sum1, f32x4.mul(v, widen16(i32x4.extend_high_i16x8_u(halves))));
  }
  v128.store(sums, sum0);
  v128.store(sums, sum1, 16);
}

function addBrains(x: usize, panel: usize, k: i32): void {
  let sum0 = v128.load(sums);
  let sum1 = v128.load(sums, 16);
  for (const end = x + ((<usize>k) << 2); x < end; x += 4, panel += 16) {
    const halves = v128.load(panel);
    const v = v128.load32_splat(x);
    sum0 = f32x4.add(sum0, f32x4.mul(v, i32x4.shl(i32x4.extend_low_i16x8_u(halves), 16)));
    sum1 = f32x4.add(sum1, f32x4.mul(v, i32x4.shl(i32x4.extend_high_i16x8_u(halves), 16)));
  }
  v128.store(sums, sum0);
  v128.store(sums, sum1, 16);
}

/** q4, (code − 7)·scale; a code comes as code·2^4c for column c, and the power of two leaves exactly (before the scale, which may be tiny). */
function addCodes(x: usize, panel: usize, scales: usize, k: i32): void {
  const masks = i32x4(0x000f, 0x00f0, 0x0f00, 0xf000);
  const sevens = i32x4(7, 7 << 4, 7 << 8, 7 << 12);
  const shrink = f32x4(1, 1 / 16, 1 / 256, 1 / 4096);
  let sum0 = v128.load(sums);
  let sum1 = v128.load(sums, 16);
  for (let i = 0; i < k; i += 32, scales += 32) {
    const scale0 = v128.load(scales);
    const scale1 = v128.load(scales, 16);
    const end = x + ((<usize>min(32, k - i)) << 2);
    for (; x < end; x += 4, panel += 4) {
      const word = v128.load32_splat(panel);
      const low = f32x4.convert_i32x4_s(i32x4.sub(v128.and(word, masks), sevens));
      const high = f32x4.convert_i32x4_s(i32x4.sub(v128.and(i32x4.shr_u(word, 16), masks), sevens));
      const v = v128.load32_splat(x);
      sum0 = f32x4.add(sum0, f32x4.mul(v, f32x4.mul(f32x4.mul(low, shrink), scale0)));
      sum1 = f32x4.add(sum1, f32x4.mul(v, f32x4.mul(f32x4.mul(high, shrink), scale1)));
    }
  }
  v128.store(sums, sum0);
  v128.store(sums, sum1, 16);
}
