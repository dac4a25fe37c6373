/** Points of a block, side by side: coordinate c of the block's points is a row of this many float64. */
const ROW_BYTES: usize = 32 * 8;

/**
 * Squared Euclidean distances from a query to the points of a block, written to `out`, and the smallest of them.
 * Eight points at a time, in the vectors' lanes; a point's squares are still added in the order of its coordinates, so every
 * result has the same bits as that of a plain loop.
 * @param query d float64
 * @param block d rows of 32 float64; a place without a point holds infinity
 * @param count points of the block; rounded up to a multiple of 8, at most 32
 * @param out 32 float64
 */
export function squaredDistances(query: usize, block: usize, d: i32, count: i32, out: usize): f64 {
  let least = f64x2.splat(f64.MAX_VALUE);
  const last = query + ((<usize>d) << 3);
  const end = block + ((<usize>count) << 3);
  for (; block < end; block += 64, out += 64) {
    let s0 = f64x2.splat(0);
    let s1 = f64x2.splat(0);
    let s2 = f64x2.splat(0);
    let s3 = f64x2.splat(0);
    let row = block;
    for (let at = query; at < last; at += 8, row += ROW_BYTES) {
      const q = v128.load64_splat(at);
      const x0 = f64x2.sub(v128.load(row), q);
      const x1 = f64x2.sub(v128.load(row, 16), q);
      const x2 = f64x2.sub(v128.load(row, 32), q);
      const x3 = f64x2.sub(v128.load(row, 48), q);
      s0 = f64x2.add(s0, f64x2.mul(x0, x0));
      s1 = f64x2.add(s1, f64x2.mul(x1, x1));
      s2 = f64x2.add(s2, f64x2.mul(x2, x2));
      s3 = f64x2.add(s3, f64x2.mul(x3, x3));
    }
    v128.store(out, s0);
    v128.store(out, s1, 16);
    v128.store(out, s2, 32);
    v128.store(out, s3, 48);
    least = f64x2.pmin(least, f64x2.pmin(f64x2.pmin(s0, s1), f64x2.pmin(s2, s3)));
  }
  return min(f64x2.extract_lane(least, 0), f64x2.extract_lane(least, 1));
}
