import { addTo } from './vector';

/**
 * Matrix products by tiles of 4 rows × 8 columns held in eight registers (Goto & van de Geijn 2008 without the outer
 * levels: the matrices here fit the caches). All three products of a linear layer are the same tile with other strides:
 *
 *   element (i, j) = Σ_r a[i·aRow + r·aStep] · b[j + r·bStep]
 *
 * Every element is summed in the order r = 0, 1, 2, … by multiplying and then adding, in every path, so that it does not
 * depend on how many rows the call has. Strides are in bytes.
 */

/** Rows of `a` that are multiplied while one tile of `b` stays in the first-level cache. */
const ROW_BLOCK_BYTES: usize = 65536;
/** Rows summed before the weight gradient is updated, so that both operands stay in the caches. */
const WEIGHT_BLOCK: i32 = 64;

/** Where a tile that sticks out over the last column is put before its part is copied. */
const edge = memory.data(32, 16);

/** values [n, k] row-major → panels [ceil(n/8)][k][8], the missing columns of the last panel zero. */
export function packPanels(panels: usize, values: usize, n: i32, k: i32): void {
  for (let first = 0; first < n; first += 8) {
    const columns = min(8, n - first);
    for (let i = 0; i < k; i++) {
      for (let c = 0; c < 8; c++) {
        const value: f32 = c < columns ? load<f32>(values + ((<usize>(first + c) * k + i) << 2)) : 0;
        store<f32>(panels + (c << 2), value);
      }
      panels += 32;
    }
  }
}

/**
 * out[rows, columns] (+)= a · b + bias. Tile j of `b` starts at b + j·bTile; `bias` may be 0 (none).
 * Reads up to 28 bytes past the end of `b`'s last row when columns is not a multiple of 8.
 */
export function multiply(
  out: usize,
  outRow: usize,
  a: usize,
  aRow: usize,
  b: usize,
  bStep: usize,
  bTile: usize,
  bias: usize,
  rows: i32,
  columns: i32,
  count: i32,
  accumulate: bool,
): void {
  const block = max<i32>(4, <i32>(ROW_BLOCK_BYTES / max<usize>(aRow, 1)) & ~3);
  for (let top = 0; top < rows; top += block) {
    const bottom = min(rows, top + block);
    const whole = top + ((bottom - top) & ~3);
    let bias8 = bias;
    let b8 = b;
    for (let column = 0; column < columns; column += 8) {
      const width = min(8, columns - column);
      for (let row = top; row < whole; row += 4) {
        const to = out + row * outRow + (column << 2);
        tile4(to, outRow, a + row * aRow, aRow, 4, b8, bStep, bias8, width, count, accumulate);
      }
      b8 += bTile;
      if (bias) bias8 += 32;
    }
    for (let row = whole; row < bottom; row++) {
      oneRow(out + row * outRow, a + row * aRow, b, bStep, bTile, bias, columns, count, accumulate);
    }
  }
}

/** dw[n, k] += dOut[rows, n]ᵀ · x[rows, k]; dBias[n] += column sums of dOut (0: none). */
export function linearBackwardWeight(dw: usize, dBias: usize, dOut: usize, x: usize, rows: i32, n: i32, k: i32): void {
  const dOutRow = (<usize>n) << 2;
  const xRow = (<usize>k) << 2;
  const whole = n & ~3;
  for (let top = 0; top < rows; top += WEIGHT_BLOCK) {
    const count = min(WEIGHT_BLOCK, rows - top);
    const grad = dOut + top * dOutRow;
    const input = x + top * xRow;
    for (let row = 0; row < whole; row += 4) {
      for (let column = 0; column < k; column += 8) {
        const to = dw + row * xRow + (column << 2);
        tile4(to, xRow, grad + (row << 2), 4, dOutRow, input + (column << 2), xRow, 0, min(8, k - column), count, true);
      }
    }
    for (let row = whole; row < n; row++) {
      for (let column = 0; column < k; column += 8) {
        const to = dw + row * xRow + (column << 2);
        tile1(to, grad + (row << 2), dOutRow, input + (column << 2), xRow, min(8, k - column), count);
      }
    }
    if (dBias) for (let r = 0; r < count; r++) addTo(dBias, grad + r * dOutRow, n);
  }
}

/** A 4 × 8 tile for any strides. */
function tile4(
  out: usize,
  outRow: usize,
  a: usize,
  aRow: usize,
  aStep: usize,
  b: usize,
  bStep: usize,
  bias: usize,
  width: i32,
  count: i32,
  accumulate: bool,
): void {
  let c00 = f32x4.splat(0);
  let c01 = f32x4.splat(0);
  let c10 = f32x4.splat(0);
  let c11 = f32x4.splat(0);
  let c20 = f32x4.splat(0);
  let c21 = f32x4.splat(0);
  let c30 = f32x4.splat(0);
  let c31 = f32x4.splat(0);
  let b0 = f32x4.splat(0);
  let b1 = b0;
  let v = b0;
  let a0 = a;
  let a1 = a0 + aRow;
  let a2 = a1 + aRow;
  let a3 = a2 + aRow;
  for (let r = 0; r < count; r++) {
    b0 = v128.load(b, 0);
    b1 = v128.load(b, 16);
    v = v128.load32_splat(a0, 0);
    c00 = f32x4.add(c00, f32x4.mul(v, b0));
    c01 = f32x4.add(c01, f32x4.mul(v, b1));
    v = v128.load32_splat(a1, 0);
    c10 = f32x4.add(c10, f32x4.mul(v, b0));
    c11 = f32x4.add(c11, f32x4.mul(v, b1));
    v = v128.load32_splat(a2, 0);
    c20 = f32x4.add(c20, f32x4.mul(v, b0));
    c21 = f32x4.add(c21, f32x4.mul(v, b1));
    v = v128.load32_splat(a3, 0);
    c30 = f32x4.add(c30, f32x4.mul(v, b0));
    c31 = f32x4.add(c31, f32x4.mul(v, b1));
    a0 += aStep;
    a1 += aStep;
    a2 += aStep;
    a3 += aStep;
    b += bStep;
  }
  put8(out, c00, c01, bias, width, accumulate);
  put8(out + outRow, c10, c11, bias, width, accumulate);
  put8(out + 2 * outRow, c20, c21, bias, width, accumulate);
  put8(out + 3 * outRow, c30, c31, bias, width, accumulate);
}

