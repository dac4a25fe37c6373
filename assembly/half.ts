/** 4 halves in the low 16 bits of each lane → float32. Scaling by 2^112 moves the exponent, subnormals included; infinities and NaN stay. */
export function widen16(halves: v128): v128 {
  const sign = i32x4.shl(v128.and(halves, i32x4.splat(0x8000)), 16);
  const size = i32x4.shl(v128.and(halves, i32x4.splat(0x7fff)), 13);
  const special = v128.and(i32x4.ge_s(size, i32x4.splat(0x0f800000)), i32x4.splat(0x7f800000));
  return v128.or(v128.or(f32x4.mul(size, f32x4.splat(5.192296858534828e33)), sign), special);
}
