import type { MatrixSource } from '../tensor/backend.ts';
import { unpackMatrix } from '../tensor/cpu/unpack.ts';
import { toBrain, toHalf } from './half.ts';

export const GROUP = 32;
/** Codes run from 0 to 14; 7 stands for zero. */
const ZERO_CODE = 7;

export type ScaleFormat = 'f16' | 'bf16';
export type Q4Source = Extract<MatrixSource, { format: 'q4' }>;

/**
 * MLC's int4 group quantisation of a matrix [N, K]: groups of 32 along K, scale = max|w|/7, code = round(w/scale) + 7 in
 * 0…14, low nibble first. The scale is rounded to the format it will be stored in before the codes are chosen, so codes
 * fit the scale that a reader sees. A last group that is not full is padded with zeros.
 */
export function quantise4(values: Float32Array, rows: number, cols: number, scaleFormat: ScaleFormat): Q4Source {
  const groups = Math.ceil(cols / GROUP);
  const exact = new Float32Array(rows * groups);
  for (let n = 0; n < rows; n++) {
    for (let k = 0; k < cols; k++) {
      const at = n * groups + Math.floor(k / GROUP);
      exact[at] = Math.max(exact[at], Math.abs(values[n * cols + k]));
    }
  }
  const scales = roundScales(
    exact.map((largest) => largest / 7),
    scaleFormat,
  );
  const codes = new Uint32Array(rows * groups * 4);
  for (let n = 0; n < rows; n++) {
    for (let k = 0; k < groups * GROUP; k++) {
      const scale = scales[n * groups + Math.floor(k / GROUP)];
      const code = k < cols && scale > 0 ? nearestCode(values[n * cols + k] / scale) : ZERO_CODE;
      codes[n * groups * 4 + (k >> 3)] |= code << (4 * (k & 7));
    }
  }
  return { rows, cols, format: 'q4', codes, scales };
}

function nearestCode(ratio: number): number {
  return Math.min(14, Math.max(0, Math.round(ratio + ZERO_CODE)));
}

/** Scales as float32 after a round trip through the format they are stored in. */
export function roundScales(scales: Float32Array, format: ScaleFormat): Float32Array {
  const data = format === 'f16' ? toHalf(scales) : toBrain(scales);
  return unpackMatrix({ rows: 1, cols: scales.length, format, data });
}
