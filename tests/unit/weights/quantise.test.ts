import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unpackMatrix } from '../../../src/tensor/cpu/unpack.ts';
import { quantise4 } from '../../../src/transformer/quantise.ts';

const matrix = fc.tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 70 })).chain(([rows, cols]) =>
  fc.record({
    rows: fc.constant(rows),
    cols: fc.constant(cols),
    values: fc.array(fc.float({ min: -100, max: 100, noNaN: true }), { minLength: rows * cols, maxLength: rows * cols }),
  }),
);

describe('int4 group quantisation', () => {
  it('is off by at most half a step of its own group, and uses codes 0 to 14 only', () => {
    fc.assert(
      fc.property(matrix, fc.constantFrom('f16' as const, 'bf16' as const), ({ rows, cols, values }, format) => {
        const source = quantise4(Float32Array.from(values), rows, cols, format);
        const back = unpackMatrix(source);
        const groups = Math.ceil(cols / 32);
        expect([source.codes.length, source.scales.length]).toEqual([rows * groups * 4, rows * groups]);
        for (let n = 0; n < rows; n++) {
          for (let k = 0; k < cols; k++) {
            const scale = source.scales[n * groups + (k >> 5)];
            // 1% for the rounding of the scale itself at the largest codes, 1e-6 for scales that float16 rounds to zero.
            expect(Math.abs(back[n * cols + k] - values[n * cols + k])).toBeLessThanOrEqual(scale * 0.53 + 1e-6);
          }
        }
        for (const word of source.codes) for (let shift = 0; shift < 32; shift += 4) expect((word >>> shift) & 15).toBeLessThan(15);
      }),
    );
  });

  it('lays codes out low nibble first', () => {
    const source = quantise4(Float32Array.of(7, -7, 0, 1, 2, 3, 4, 5, 6), 1, 9, 'f16');
    expect(source.scales).toEqual(Float32Array.of(1));
    expect(source.codes[0].toString(16)).toBe('cba9870e');
    expect(source.codes[1].toString(16)).toBe('7777777d');
  });

  it('gives zeros for zeros', () => {
    const source = quantise4(new Float32Array(64), 2, 32, 'f16');
    expect(unpackMatrix(source)).toEqual(new Float32Array(64));
  });
});