/** One row against all of `b`, four tiles at a time so that eight sums run side by side. */
function oneRow(out: usize, a: usize, b: usize, bStep: usize, bTile: usize, bias: usize, columns: i32, count: i32, accumulate: bool): void {
  let column = 0;
  let v = f32x4.splat(0);
  const end = a + ((<usize>count) << 2);
  for (; column + 24 < columns; column += 32) {
    let c00 = f32x4.splat(0);
    let c01 = f32x4.splat(0);
    let c10 = f32x4.splat(0);
    let c11 = f32x4.splat(0);
    let c20 = f32x4.splat(0);
    let c21 = f32x4.splat(0);
    let c30 = f32x4.splat(0);
    let c31 = f32x4.splat(0);
    let b0 = b;
    let b1 = b0 + bTile;
    let b2 = b1 + bTile;
    let b3 = b2 + bTile;
    for (let x = a; x < end; x += 4) {
      v = v128.load32_splat(x);
      c00 = f32x4.add(c00, f32x4.mul(v, v128.load(b0, 0)));
      c01 = f32x4.add(c01, f32x4.mul(v, v128.load(b0, 16)));
      c10 = f32x4.add(c10, f32x4.mul(v, v128.load(b1, 0)));
      c11 = f32x4.add(c11, f32x4.mul(v, v128.load(b1, 16)));
      c20 = f32x4.add(c20, f32x4.mul(v, v128.load(b2, 0)));
      c21 = f32x4.add(c21, f32x4.mul(v, v128.load(b2, 16)));
      c30 = f32x4.add(c30, f32x4.mul(v, v128.load(b3, 0)));
      c31 = f32x4.add(c31, f32x4.mul(v, v128.load(b3, 16)));
      b0 += bStep;
      b1 += bStep;
      b2 += bStep;
      b3 += bStep;
    }
    put8(out, c00, c01, bias, 8, accumulate);
    put8(out + 32, c10, c11, bias ? bias + 32 : 0, 8, accumulate);
    put8(out + 64, c20, c21, bias ? bias + 64 : 0, 8, accumulate);
    put8(out + 96, c30, c31, bias ? bias + 96 : 0, min(8, columns - column - 24), accumulate);
    out += 128;
    b += 4 * bTile;
    if (bias) bias += 128;
  }
  for (; column < columns; column += 8) {
    let c0 = f32x4.splat(0);
    let c1 = f32x4.splat(0);
    let b0 = b;
    for (let x = a; x < end; x += 4) {
      v = v128.load32_splat(x);
      c0 = f32x4.add(c0, f32x4.mul(v, v128.load(b0)));
      c1 = f32x4.add(c1, f32x4.mul(v, v128.load(b0, 16)));
      b0 += bStep;
    }
    put8(out, c0, c1, bias, min(8, columns - column), accumulate);
    out += 32;
    b += bTile;
    if (bias) bias += 32;
  }
}

/** One row of the weight gradient, 8 columns, added to. */
function tile1(out: usize, a: usize, aStep: usize, b: usize, bStep: usize, width: i32, count: i32): void {
  let c0 = f32x4.splat(0);
  let c1 = f32x4.splat(0);
  for (let r = 0; r < count; r++) {
    const v = v128.load32_splat(a);
    c0 = f32x4.add(c0, f32x4.mul(v, v128.load(b)));
    c1 = f32x4.add(c1, f32x4.mul(v, v128.load(b, 16)));
    a += aStep;
    b += bStep;
  }
  put8(out, c0, c1, 0, width, true);
}

/** Writes the first `width` of 8 sums, after adding the bias and, when accumulating, what was there. */
export function put8(out: usize, low: v128, high: v128, bias: usize, width: i32, accumulate: bool): void {
  if (width === 8) {
    if (bias) {
      low = f32x4.add(low, v128.load(bias));
      high = f32x4.add(high, v128.load(bias, 16));
    }
    if (accumulate) {
      low = f32x4.add(v128.load(out), low);
      high = f32x4.add(v128.load(out, 16), high);
    }
    v128.store(out, low);
    v128.store(out, high, 16);
    return;
  }
  v128.store(edge, low);
  v128.store(edge, high, 16);
  for (let i = 0; i < width; i++) {
    let sum = load<f32>(edge + (i << 2));
    if (bias) sum += load<f32>(bias + (i << 2));
    if (accumulate) sum = load<f32>(out + (i << 2)) + sum;
    store<f32>(out + (i << 2), sum);
  }
}
