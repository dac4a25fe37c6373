/**
 * Products with weights in GGML's blocks (block-panels.ts), which are widened in registers. A panel is walked run by run,
 * a run being the positions that share a scale; one row of x is multiplied on the way, several want the panel in memory.
 */
import { blockLength, blockPanelBytes, panelBlockBytes, Q4_1, Q4_K, Q8_0 } from './block-panels';
import { widen16 } from './half';

/**
 * A run of positions of one panel, `code·scale + least` for each: stored at `to` as float32 [count][8], or with x given
 * multiplied by it and added to the eight sums at `to`, in the order of the positions.
 * Codes come as code·2^4c for column c; s0 and s1 hold scale·2^−4c, which leaves the product's bits as they are.
 */
function runNibbles(to: usize, x: usize, codes: usize, count: i32, s0: v128, s1: v128, m0: v128, m1: v128): void {
  const masks = i32x4(0x000f, 0x00f0, 0x0f00, 0xf000);
  const end = codes + ((<usize>count) << 2);
  if (!x) {
    for (; codes < end; codes += 4, to += 32) {
      const word = v128.load32_splat(codes);
      const low = f32x4.convert_i32x4_s(v128.and(word, masks));
      const high = f32x4.convert_i32x4_s(v128.and(i32x4.shr_u(word, 16), masks));
      v128.store(to, f32x4.add(f32x4.mul(low, s0), m0));
      v128.store(to, f32x4.add(f32x4.mul(high, s1), m1), 16);
    }
    return;
  }
  let sum0 = v128.load(to);
  let sum1 = v128.load(to, 16);
  for (; codes < end; codes += 4, x += 4) {
    const word = v128.load32_splat(codes);
    const low = f32x4.convert_i32x4_s(v128.and(word, masks));
    const high = f32x4.convert_i32x4_s(v128.and(i32x4.shr_u(word, 16), masks));
    const v = v128.load32_splat(x);
    sum0 = f32x4.add(sum0, f32x4.mul(v, f32x4.add(f32x4.mul(low, s0), m0)));
    sum1 = f32x4.add(sum1, f32x4.mul(v, f32x4.add(f32x4.mul(high, s1), m1)));
  }
  v128.store(to, sum0);
  v128.store(to, sum1, 16);
}

/** The same for signed bytes: weight = scale·code. */
function runBytes(to: usize, x: usize, codes: usize, count: i32, s0: v128, s1: v128): void {
  const end = codes + ((<usize>count) << 3);
  if (!x) {
    for (; codes < end; codes += 8, to += 32) {
      const halves = v128.load8x8_s(codes);
      v128.store(to, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(halves)), s0));
      v128.store(to, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(halves)), s1), 16);
    }
    return;
  }
  let sum0 = v128.load(to);
  let sum1 = v128.load(to, 16);
  for (; codes < end; codes += 8, x += 4) {
    const halves = v128.load8x8_s(codes);
    const v = v128.load32_splat(x);
    sum0 = f32x4.add(sum0, f32x4.mul(v, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(halves)), s0)));
    sum1 = f32x4.add(sum1, f32x4.mul(v, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(halves)), s1)));
  }
  v128.store(to, sum0);
  v128.store(to, sum1, 16);
}

/** The codes − 32 of columns 0–3 (or, with the words moved down by 16, 4–7) times 2^4c, as float32. */
function sixes(low: v128, high: v128): v128 {
  const code = v128.or(v128.and(low, i32x4(0x000f, 0x00f0, 0x0f00, 0xf000)), high);
  return f32x4.convert_i32x4_s(i32x4.sub(code, i32x4(32, 512, 8192, 131072)));
}

/** The same for six-bit codes: weight = scale·(code − 32); at most 16 positions. */
function runSixes(to: usize, x: usize, codes: usize, count: i32, s0: v128, s1: v128): void {
  const first = i32x4(0x0003, 0x0030, 0x0300, 0x3000);
  const second = i32x4(0x000c, 0x00c0, 0x0c00, 0xc000);
  let sum0 = v128.load(to);
  let sum1 = v128.load(to, 16);
  for (let i = 0; i < count; i += 2, codes += 12) {
    const even = v128.load32_splat(codes);
    const odd = v128.load32_splat(codes, 4);
    const upper = v128.load32_splat(codes, 8);
    const even16 = i32x4.shr_u(even, 16);
    const odd16 = i32x4.shr_u(odd, 16);
    const upper16 = i32x4.shr_u(upper, 16);
    const w0 = f32x4.mul(sixes(even, i32x4.shl(v128.and(upper, first), 4)), s0);
    const w1 = f32x4.mul(sixes(even16, i32x4.shl(v128.and(upper16, first), 4)), s1);
    const w2 = f32x4.mul(sixes(odd, i32x4.shl(v128.and(upper, second), 2)), s0);
    const w3 = f32x4.mul(sixes(odd16, i32x4.shl(v128.and(upper16, second), 2)), s1);
    if (x) {
      const v = v128.load32_splat(x);
      sum0 = f32x4.add(sum0, f32x4.mul(v, w0));
      sum1 = f32x4.add(sum1, f32x4.mul(v, w1));
      if (i + 1 < count) {
        const next = v128.load32_splat(x, 4);
        sum0 = f32x4.add(sum0, f32x4.mul(next, w2));
        sum1 = f32x4.add(sum1, f32x4.mul(next, w3));
      }
      x += 8;
    } else {
      v128.store(to, w0);
      v128.store(to, w1, 16);
      if (i + 1 < count) {
        v128.store(to, w2, 32);
        v128.store(to, w3, 48);
      }
      to += 64;
    }
  }
  if (x) {
    v128.store(to, sum0);
    v128.store(to, sum1, 16);
  }
}

