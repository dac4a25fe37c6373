import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Backend, DeviceArray, Strided } from '../../../src/tensor/backend.ts';
import { createCpuBackend } from '../../../src/tensor/cpu/backend.ts';

let backend: Backend;
beforeEach(async () => {
  backend = await createCpuBackend();
});
afterEach(() => backend.destroy());

const f32 = (length: number): DeviceArray => backend.create('f32', length, 'numbers');
const u32 = (...values: number[]): DeviceArray => backend.upload(Uint32Array.from(values), 'indices');
const view = (length: number, stride: number, offset = 0): Strided => ({ array: f32(length), offset, stride });
const matrix = (rows: number, cols: number) => backend.matrix({ rows, cols, format: 'f32', data: new Float32Array(rows * cols) }, 'w');

describe('indices outside their table are refused before anything is read', () => {
  const refused = { code: 'index-out-of-range' };

  it('embed: token ids', () => {
    const args = { out: f32(8), table: matrix(5, 4), rows: 2, scale: 1 };
    expect(() => backend.embed({ ...args, ids: u32(0, 4) })).not.toThrow();
    expect(() => backend.embed({ ...args, ids: u32(0, 5) })).toThrow(expect.objectContaining(refused));
    expect(() => backend.embed({ ...args, ids: u32(0xffffffff, 0) })).toThrow(expect.objectContaining(refused));
  });

  it('embedBackward: token ids', () => {
    const args = { dTable: f32(20), dOut: f32(8), rows: 2, dim: 4, vocab: 5, scale: 1 };
    expect(() => backend.embedBackward({ ...args, ids: u32(1, 5) })).toThrow(expect.objectContaining(refused));
  });

  it('rope: positions beyond the tables', () => {
    const args = { x: view(8, 4), cos: f32(6), sin: f32(6), rows: 2, heads: 1, headDim: 4, inverse: false };
    expect(() => backend.rope({ ...args, positions: u32(0, 2) })).not.toThrow();
    expect(() => backend.rope({ ...args, positions: u32(0, 3) })).toThrow(expect.objectContaining(refused));
  });

  it('copyRows: rows of a strided view', () => {
    const args = { to: view(20, 7, 2), from: view(20, 7, 2), rows: 1, width: 4 };
    expect(() => backend.copyRows({ ...args, toRows: u32(2), fromRows: u32(2) })).not.toThrow();
    expect(() => backend.copyRows({ ...args, toRows: u32(3) })).toThrow(expect.objectContaining(refused));
    expect(() => backend.copyRows({ ...args, fromRows: u32(3) })).toThrow(expect.objectContaining(refused));
  });

  it('crossEntropy: targets', () => {
    const args = { loss: f32(1), dLogits: f32(3), logits: f32(3), weights: f32(1), rows: 1, vocab: 3 };
    expect(() => backend.crossEntropy({ ...args, targets: u32(3) })).toThrow(expect.objectContaining(refused));
  });

  it('layerLogits: rows and tokens', () => {
    const args = { out: f32(1), h: f32(8), w: matrix(5, 4), count: 1 };
    expect(() => backend.layerLogits({ ...args, hRows: u32(1), tokens: u32(4) })).not.toThrow();
    expect(() => backend.layerLogits({ ...args, hRows: u32(2), tokens: u32(0) })).toThrow(expect.objectContaining(refused));
    expect(() => backend.layerLogits({ ...args, hRows: u32(0), tokens: u32(5) })).toThrow(expect.objectContaining(refused));
  });

  it.each([
    [0, 0, 3, 2],
    [4, 1, 0, 1],
    [0xffffffff, 2, 0, 0],
    [0, 0, 0, 0xffffffff],
  ])('attention: span %i+%i, %i+%i over 4 key rows', (...span) => {
    const args = { q: view(4, 4), k: view(16, 4), v: view(16, 4), spans: u32(...span), rows: 1, heads: 1, kvHeads: 1, headDim: 4 };
    expect(() => backend.attention({ ...args, out: f32(4) })).toThrow(expect.objectContaining(refused));
    const gradients = { dq: view(4, 4), dk: view(16, 4), dv: view(16, 4), dOut: f32(4), keyRows: 4 };
    expect(() => backend.attentionBackward({ ...args, ...gradients, out: f32(4) })).toThrow(expect.objectContaining(refused));
  });

  it('attention: a span of length 0 may start anywhere', () => {
    const args = { q: view(4, 4), k: view(16, 4), v: view(16, 4), rows: 1, heads: 1, kvHeads: 1, headDim: 4, out: f32(4) };
    expect(() => backend.attention({ ...args, spans: u32(99, 0, 4, 0) })).not.toThrow();
  });
});

