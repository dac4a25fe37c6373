/**
 * float32 to the two 16-bit formats, rounding to nearest, ties to even (IEEE 754). Values beyond the largest finite
 * float16 become infinities; callers that store weights check for them.
 */

const LARGEST_HALF = 65504;

/** The float16 bits of float32 bits. */
function halfBits(bits: number): number {
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (magnitude >= 0x7f800000) return sign | (magnitude > 0x7f800000 ? 0x7e00 : 0x7c00);
  // 65520 and above round past the largest finite value.
  if (magnitude >= 0x477ff000) return sign | 0x7c00;
  if (magnitude >= 0x38800000) return sign | ((magnitude + 0xfff + ((magnitude >>> 13) & 1) - 0x38000000) >>> 13);
  // Subnormal: count units of 2^-24. Up to 2^-25 the nearest (even) count is zero.
  if (magnitude <= 0x33000000) return sign;
  const mantissa = (magnitude & 0x7fffff) | 0x800000;
  const shift = 126 - (magnitude >>> 23);
  const units = mantissa >>> shift;
  const rest = mantissa & ((1 << shift) - 1);
  const middle = 1 << (shift - 1);
  return sign | (rest > middle || (rest === middle && (units & 1) === 1) ? units + 1 : units);
}

/** The bfloat16 bits of float32 bits. */
function brainBits(bits: number): number {
  // A NaN whose payload lies in the lower half must not become an infinity.
  if ((bits & 0x7fffffff) > 0x7f800000) return (bits >>> 16) | 0x40;
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}

export function toHalf(values: Float32Array): Uint16Array {
  return convert(values, halfBits);
}

export function toBrain(values: Float32Array): Uint16Array {
  return convert(values, brainBits);
}

function convert(values: Float32Array, rule: (bits: number) => number): Uint16Array {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const out = new Uint16Array(values.length);
  for (let i = 0; i < out.length; i++) out[i] = rule(bits[i]);
  return out;
}

/** Index of the first element that is not a finite float16 after rounding, or −1. */
export function firstBeyondHalf(values: Float32Array): number {
  // 65504 + half a unit (16) rounds to even, which is infinity.
  return values.findIndex((value) => !(Math.abs(value) < LARGEST_HALF + 16));
}

/** Index of the first infinity or NaN among float16 or bfloat16 bits, or −1. */
export function firstNotFinite16(bits: Uint16Array, format: 'f16' | 'bf16'): number {
  const exponent = format === 'f16' ? 0x7c00 : 0x7f80;
  for (let i = 0; i < bits.length; i++) if ((bits[i] & exponent) === exponent) return i;
  return -1;
}
