import { NacreError } from '../../core/errors.ts';
import type { PlainSource } from '../../tensor/backend.ts';
import { halfToFloat } from '../../tensor/half.ts';
import { copyBytes } from '../bytes.ts';
import { firstNotFinite16, toHalf } from '../half.ts';
import { type GgufType, storedBytes, typeShape } from './types.ts';

/** Rows of weights as the file stores them. */
export interface StoredRows {
  readonly type: GgufType;
  readonly rows: number;
  readonly cols: number;
  readonly bytes: Uint8Array;
}

/** Where the float16 scales of a block lie. */
const SCALES: Readonly<Record<'q4_0' | 'q4_1' | 'q8_0' | 'q4_k' | 'q6_k', readonly number[]>> = {
  q4_0: [0],
  q4_1: [0, 2],
  q8_0: [0],
  q4_k: [0, 2],
  q6_k: [208],
};

/**
 * Stored rows as a matrix that keeps their numbers and their size: blocks are filled up to whole words, and nothing is
 * unpacked. Q4_0, scale·(code − 8), becomes Q4_1 with the least value −8·scale, which float16 holds exactly.
 * @throws {NacreError} `not-finite` or `beyond-float16` naming the tensor and the element
 */
export function matrixOf(file: string, name: string, { type, rows, cols, bytes }: StoredRows): PlainSource {
  const shape = { rows, cols };
  switch (type) {
    case 'f32': {
      const data = new Float32Array(copyBytes(bytes, 0));
      refuse(
        file,
        name,
        data.findIndex((value) => !Number.isFinite(value)),
      );
      return { ...shape, format: 'f32', data };
    }
    case 'f16':
    case 'bf16': {
      const data = new Uint16Array(copyBytes(bytes, 0));
      refuse(file, name, firstNotFinite16(data, type));
      return { ...shape, format: type, data };
    }
    default: {
      refuseScales(file, name, type, bytes);
      if (type === 'q4_0') return { ...shape, format: 'q4_1', blocks: fromQ40(file, name, bytes) };
      return { ...shape, format: type, blocks: wholeWords(bytes, typeShape(type).bytes) };
    }
  }
}

/** Part of a tensor's rows in another order: row i of the result is row `order(i)`. */
export function reordered(stored: StoredRows, order: (row: number) => number): StoredRows {
  const { type, rows, cols, bytes } = stored;
  const rowBytes = storedBytes(type, 1, cols);
  const out = new Uint8Array(bytes.length);
  for (let row = 0; row < rows; row++) {
    const from = order(row) * rowBytes;
    out.set(bytes.subarray(from, from + rowBytes), row * rowBytes);
  }
  return { ...stored, bytes: out };
}

/** Rows one below the other; neighbours of one type become one. */
export function joined(parts: readonly StoredRows[]): StoredRows[] {
  const out: StoredRows[] = [];
  for (const part of parts) {
    const last = out.at(-1);
    if (last?.type !== part.type) {
      out.push(part);
      continue;
    }
    const bytes = new Uint8Array(last.bytes.length + part.bytes.length);
    bytes.set(last.bytes);
    bytes.set(part.bytes, last.bytes.length);
    out[out.length - 1] = { ...last, rows: last.rows + part.rows, bytes };
  }
  return out;
}

function wholeWords(bytes: Uint8Array, blockBytes: number): Uint32Array {
  if (blockBytes % 4 === 0) return new Uint32Array(copyBytes(bytes, 0));
  const padded = Math.ceil(blockBytes / 4) * 4;
  const count = bytes.length / blockBytes;
  const out = new Uint8Array(count * padded);
  for (let i = 0; i < count; i++) out.set(bytes.subarray(i * blockBytes, (i + 1) * blockBytes), i * padded);
  return new Uint32Array(out.buffer);
}

function fromQ40(file: string, name: string, bytes: Uint8Array): Uint32Array {
  const count = bytes.length / 18;
  const out = new Uint8Array(count * 20);
  const view = new DataView(out.buffer);
  const from = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let i = 0; i < count; i++) {
    const bits = from.getUint16(18 * i, true);
    const least = toHalf(Float32Array.of(-8 * halfToFloat(bits)))[0]!;
    if ((least & 0x7c00) === 0x7c00) {
      throw new NacreError(
        'beyond-float16',
        `${file}: tensor ${name} has the scale ${halfToFloat(bits)} at element ${32 * i}, beyond what a Q4_0 weight can be here.`,
        'No usable model has such weights: use another copy.',
      );
    }
    view.setUint16(20 * i, bits, true);
    view.setUint16(20 * i + 2, least, true);
    out.set(bytes.subarray(18 * i + 2, 18 * i + 18), 20 * i + 4);
  }
  return new Uint32Array(out.buffer);
}

function refuseScales(file: string, name: string, type: keyof typeof SCALES, bytes: Uint8Array): void {
  const shape = typeShape(type);
  const offsets = SCALES[type];
  for (let at = 0, block = 0; at < bytes.length; at += shape.bytes, block++) {
    for (const offset of offsets) if ((bytes[at + offset + 1]! & 0x7c) === 0x7c) refuse(file, name, block * shape.length);
  }
}

function refuse(file: string, name: string, element: number): void {
  if (element < 0) return;
  throw new NacreError(
    'not-finite',
    `${file}: tensor ${name} holds NaN or infinity at element ${element}.`,
    'These weights are broken, perhaps by a bad conversion: use another copy.',
  );
}