describe('shapes that do not fit are refused', () => {
  const refused = { code: 'bad-shape' };

  it('arrays shorter than the rows', () => {
    const args = { out: f32(15), x: f32(12), w: matrix(5, 4), accumulate: false };
    expect(() => backend.linear({ ...args, rows: 3 })).not.toThrow();
    expect(() => backend.linear({ ...args, rows: 4 })).toThrow(expect.objectContaining(refused));
    expect(() => backend.linear({ ...args, rows: -1 })).toThrow(expect.objectContaining(refused));
    expect(() => backend.linear({ ...args, rows: 1.5 })).toThrow(expect.objectContaining(refused));
    expect(() => backend.linear({ ...args, rows: 1, bias: f32(4) })).toThrow(expect.objectContaining(refused));
  });

  it('the wrong element type', () => {
    expect(() => backend.swiglu({ out: f32(1), gateUp: u32(0, 0), rows: 1, dim: 1 })).toThrow(expect.objectContaining(refused));
  });

  it('strided rows that leave the array or overlap where they are written', () => {
    const args = { weight: f32(4), groups: 1, dim: 4, rows: 3, eps: 1e-6 };
    expect(() => backend.rmsNorm({ ...args, out: view(18, 7), x: view(18, 7) })).not.toThrow();
    expect(() => backend.rmsNorm({ ...args, out: view(17, 7), x: view(18, 7) })).toThrow(expect.objectContaining(refused));
    expect(() => backend.rmsNorm({ ...args, out: view(18, 7), x: view(18, 7, 1) })).toThrow(expect.objectContaining(refused));
    expect(() => backend.rmsNorm({ ...args, out: view(18, 3), x: view(18, 7) })).toThrow(expect.objectContaining(refused));
  });

  it('an array that is both output and input', () => {
    const x = f32(8);
    expect(() => backend.sumSquares(x, x, 8)).toThrow(/output and an input/);
    const rows = { array: x, offset: 0, stride: 4 };
    expect(() => backend.rmsNorm({ out: rows, x: rows, weight: f32(4), rows: 2, groups: 1, dim: 4, eps: 0 })).toThrow(
      /output and an input/,
    );
  });

  it('a matrix whose data has the wrong length', () => {
    const bad = { rows: 2, cols: 33, format: 'q4' as const, codes: new Uint32Array(8), scales: new Float32Array(4) };
    expect(() => backend.matrix(bad, 'w')).toThrow(/matrix w: codes must hold 16/);
    const blocks = { rows: 2, cols: 33, format: 'q8_0' as const, blocks: new Uint32Array(18) };
    expect(() => backend.matrix(blocks, 'w')).toThrow(/matrix w: blocks must hold 36/);
  });

  it('a stack whose parts do not make the matrix, or are wrong themselves', () => {
    const part = (rows: number, cols: number, length = rows * cols) => ({
      rows,
      cols,
      format: 'f32' as const,
      data: new Float32Array(length),
    });
    const stack = (...parts: ReturnType<typeof part>[]) => backend.matrix({ rows: 3, cols: 4, format: 'stacked', parts }, 'w');
    expect(() => stack(part(1, 4), part(1, 4))).toThrow(/parts of 1 x 4, 1 x 4 do not make 3 x 4/);
    expect(() => stack(part(1, 4), part(2, 3))).toThrow(/1 x 4, 2 x 3 do not make/);
    expect(() => stack(part(1, 4), part(2, 4, 7))).toThrow(/w, part 1: data must hold 8/);
  });

  it('reads and writes past the end', async () => {
    const x = f32(4);
    expect(() => backend.write(x, new Float32Array(3), 2)).toThrow(expect.objectContaining(refused));
    expect(() => backend.fill(x, 0, 3, 2)).toThrow(expect.objectContaining(refused));
    await expect(backend.read(x, 4, 1)).rejects.toMatchObject(refused);
  });
});

describe('arrays and matrices after their life', () => {
  it('a freed array or matrix is refused', () => {
    const [x, out, w] = [f32(4), f32(4), matrix(4, 4)];
    backend.free(x);
    expect(() => backend.linear({ out, x, w, rows: 1, accumulate: false })).toThrow(expect.objectContaining({ code: 'array-freed' }));
    expect(() => backend.free(x)).toThrow(expect.objectContaining({ code: 'array-freed' }));
    backend.freeMatrix(w);
    const y = f32(4);
    expect(() => backend.linear({ out, x: y, w, rows: 1, accumulate: false })).toThrow(expect.objectContaining({ code: 'array-freed' }));
    expect(() => backend.freeMatrix(w)).toThrow(expect.objectContaining({ code: 'array-freed' }));
  });

  it("another backend's array is refused", async () => {
    const other = await createCpuBackend();
    expect(() => other.fill(f32(4), 1)).toThrow(expect.objectContaining({ code: 'foreign-array' }));
    other.destroy();
  });

  it('nothing of a destroyed backend can be used', () => {
    const x = f32(4);
    backend.destroy();
    expect(() => backend.fill(x, 1)).toThrow(expect.objectContaining({ code: 'foreign-array' }));
  });
});
