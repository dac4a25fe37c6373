import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { halfToFloat } from '../../../src/tensor/half.ts';
import { firstBeyondHalf, firstNotFinite16, toBrain, toHalf } from '../../../src/transformer/half.ts';

const one = (value: number): number => toHalf(Float32Array.of(value))[0];

describe('toHalf', () => {
  it('returns every float16 unchanged', () => {
    const all = Uint16Array.from({ length: 65536 }, (_, bits) => bits);
    const back = toHalf(Float32Array.from(all, halfToFloat));
    for (const bits of all) {
      const isNaN16 = (bits & 0x7c00) === 0x7c00 && (bits & 0x3ff) !== 0;
      if (isNaN16) expect(halfToFloat(back[bits])).toBeNaN();
      else if (back[bits] !== bits) expect(back[bits]).toBe(bits);
    }
  });

  it('rounds the middle between each two neighbours to the even one, and all else to the nearer one', () => {
    for (let bits = 0; bits < 0x7bff; bits++) {
      const low = halfToFloat(bits);
      const high = halfToFloat(bits + 1);
      const middle = (low + high) / 2;
      const even = bits % 2 === 0 ? bits : bits + 1;
      const results = toHalf(Float32Array.of(middle, -middle, below(middle), above(middle)));
      if (results[0] !== even || results[1] !== (even | 0x8000) || results[2] !== bits || results[3] !== bits + 1) {
        expect([bits, ...results]).toEqual([bits, even, even | 0x8000, bits, bits + 1]);
      }
    }
  });

  it('overflows to infinity from 65520 on and underflows to signed zero', () => {
    expect([one(65519.996), one(65520), one(1e30), one(-1e30)]).toEqual([0x7bff, 0x7c00, 0x7c00, 0xfc00]);
    expect([one(2 ** -25), one(-(2 ** -26)), one(1e-45), one(-0)]).toEqual([0, 0x8000, 0, 0x8000]);
    expect([one(Number.POSITIVE_INFINITY), one(Number.NaN) & 0x7e00]).toEqual([0x7c00, 0x7e00]);
  });
});

describe('toBrain', () => {
  it('is within half a unit, ties to even, for any finite float', () => {
    fc.assert(
      fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const bits = new Uint32Array(Float32Array.of(value).buffer)[0];
        const rest = bits & 0xffff;
        const low = bits >>> 16;
        const up = rest > 0x8000 || (rest === 0x8000 && (low & 1) === 1);
        expect(toBrain(Float32Array.of(value))[0]).toBe(up ? low + 1 : low);
      }),
    );
  });

  it('keeps NaN a NaN even when its payload is low', () => {
    const sneaky = new Float32Array(Uint32Array.of(0x7f800001).buffer);
    expect(firstNotFinite16(toBrain(sneaky), 'bf16')).toBe(0);
    expect(toBrain(sneaky)[0] & 0x7f).not.toBe(0);
  });
});

describe('searches', () => {
  it('find what float16 cannot hold and what is not finite', () => {
    expect(firstBeyondHalf(Float32Array.of(0, 65519, -65520))).toBe(2);
    expect(firstBeyondHalf(Float32Array.of(1, Number.NaN))).toBe(1);
    expect(firstBeyondHalf(Float32Array.of(1, 2))).toBe(-1);
    expect(firstNotFinite16(toHalf(Float32Array.of(1, Number.NEGATIVE_INFINITY)), 'f16')).toBe(1);
    expect(firstNotFinite16(toHalf(Float32Array.of(1, 65504)), 'f16')).toBe(-1);
  });
});

/** The next float32 towards zero or away from it, for positive values. */
function below(value: number): number {
  return step(value, -1);
}
function above(value: number): number {
  return step(value, 1);
}
function step(value: number, by: number): number {
  const bits = new Uint32Array(Float32Array.of(value).buffer);
  bits[0] += by;
  return new Float32Array(bits.buffer)[0];
}
