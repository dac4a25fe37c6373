/** 1.5·2²³: adding it to a float32 rounds it to a whole number, which then stands in the low bits. */
const ROUND: f32 = 12582912;

/**
 * e^x for four numbers at once: x = n·ln 2 + r with |r| ≤ ln 2 / 2, a degree-6 polynomial for e^r (coefficients of Cephes'
 * expf, S. Moshier), and n added straight to its exponent bits. Within 2 units in the last place.
 * Below −87.3 the result is 0, above 88.3 it stays at e^88.3; NaN stays NaN.
 */
export function exp4(x: v128): v128 {
  const clamped = f32x4.pmin(x, f32x4.splat(88.3));
  const rounded = f32x4.add(f32x4.mul(clamped, f32x4.splat(<f32>Math.LOG2E)), f32x4.splat(ROUND));
  const n = f32x4.sub(rounded, f32x4.splat(ROUND));
  let r = f32x4.sub(clamped, f32x4.mul(n, f32x4.splat(0.693359375)));
  r = f32x4.sub(r, f32x4.mul(n, f32x4.splat(-2.1219444e-4)));
  // Estrin's scheme: pairs of terms side by side, because the chain of dependent operations bounds the speed.
  const r2 = f32x4.mul(r, r);
  const low = f32x4.add(f32x4.mul(r, f32x4.splat(1.6666665459e-1)), f32x4.splat(5.0000001201e-1));
  const middle = f32x4.add(f32x4.mul(r, f32x4.splat(8.3334519073e-3)), f32x4.splat(4.1665795894e-2));
  const high = f32x4.add(f32x4.mul(r, f32x4.splat(1.98756915e-4)), f32x4.splat(1.3981999507e-3));
  const upper = f32x4.add(f32x4.mul(f32x4.add(f32x4.mul(high, r2), middle), r2), low);
  const p = f32x4.add(f32x4.mul(upper, r2), f32x4.add(r, f32x4.splat(1)));
  const scaled = i32x4.add(p, i32x4.shl(rounded, 23));
  return v128.andnot(scaled, f32x4.lt(x, f32x4.splat(-87.3)));
}

/** The same function for one number, with the same bits. */
export function exp1(x: f32): f32 {
  return f32x4.extract_lane(exp4(f32x4.splat(x)), 0);
}
