/**
 * Weights kept as they are stored and widened on the way into a product, so that a model takes the memory of its file.
 * All lie in panels of 8 columns of the product (8 rows n of the matrix [n, k]), position k by position k:
 *   f32    [ceil(n/8)][k][8]; here because a stacked matrix may hold such rows among packed ones
 *   half   16 bits each: [ceil(n/8)][k][8]
 *   q4     eight codes a word, column c in bits 4c to 4c+3: [ceil(n/8)][k]; scales [ceil(n/8)][ceil(k/32)][8]
 *   blocks as told in block-panels.ts
 * The products take some columns of a wider result: `outRow` and `dOutRow` are the bytes of a whole row. Look-ups skip rows
 * that are not among the `count` from `first`, which another part of the matrix holds.
 */
import { isBlocks } from './block-panels';
import { blockRow, walkPanel } from './blocks';
import { widen16 } from './half';
import { multiply } from './multiply';
import { multiplyPackedRow } from './packed-row';
import { BF16, F16, F32, panelBytes, scaleBytes } from './panels';
import { dot, scaleInto } from './vector';

/** [n, k] halves row-major → panels; missing columns are 0. */
export function packHalves(panels: usize, values: usize, n: i32, k: i32): void {
  for (let first = 0; first < n; first += 8) {
    for (let i = 0; i < k; i++, panels += 16) {
      for (let c = 0; c < 8; c++) {
        const at = values + ((<usize>(first + c) * k + i) << 1);
        store<u16>(panels + (c << 1), first + c < n ? load<u16>(at) : 0);
      }
    }
  }
}

/** MLC codes [n, 4·ceil(k/32)] → panels; missing columns hold the code of 0. */
export function packCodes(panels: usize, codes: usize, n: i32, k: i32): void {
  const rowBytes = (<usize>((k + 31) >> 5)) << 4;
  for (let first = 0; first < n; first += 8) {
    for (let i = 0; i < k; i++, panels += 4) {
      let word: u32 = 0;
      for (let c = 0; c < 8; c++) {
        const at = codes + <usize>(first + c) * rowBytes + ((<usize>i >> 3) << 2);
        const code: u32 = first + c < n ? (load<u32>(at) >> ((i & 7) << 2)) & 15 : 7;
        word |= code << (c << 2);
      }
      store<u32>(panels, word);
    }
  }
}

/** One panel as float32 [k][8]. */
function unpackPanel(to: usize, panel: usize, scales: usize, format: i32, k: i32): void {
  if (isBlocks(format)) {
    walkPanel(to, 0, panel, format, k);
  } else if (format === F32) {
    memory.copy(to, panel, (<usize>k) << 5);
  } else if (format === F16) {
    for (let i = 0; i < k; i++, panel += 16, to += 32) {
      const halves = v128.load(panel);
      v128.store(to, widen16(i32x4.extend_low_i16x8_u(halves)));
      v128.store(to, widen16(i32x4.extend_high_i16x8_u(halves)), 16);
    }
  } else if (format === BF16) {
    for (let i = 0; i < k; i++, panel += 16, to += 32) {
      const halves = v128.load(panel);
      v128.store(to, i32x4.shl(i32x4.extend_low_i16x8_u(halves), 16));
      v128.store(to, i32x4.shl(i32x4.extend_high_i16x8_u(halves), 16), 16);
    }
  } else {
    // A code in bits 4c.. is code·2^4c as an integer; the power of two leaves exactly in the conversion.
    const masks = i32x4(0x000f, 0x00f0, 0x0f00, 0xf000);
    const shrink = f32x4(1, 1 / 16, 1 / 256, 1 / 4096);
    const seven = f32x4.splat(7);
    for (let i = 0; i < k; i += 32, scales += 32) {
      const low = v128.load(scales);
      const high = v128.load(scales, 16);
      const last = min(k, i + 32);
      for (let j = i; j < last; j++, panel += 4, to += 32) {
        const word = v128.load32_splat(panel);
        const a = f32x4.mul(f32x4.convert_i32x4_s(v128.and(word, masks)), shrink);
        const b = f32x4.mul(f32x4.convert_i32x4_s(v128.and(i32x4.shr_u(word, 16), masks)), shrink);
        v128.store(to, f32x4.mul(f32x4.sub(a, seven), low));
        v128.store(to, f32x4.mul(f32x4.sub(b, seven), high), 16);
      }
    }
  }
}

function half(bits: u32, format: i32): f32 {
  if (format === BF16) return reinterpret<f32>(bits << 16);
  return f32x4.extract_lane(widen16(i32x4.splat(bits)), 0);
}

