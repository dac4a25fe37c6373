/**
 * e^x for four numbers at once: x = n·ln 2 + r with |r| ≤ ln 2 / 2, a degree-6 polynomial for e^r, and 2^n put straight
 * into the exponent bits (the method and coefficients of Cephes' expf, S. Moshier). Within 2 units in the last place.
 * Below −87.3 the result is 0, above 88.3 it stays at e^88.3; NaN stays NaN.
 */
export function exp4(x: v128): v128 {
  const clamped = f32x4.min(x, f32x4.splat(88.3));
  const n = f32x4.nearest(f32x4.mul(clamped, f32x4.splat(<f32>Math.LOG2E)));
  let r = f32x4.sub(clamped, f32x4.mul(n, f32x4.splat(0.693359375)));
  r = f32x4.sub(r, f32x4.mul(n, f32x4.splat(-2.1219444e-4)));
  let p = f32x4.splat(1.98756915e-4);
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(1.3981999507e-3));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(8.3334519073e-3));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(4.1665795894e-2));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(1.6666665459e-1));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(5.0000001201e-1));
  p = f32x4.add(f32x4.add(f32x4.mul(p, f32x4.mul(r, r)), r), f32x4.splat(1));
  const power = i32x4.shl(i32x4.add(i32x4.trunc_sat_f32x4_s(n), i32x4.splat(127)), 23);
  return v128.andnot(f32x4.mul(p, power), f32x4.lt(x, f32x4.splat(-87.3)));
}

/** The same function for one number, with the same bits. */
export function exp1(x: f32): f32 {
  return f32x4.extract_lane(exp4(f32x4.splat(x)), 0);
}
