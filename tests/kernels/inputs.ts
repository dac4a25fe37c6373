import { Random } from '../../src/core/random.ts';
import type { MatrixSource, PlainSource } from '../../src/tensor/backend.ts';
import { isBlockFormat } from '../../src/tensor/blocks.ts';
import { blockValues, randomBlocks } from './blocks.ts';

/** `count` standard normal numbers times `scale`, rounded to float32 so that reference and kernel see the same input. */
export function normals(seed: string, count: number, scale = 1): Float32Array {
  const random = new Random(1, seed);
  const out = new Float32Array(count);
  for (let i = 0; i < count; i++) out[i] = random.normal() * scale;
  return out;
}

/** `count` whole numbers below `limit`. */
export function indices(seed: string, count: number, limit: number): Uint32Array {
  const random = new Random(2, seed);
  return Uint32Array.from({ length: count }, () => random.int(limit));
}

export type Format = MatrixSource['format'];

/** A random [rows, cols] matrix in a storage format, and the very numbers it stands for. */
export function randomMatrix(
  seed: string,
  rows: number,
  cols: number,
  format: Format,
  scale = 1,
): { source: MatrixSource; values: Float64Array } {
  const random = new Random(3, seed);
  const values = new Float64Array(rows * cols);
  if (format === 'f32') {
    const data = normals(seed, rows * cols, scale);
    return { source: { rows, cols, format, data }, values: Float64Array.from(data) };
  }
  if (format === 'q4') {
    const groups = Math.ceil(cols / 32);
    const codes = Uint32Array.from({ length: rows * groups * 4 }, () => random.uint32());
    const scales = Float32Array.from({ length: rows * groups }, () => (random.normal() * scale) / 4);
    for (let n = 0; n < rows; n++) {
      for (let k = 0; k < cols; k++) {
        const code = (codes[n * groups * 4 + Math.floor(k / 8)]! >>> (4 * (k % 8))) & 15;
        values[n * cols + k] = (code - 7) * scales[n * groups + Math.floor(k / 32)]!;
      }
    }
    return { source: { rows, cols, format, codes, scales }, values };
  }
  if (format === 'stacked') return randomStack(seed, rows, cols, scale);
  if (isBlockFormat(format)) {
    const blocks = randomBlocks(seed, rows, cols, format, scale);
    return { source: { rows, cols, format, blocks }, values: blockValues(format, rows, cols, blocks) };
  }
  // Sign, exponent and fraction drawn apart: some 16-bit patterns of ordinary size, zeros and subnormals.
  const data = new Uint16Array(rows * cols);
  const [fractionBits, bias] = format === 'f16' ? [10, 15] : [7, 127];
  for (let i = 0; i < data.length; i++) {
    const sign = random.int(2);
    const fraction = random.int(2 ** fractionBits);
    const subnormal = format === 'f16' && random.chance(0.05);
    const exponent = subnormal ? 0 : bias - random.int(6);
    data[i] = (sign << 15) | (exponent << fractionBits) | fraction;
    const size = subnormal ? fraction * 2 ** (1 - bias - fractionBits) : (1 + fraction / 2 ** fractionBits) * 2 ** (exponent - bias);
    values[i] = sign ? -size : size;
  }
  return { source: { rows, cols, format, data }, values };
}

/** Parts of different formats one below the other: the first of a height that no panel or workgroup divides. */
function randomStack(seed: string, rows: number, cols: number, scale: number): { source: MatrixSource; values: Float64Array } {
  const formats = ['q4_k', 'q6_k', 'f32', 'q4'] as const;
  const heights = formats.map((_, i) => (i === 3 ? rows - 3 * Math.floor(rows / 4) : Math.floor(rows / 4)));
  const parts = formats.map((format, i) => randomMatrix(`${seed} ${format}`, heights[i]!, cols, format, scale));
  const values = Float64Array.from(parts.flatMap((part) => [...part.values]));
  return { source: { rows, cols, format: 'stacked', parts: parts.map(({ source }) => source as PlainSource) }, values };
}
