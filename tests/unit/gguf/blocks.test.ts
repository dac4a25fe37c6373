import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { blockShape } from '../../../src/tensor/blocks.ts';
import { createCpuBackend } from '../../../src/tensor/cpu/backend.ts';
import { instantiateKernels, type Kernels } from '../../../src/tensor/cpu/kernels.ts';
import { createMatrix } from '../../../src/tensor/cpu/matrix.ts';
import { Memory } from '../../../src/tensor/cpu/memory.ts';
import { unpackMatrix } from '../../../src/tensor/cpu/unpack.ts';
import { joined, matrixOf, reordered, type StoredRows } from '../../../src/transformer/gguf/blocks.ts';
import { type GgufType, storedBytes, typeShape } from '../../../src/transformer/gguf/types.ts';
import { halfValue, weight } from '../../kernels/blocks.ts';

/** Where a block's float16 numbers lie; kept below 2^12 so that no weight leaves float16's range. */
const HALVES: Partial<Record<GgufType, readonly number[]>> = { q4_0: [0], q4_1: [0, 2], q8_0: [0], q4_k: [0, 2], q6_k: [208] };
const TYPES = ['f32', 'f16', 'bf16', 'q4_0', 'q4_1', 'q8_0', 'q4_k', 'q6_k'] as const;
const BLOCKS = ['q4_0', 'q4_1', 'q8_0', 'q4_k', 'q6_k'] as const;

/** Rows of any bytes that are finite weights. */
function storedRows(type: GgufType): fc.Arbitrary<StoredRows> {
  const { length, bytes: blockBytes } = typeShape(type);
  return fc
    .record({ rows: fc.integer({ min: 1, max: 9 }), blocks: fc.integer({ min: 1, max: length === 1 ? 40 : 2 }) })
    .chain(({ rows, blocks }) =>
      fc.uint8Array({ minLength: rows * blocks * blockBytes, maxLength: rows * blocks * blockBytes }).map((raw) => {
        const bytes = Uint8Array.from(raw);
        for (let at = 0; at < bytes.length; at += blockBytes) {
          for (const half of HALVES[type] ?? []) bytes[at + half + 1]! &= 0xeb;
          if (type === 'f16') bytes[at + 1]! &= 0xbf;
          if (type === 'f32') bytes[at + 3]! &= 0xbf;
          if (type === 'bf16') bytes[at + 1]! &= 0xbf;
        }
        return { type, rows, cols: blocks * length, bytes };
      }),
    );
}

/** What the bytes stand for, in float64, one weight at a time. */
function plainValues({ type, rows, cols, bytes }: StoredRows): number[] {
  const { length, bytes: blockBytes } = typeShape(type);
  return Array.from({ length: rows * cols }, (_, i) => {
    const block = bytes.subarray(Math.floor(i / length) * blockBytes, (Math.floor(i / length) + 1) * blockBytes);
    const at = i % length;
    switch (type) {
      case 'f32':
        return new DataView(block.buffer, block.byteOffset).getFloat32(0, true);
      case 'f16':
        return halfValue(block[0]!, block[1]!);
      case 'bf16':
        return new DataView(Uint8Array.of(0, 0, block[0]!, block[1]!).buffer).getFloat32(0, true);
      case 'q4_0':
        return halfValue(block[0]!, block[1]!) * ((at < 16 ? block[2 + at]! % 16 : Math.floor(block[2 + at - 16]! / 16)) - 8);
      default:
        return weight(type, block, at);
    }
  });
}

describe.each(TYPES)('%s', (type) => {
  it('stands for what a plain float64 reader finds, rounded once', () => {
    fc.assert(
      fc.property(storedRows(type), (stored) => {
        const got = unpackMatrix(matrixOf('m', 't', stored));
        // −0 and 0 are one weight.
        expect([...got].map((x) => x + 0)).toEqual(plainValues(stored).map((x) => Math.fround(x) + 0));
      }),
      { numRuns: 60 },
    );
  });

  it('gives the same numbers on the device, in a product and in a look-up', async () => {
    const backend = await createCpuBackend();
    await fc.assert(
      fc.asyncProperty(storedRows(type), async (stored) => {
        const { rows, cols } = stored;
        const source = matrixOf('m', 't', stored);
        const wanted = [...unpackMatrix(source)].map((x) => x + 0);
        const table = backend.matrix(source, 't');
        const looked = backend.create('f32', rows * cols, 'rows');
        backend.embed({
          out: looked,
          table,
          ids: backend.upload(
            Uint32Array.from({ length: rows }, (_, i) => i),
            'ids',
          ),
          rows,
          scale: 1,
        });
        expect([...(await backend.read(looked))].map((x) => x + 0)).toEqual(wanted);
        // Products with unit vectors pick single weights: one row at a time (multiplied in registers) and several together.
        const picked = [0, cols >> 1, cols - 1];
        for (const group of [...picked.map((k) => [k]), picked]) {
          const x = new Float32Array(group.length * cols);
          for (const [r, k] of group.entries()) x[r * cols + k] = 1;
          const out = backend.create('f32', group.length * rows, 'out');
          backend.linear({ out, x: backend.upload(x, 'x'), w: table, rows: group.length, accumulate: false });
          const columns = group.flatMap((k) => Array.from({ length: rows }, (_, n) => wanted[n * cols + k]!));
          expect([...(await backend.read(out))].map((value) => value + 0)).toEqual(columns);
        }
        backend.freeMatrix(table);
      }),
      { numRuns: 20 },
    );
    backend.destroy();
  });
});

describe('memory', () => {
  let kernels: Kernels;
  const memory = new Memory();
  beforeAll(async () => {
    kernels = await instantiateKernels(memory.wasm);
  });

  it.each(BLOCKS)('of %s is at most 1.15 times what the file takes, on the host and on the device', (type) => {
    const [rows, cols] = [512, 2048];
    const bytes = new Uint8Array(storedBytes(type, rows, cols));
    const source = matrixOf('m', 't', { type, rows, cols, bytes });
    if (!('blocks' in source)) throw new Error('the format was not kept');
    expect(source.blocks.byteLength / bytes.length).toBeLessThan(1.15);
    expect(source.blocks.length).toBe(((rows * cols) / blockShape(source.format).length) * blockShape(source.format).words);
    const before = memory.used;
    createMatrix(memory, kernels, source, 't');
    expect((memory.used - before) / bytes.length).toBeLessThan(1.15);
  });
});

describe('rows', () => {
  const rows = (type: GgufType, count: number, first: number): StoredRows => {
    const size = storedBytes(type, 1, 32);
    return { type, rows: count, cols: 32, bytes: Uint8Array.from({ length: count * size }, (_, i) => first + Math.floor(i / size)) };
  };

  it('are put in another order whole', () => {
    const { bytes } = reordered(rows('q8_0', 3, 0), (row) => (row + 1) % 3);
    expect([0, 34, 68].map((at) => [bytes[at], bytes[at + 33]])).toEqual([
      [1, 1],
      [2, 2],
      [0, 0],
    ]);
  });

  it('of one type that follow each other are joined', () => {
    const parts = joined([rows('q8_0', 2, 0), rows('q8_0', 1, 9), rows('q4_1', 1, 5), rows('q8_0', 1, 1)]);
    expect(parts.map(({ type, rows }) => [type, rows])).toEqual([
      ['q8_0', 3],
      ['q4_1', 1],
      ['q8_0', 1],
    ]);
    expect(parts[0]!.bytes[68]).toBe(9);
  });
});