/** Row n of the matrix as float32 [k]; scratch holds a panel as float32: 32·k bytes. */
function unpackRow(to: usize, panels: usize, scales: usize, format: i32, n: usize, k: i32, scratch: usize): void {
  if (isBlocks(format)) {
    blockRow(to, panels, format, n, k, scratch);
    return;
  }
  const panel = panels + (n >> 3) * panelBytes(format, k);
  const column = n & 7;
  if (format === F32) {
    for (let i = 0; i < k; i++) store<f32>(to + (i << 2), load<f32>(panel + (i << 5) + (column << 2)));
    return;
  }
  if (format === F16 || format === BF16) {
    for (let i = 0; i < k; i++) store<f32>(to + (i << 2), half(load<u16>(panel + (i << 4) + (column << 1)), format));
    return;
  }
  const scale = scales + (n >> 3) * scaleBytes(k) + (column << 2);
  for (let i = 0; i < k; i++) {
    const code = (load<u32>(panel + (i << 2)) >> ((<u32>column) << 2)) & 15;
    store<f32>(to + (i << 2), (<f32>code - 7) * load<f32>(scale + ((i >> 5) << 5)));
  }
}

/** out[rows, n] (+)= x · wᵀ + bias; scratch holds 4 panels as float32: 128·k bytes. */
export function multiplyPacked(
  out: usize,
  outRow: usize,
  x: usize,
  panels: usize,
  scales: usize,
  format: i32,
  bias: usize,
  rows: i32,
  n: i32,
  k: i32,
  accumulate: bool,
  scratch: usize,
): void {
  if (rows === 1) {
    multiplyPackedRow(out, x, panels, scales, format, bias, n, k, accumulate);
    return;
  }
  const panel = (<usize>k) << 5;
  for (let first = 0; first < n; first += 32) {
    const columns = min(32, n - first);
    for (let c = 0; c < columns; c += 8) {
      unpackPanel(scratch + <usize>(c >> 3) * panel, panels, scales, format, k);
      panels += panelBytes(format, k);
      scales += scaleBytes(k);
    }
    const bias32 = bias ? bias + (first << 2) : 0;
    multiply(out + (first << 2), outRow, x, (<usize>k) << 2, scratch, 32, panel, bias32, rows, columns, k, accumulate);
  }
}

/** dx[rows, k] (+)= dOut · w, eight rows of w at a time; scratch holds them and a panel: 64·k bytes. */
export function multiplyPackedInput(
  dx: usize,
  dOut: usize,
  dOutRow: usize,
  panels: usize,
  scales: usize,
  format: i32,
  rows: i32,
  n: i32,
  k: i32,
  accumulate: bool,
  scratch: usize,
): void {
  const bytes = (<usize>k) << 2;
  for (let first = 0; first < n; first += 8) {
    const count = min(8, n - first);
    for (let c = 0; c < count; c++) unpackRow(scratch + c * bytes, panels, scales, format, first + c, k, scratch + 8 * bytes);
    const more = accumulate || first > 0;
    multiply(dx, bytes, dOut + (first << 2), dOutRow, scratch, bytes, 32, 0, rows, k, count, more);
  }
}

/** out[r] = scale · w[ids[r]]; scratch holds a panel. */
export function embedPacked(
  out: usize,
  panels: usize,
  scales: usize,
  format: i32,
  k: i32,
  ids: usize,
  rows: i32,
  scale: f32,
  first: u32,
  count: u32,
  scratch: usize,
): void {
  for (let r = 0; r < rows; r++, out += (<usize>k) << 2) {
    const row = load<u32>(ids + (r << 2)) - first;
    if (row >= count) continue;
    unpackRow(out, panels, scales, format, row, k, scratch);
    scaleInto(out, out, scale, k);
  }
}

/** out[i] = <h[hRows[i]], w[tokens[i]]> for `points` of them; scratch holds one row and a panel: 36·k bytes. */
export function layerLogitsPacked(
  out: usize,
  h: usize,
  hRows: usize,
  panels: usize,
  scales: usize,
  format: i32,
  tokens: usize,
  k: i32,
  points: i32,
  first: u32,
  count: u32,
  scratch: usize,
): void {
  // The panel comes first: it is read in whole vectors and wants their alignment.
  const values = scratch + ((<usize>k) << 5);
  for (let i = 0; i < points; i++) {
    const at = (<usize>i) << 2;
    const row = load<u32>(tokens + at) - first;
    if (row >= count) continue;
    unpackRow(values, panels, scales, format, row, k, scratch);
    store<f32>(out + at, dot(h + ((<usize>load<u32>(hRows + at) * k) << 2), values, k));
  }
}
