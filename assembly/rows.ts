/** Kernels that pick rows by index. Strides are in bytes; a `toRows` or `fromRows` of 0 means rows in order. */
import { addScaled, dot, scaleInto } from './vector';

export function embed(out: usize, table: usize, dim: i32, ids: usize, rows: i32, scale: f32): void {
  const bytes = (<usize>dim) << 2;
  for (let r = 0; r < rows; r++) scaleInto(out + r * bytes, table + <usize>load<u32>(ids + (r << 2)) * bytes, scale, dim);
}

export function embedBackward(dTable: usize, dOut: usize, ids: usize, rows: i32, dim: i32, scale: f32): void {
  const bytes = (<usize>dim) << 2;
  for (let r = 0; r < rows; r++) addScaled(dTable + <usize>load<u32>(ids + (r << 2)) * bytes, dOut + r * bytes, scale, dim);
}

export function copyRows(
  to: usize,
  toStride: usize,
  toRows: usize,
  from: usize,
  fromStride: usize,
  fromRows: usize,
  rows: i32,
  width: i32,
): void {
  const bytes = (<usize>width) << 2;
  for (let r = 0; r < rows; r++) {
    const target = toRows ? load<u32>(toRows + (r << 2)) : r;
    const source = fromRows ? load<u32>(fromRows + (r << 2)) : r;
    memory.copy(to + <usize>target * toStride, from + <usize>source * fromStride, bytes);
  }
}

/** out[i] = <h[hRows[i]], w[tokens[i]]> */
export function layerLogits(out: usize, h: usize, hRows: usize, w: usize, tokens: usize, dim: i32, count: i32): void {
  const bytes = (<usize>dim) << 2;
  for (let i = 0; i < count; i++) {
    const at = (<usize>i) << 2;
    const product = dot(h + <usize>load<u32>(hRows + at) * bytes, w + <usize>load<u32>(tokens + at) * bytes, dim);
    store<f32>(out + at, product);
  }
}

/** out.row(r) = x.row(r) / its length, by way of its largest size so that no square overflows; zeros stay zeros. */
export function l2Normalise(out: usize, outStride: usize, x: usize, xStride: usize, rows: i32, width: i32): void {
  const bytes = (<usize>width) << 2;
  for (let r = 0; r < rows; r++, out += outStride, x += xStride) {
    let largest: f32 = 0;
    for (let at: usize = 0; at < bytes; at += 4) largest = Mathf.max(largest, Mathf.abs(load<f32>(x + at)));
    if (largest === 0) {
      memory.fill(out, 0, bytes);
      continue;
    }
    let sum: f64 = 0;
    for (let at: usize = 0; at < bytes; at += 4) {
      const share = <f64>load<f32>(x + at) / <f64>largest;
      sum += share * share;
    }
    const length = <f64>largest * Math.sqrt(sum);
    for (let at: usize = 0; at < bytes; at += 4) store<f32>(out + at, <f32>(<f64>load<f32>(x + at) / length));
  }
}
