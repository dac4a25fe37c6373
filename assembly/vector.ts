/** Small loops over vectors of consecutive float32. The sums run in an order that depends on the length alone. */

export function sum4(v: v128): f32 {
  return f32x4.extract_lane(v, 0) + f32x4.extract_lane(v, 2) + (f32x4.extract_lane(v, 1) + f32x4.extract_lane(v, 3));
}

/** The largest of four numbers, in every lane, without branches. */
export function max4(v: v128): v128 {
  const pairs = f32x4.pmax(v, v128.shuffle<f32>(v, v, 2, 3, 0, 1));
  return f32x4.pmax(pairs, v128.shuffle<f32>(pairs, pairs, 1, 0, 3, 2));
}

export function dot(a: usize, b: usize, length: i32): f32 {
  let sums = f32x4.splat(0);
  const end = a + ((<usize>length) << 2);
  const fours = a + ((<usize>length & ~3) << 2);
  for (; a < fours; a += 16, b += 16) sums = f32x4.add(sums, f32x4.mul(v128.load(a), v128.load(b)));
  let sum = sum4(sums);
  for (; a < end; a += 4, b += 4) sum += load<f32>(a) * load<f32>(b);
  return sum;
}

/** to[i] = factor · from[i] */
export function scaleInto(to: usize, from: usize, factor: f32, length: i32): void {
  const end = to + ((<usize>length) << 2);
  const fours = to + ((<usize>length & ~3) << 2);
  const factors = f32x4.splat(factor);
  for (; to < fours; to += 16, from += 16) v128.store(to, f32x4.mul(factors, v128.load(from)));
  for (; to < end; to += 4, from += 4) store<f32>(to, factor * load<f32>(from));
}

/** to[i] += factor · from[i] */
export function addScaled(to: usize, from: usize, factor: f32, length: i32): void {
  const end = to + ((<usize>length) << 2);
  const fours = to + ((<usize>length & ~3) << 2);
  const factors = f32x4.splat(factor);
  for (; to < fours; to += 16, from += 16) v128.store(to, f32x4.add(v128.load(to), f32x4.mul(factors, v128.load(from))));
  for (; to < end; to += 4, from += 4) store<f32>(to, load<f32>(to) + factor * load<f32>(from));
}

/** to[i] += from[i] */
export function addTo(to: usize, from: usize, length: i32): void {
  const end = to + ((<usize>length) << 2);
  const fours = to + ((<usize>length & ~3) << 2);
  for (; to < fours; to += 16, from += 16) v128.store(to, f32x4.add(v128.load(to), v128.load(from)));
  for (; to < end; to += 4, from += 4) store<f32>(to, load<f32>(to) + load<f32>(from));
}
