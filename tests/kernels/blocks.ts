import { Random } from '../../src/core/random.ts';
import { type BlockFormat, blockShape, rowWords } from '../../src/tensor/blocks.ts';

/** Bytes of a block without its filling, and where its float16 numbers lie. */
const LAYOUT: Readonly<Record<BlockFormat, { readonly bytes: number; readonly halves: readonly number[]; readonly size: number }>> = {
  q8_0: { bytes: 34, halves: [0], size: 1 / 64 },
  q4_1: { bytes: 20, halves: [0, 2], size: 1 / 8 },
  q4_k: { bytes: 144, halves: [0, 2], size: 1 / 256 },
  q6_k: { bytes: 210, halves: [208], size: 1 / 1024 },
};

/** float16 bits of about the size `scale`, any sign, now and then subnormal. */
function randomHalf(random: Random, scale: number): number {
  if (random.chance(0.05)) return random.int(1024);
  const exponent = Math.max(1, Math.min(30, Math.round(Math.log2(scale)) + 15 - random.int(3)));
  return (random.int(2) << 15) | (exponent << 10) | random.int(1024);
}

/** Blocks of random bytes whose weights are of about the size `scale`; the filling is random too. */
export function randomBlocks(seed: string, rows: number, cols: number, format: BlockFormat, scale: number): Uint32Array {
  const random = new Random(4, seed);
  const words = Uint32Array.from({ length: rows * rowWords(format, cols) }, () => random.uint32());
  const view = new DataView(words.buffer);
  const { halves, size } = LAYOUT[format];
  for (let at = 0; at < view.byteLength; at += 4 * blockShape(format).words) {
    for (const half of halves) view.setUint16(at + half, randomHalf(random, scale * size), true);
  }
  return words;
}

/** What the blocks stand for, in float64: written after the definitions of the formats, one weight at a time. */
export function blockValues(format: BlockFormat, rows: number, cols: number, blocks: Uint32Array): Float64Array {
  const { length, words } = blockShape(format);
  const perRow = rowWords(format, cols);
  const out = new Float64Array(rows * cols);
  for (let row = 0; row < rows; row++) {
    for (let col = 0; col < cols; col++) {
      const start = 4 * (row * perRow + Math.floor(col / length) * words);
      out[row * cols + col] = weight(format, new Uint8Array(blocks.buffer, blocks.byteOffset + start, LAYOUT[format].bytes), col % length);
    }
  }
  return out;
}

export function halfValue(low: number, high: number): number {
  const bits = low + 256 * high;
  const exponent = Math.floor(bits / 1024) % 32;
  const size = exponent === 0 ? (bits % 1024) / 1024 / 2 ** 14 : (1 + (bits % 1024) / 1024) * 2 ** (exponent - 15);
  return bits >= 32768 ? -size : size;
}

const nibble = (byte: number, upper: boolean): number => (upper ? Math.floor(byte / 16) : byte % 16);
const signed = (byte: number): number => (byte > 127 ? byte - 256 : byte);

/** Weight i of a block, from its bytes as GGML defines them. */
export function weight(format: BlockFormat, b: Uint8Array, i: number): number {
  switch (format) {
    case 'q8_0':
      return halfValue(b[0]!, b[1]!) * signed(b[2 + i]!);
    case 'q4_1':
      return halfValue(b[0]!, b[1]!) * nibble(b[4 + (i % 16)]!, i >= 16) + halfValue(b[2]!, b[3]!);
    case 'q4_k': {
      const run = Math.floor(i / 32);
      // Twelve bytes: factors 0–3 with the upper bits of factors 4–7, shifts 0–3 with those of shifts 4–7, then both lower nibbles.
      const s = b.subarray(4, 16);
      const factor = run < 4 ? s[run]! % 64 : (s[run + 4]! % 16) + 16 * Math.floor(s[run - 4]! / 64);
      const shift = run < 4 ? s[run + 4]! % 64 : Math.floor(s[run + 4]! / 16) + 16 * Math.floor(s[run]! / 64);
      const code = nibble(b[16 + 32 * Math.floor(run / 2) + (i % 32)]!, run % 2 === 1);
      return halfValue(b[0]!, b[1]!) * factor * code - halfValue(b[2]!, b[3]!) * shift;
    }
    case 'q6_k': {
      const half = Math.floor(i / 128);
      const group = Math.floor(i / 32) % 4;
      const low = nibble(b[64 * half + 32 * (group % 2) + (i % 32)]!, group >= 2);
      const high = Math.floor(b[128 + 32 * half + (i % 32)]! / 4 ** group) % 4;
      return halfValue(b[208]!, b[209]!) * signed(b[192 + Math.floor(i / 16)]!) * (low + 16 * high - 32);
    }
  }
}
