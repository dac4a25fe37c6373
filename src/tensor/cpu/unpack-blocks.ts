import { type BlockFormat, blockShape } from '../blocks.ts';
import { halfToFloat } from '../half.ts';

/** One block at byte `at` → its weights at `to`, which may end before the block does. */
type Unpack = (bytes: DataView, at: number, to: Float32Array) => void;

/** Rows of blocks as float32 [rows, cols]; each weight is rounded once. */
export function unpackBlocks(format: BlockFormat, rows: number, cols: number, blocks: Uint32Array): Float32Array {
  const { length, words } = blockShape(format);
  const unpack = UNPACK[format];
  const bytes = new DataView(blocks.buffer, blocks.byteOffset, blocks.byteLength);
  const out = new Float32Array(rows * cols);
  let at = 0;
  for (let row = 0; row < rows; row++) {
    const end = (row + 1) * cols;
    for (let col = row * cols; col < end; col += length, at += 4 * words) {
      unpack(bytes, at, out.subarray(col, Math.min(end, col + length)));
    }
  }
  return out;
}

const UNPACK: Readonly<Record<BlockFormat, Unpack>> = {
  q8_0(bytes, at, to) {
    const scale = halfToFloat(bytes.getUint16(at, true));
    for (let i = 0; i < to.length; i++) to[i] = scale * bytes.getInt8(at + 2 + i);
  },
  q4_1(bytes, at, to) {
    const scale = halfToFloat(bytes.getUint16(at, true));
    const least = halfToFloat(bytes.getUint16(at + 2, true));
    for (let i = 0; i < to.length; i++) {
      const byte = bytes.getUint8(at + 4 + (i & 15));
      to[i] = scale * (i < 16 ? byte & 15 : byte >> 4) + least;
    }
  },
  q4_k(bytes, at, to) {
    const scale = halfToFloat(bytes.getUint16(at, true));
    const least = halfToFloat(bytes.getUint16(at + 2, true));
    for (let i = 0; i < to.length; i++) {
      const run = i >> 5;
      const byte = bytes.getUint8(at + 16 + 32 * (run >> 1) + (i & 31));
      const code = (run & 1) === 0 ? byte & 15 : byte >> 4;
      to[i] = scale * factorOf(bytes, at + 4, run) * code - least * shiftOf(bytes, at + 4, run);
    }
  },
  q6_k(bytes, at, to) {
    const scale = halfToFloat(bytes.getUint16(at + 208, true));
    for (let i = 0; i < to.length; i++) {
      const half = i >> 7;
      const group = (i >> 5) & 3;
      const low = (bytes.getUint8(at + 64 * half + 32 * (group & 1) + (i & 31)) >> (4 * (group >> 1))) & 15;
      const high = (bytes.getUint8(at + 128 + 32 * half + (i & 31)) >> (2 * group)) & 3;
      to[i] = scale * bytes.getInt8(at + 192 + (i >> 4)) * ((low | (high << 4)) - 32);
    }
  },
};

/** Runs 0–3 keep their 6 bits in a byte; runs 4–7 have 4 bits in the last bytes and 2 in what the first leave over. */
function factorOf(bytes: DataView, packed: number, run: number): number {
  if (run < 4) return bytes.getUint8(packed + run) & 63;
  return (bytes.getUint8(packed + run + 4) & 15) | ((bytes.getUint8(packed + run - 4) >> 6) << 4);
}

function shiftOf(bytes: DataView, packed: number, run: number): number {
  if (run < 4) return bytes.getUint8(packed + run + 4) & 63;
  return (bytes.getUint8(packed + run + 4) >> 4) | ((bytes.getUint8(packed + run) >> 6) << 4);
}
