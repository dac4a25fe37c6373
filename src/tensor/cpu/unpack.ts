import type { MatrixSource, PlainSource } from '../backend.ts';
import { halfToFloat } from '../half.ts';
import { unpackBlocks } from './unpack-blocks.ts';

/** A matrix source as row-major float32 [rows, cols]. */
export function unpackMatrix(source: MatrixSource): Float32Array {
  switch (source.format) {
    case 'f32':
      return source.data;
    case 'bf16':
      return unpackBf16(source.data);
    case 'f16':
      return unpackF16(source.data);
    case 'q4':
      return unpackQ4(source.rows, source.cols, source.codes, source.scales);
    case 'stacked':
      return unpackStack(source.rows * source.cols, source.parts);
    default:
      return unpackBlocks(source.format, source.rows, source.cols, source.blocks);
  }
}

function unpackStack(length: number, parts: readonly PlainSource[]): Float32Array {
  const out = new Float32Array(length);
  let at = 0;
  for (const part of parts) {
    out.set(unpackMatrix(part), at);
    at += part.rows * part.cols;
  }
  return out;
}

/** bfloat16 is the upper half of a float32. */
function unpackBf16(data: Uint16Array): Float32Array {
  const bits = new Uint32Array(data.length);
  for (let i = 0; i < data.length; i++) bits[i] = data[i]! << 16;
  return new Float32Array(bits.buffer);
}

function unpackF16(data: Uint16Array): Float32Array {
  const out = new Float32Array(data.length);
  for (let i = 0; i < data.length; i++) out[i] = halfToFloat(data[i]!);
  return out;
}

/** Group quantisation: 32 codes a group along K, eight 4-bit codes a word, low nibble first, value (code − 7)·scale. */
function unpackQ4(rows: number, cols: number, codes: Uint32Array, scales: Float32Array): Float32Array {
  const out = new Float32Array(rows * cols);
  const groups = Math.ceil(cols / 32);
  for (let n = 0; n < rows; n++) {
    for (let k = 0; k < cols; k++) {
      const word = codes[n * groups * 4 + (k >> 3)]!;
      const code = (word >>> ((k & 7) * 4)) & 15;
      out[n * cols + k] = (code - 7) * scales[n * groups + (k >> 5)]!;
    }
  }
  return out;
}