/** Four of eight float16. */
function lowHalves(at: usize): v128 {
  return widen16(i32x4.extend_low_i16x8_u(v128.load(at)));
}

function highHalves(at: usize): v128 {
  return widen16(i32x4.extend_high_i16x8_u(v128.load(at)));
}

/** One panel: float32 [k][8] at `to`, or with x given Σ x[i]·panel[i] added to the eight sums at `to`. */
export function walkPanel(to: usize, x: usize, panel: usize, format: i32, k: i32): void {
  const length = blockLength(format);
  // Columns lie 4 bits apart in a word; the power of two leaves exactly.
  const shrink = f32x4(1, 1 / 16, 1 / 256, 1 / 4096);
  for (let i = 0; i < k; i += length, panel += panelBlockBytes(format)) {
    const scale0 = lowHalves(panel);
    const scale1 = highHalves(panel);
    const target = x ? to : to + ((<usize>i) << 5);
    const input = x ? x + ((<usize>i) << 2) : 0;
    if (format === Q8_0) {
      runBytes(target, input, panel + 16, min(32, k - i), scale0, scale1);
    } else if (format === Q4_1) {
      const least0 = lowHalves(panel + 16);
      const least1 = highHalves(panel + 16);
      runNibbles(target, input, panel + 32, min(32, k - i), f32x4.mul(scale0, shrink), f32x4.mul(scale1, shrink), least0, least1);
    } else if (format === Q4_K) {
      walkQ4K(target, input, panel, min(256, k - i), f32x4.mul(scale0, shrink), f32x4.mul(scale1, shrink));
    } else {
      walkQ6K(target, input, panel, min(256, k - i), f32x4.mul(scale0, shrink), f32x4.mul(scale1, shrink));
    }
  }
}

function walkQ4K(to: usize, x: usize, panel: usize, count: i32, scale0: v128, scale1: v128): void {
  const least0 = f32x4.neg(lowHalves(panel + 16));
  const least1 = f32x4.neg(highHalves(panel + 16));
  for (let i = 0, run = panel + 32; i < count; i += 32, run += 144) {
    const factors = v128.load8x8_u(run);
    const shifts = v128.load8x8_u(run, 8);
    const s0 = f32x4.mul(scale0, f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(factors)));
    const s1 = f32x4.mul(scale1, f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(factors)));
    const m0 = f32x4.mul(least0, f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(shifts)));
    const m1 = f32x4.mul(least1, f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(shifts)));
    runNibbles(x ? to : to + ((<usize>i) << 5), x ? x + ((<usize>i) << 2) : 0, run + 16, min(32, count - i), s0, s1, m0, m1);
  }
}

function walkQ6K(to: usize, x: usize, panel: usize, count: i32, scale0: v128, scale1: v128): void {
  for (let i = 0, run = panel + 16; i < count; i += 16, run += 104) {
    const factors = v128.load8x8_s(run);
    const s0 = f32x4.mul(scale0, f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(factors)));
    const s1 = f32x4.mul(scale1, f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(factors)));
    runSixes(x ? to : to + ((<usize>i) << 5), x ? x + ((<usize>i) << 2) : 0, run + 8, min(16, count - i), s0, s1);
  }
}

/** Row n of the matrix as float32 [k]; scratch holds a panel: 32·k bytes. */
export function blockRow(to: usize, panels: usize, format: i32, n: usize, k: i32, scratch: usize): void {
  walkPanel(scratch, 0, panels + (n >> 3) * blockPanelBytes(format, k), format, k);
  const column = scratch + ((n & 7) << 2);
  for (let i: usize = 0; i < <usize>k; i++) store<f32>(to + (i << 2), load<f32>(column + (i << 5)));
}
