import { BLOCK_FORMATS } from '../../src/tensor/blocks.ts';
import { checkGradient } from './gradients.ts';
import type { Format } from './inputs.ts';
import { normals, randomMatrix } from './inputs.ts';
import * as reference from './reference.ts';
import { expectSameBits, type KernelCase, kernelCase, packed, type Tolerance } from './stage.ts';

/** Inputs are scaled so that outputs are of order 1. */
const tolerance: Tolerance = { absolute: 2e-5, relative: 1e-5 };

/** [rows M, N, K] */
const shapes: readonly (readonly [number, number, number])[] = [
  [1, 1, 1],
  [1, 13, 7],
  [1, 257, 64],
  [7, 13, 65],
  [4, 8, 32],
  [13, 64, 48],
  [64, 65, 64],
  [65, 96, 13],
  [300, 80, 48],
  [3, 300, 257],
  [70, 9, 300],
];

function forwardCase(m: number, n: number, k: number, format: Format, withBias: boolean, accumulate: boolean): KernelCase {
  const name = `linear ${format} ${m}x${n}x${k}${withBias ? ' bias' : ''}${accumulate ? ' accumulate' : ''}`;
  return kernelCase(name, async (stage) => {
    const x = normals(`${name} x`, m * k);
    const { source, values } = randomMatrix(name, n, k, format, 1 / Math.sqrt(k));
    const bias = withBias ? normals(`${name} bias`, n) : undefined;
    const before = accumulate ? normals(`${name} out`, m * n) : undefined;
    const wanted = reference.linear(x, values, bias, m, n, k);
    if (before) for (let i = 0; i < wanted.length; i++) wanted[i]! += before[i]!;
    const out = stage.output(m, n, packed(n), before);
    const w = stage.matrix(source);
    stage.backend.linear({ out: out.array, x: stage.f32(x), w, rows: m, accumulate, ...(bias ? { bias: stage.f32(bias) } : {}) });
    await stage.expect('out', out, n, wanted, tolerance);
  });
}

function backwardInputCase(m: number, n: number, k: number, format: Format, accumulate: boolean): KernelCase {
  const name = `linearBackwardInput ${format} ${m}x${n}x${k}${accumulate ? ' accumulate' : ''}`;
  return kernelCase(name, async (stage) => {
    const x = normals(`${name} x`, m * k);
    const dOut = normals(`${name} dOut`, m * n);
    const { source, values } = randomMatrix(name, n, k, format, 1 / Math.sqrt(n));
    const { dx } = reference.linearBackward(x, values, dOut, m, n, k);
    checkGradient(name, (moved) => reference.dot(reference.linear(moved, values, undefined, m, n, k), dOut), x, dx);
    const before = accumulate ? normals(`${name} dx`, m * k) : undefined;
    if (before) for (let i = 0; i < dx.length; i++) dx[i]! += before[i]!;
    const out = stage.output(m, k, packed(k), before);
    stage.backend.linearBackwardInput({ dx: out.array, dOut: stage.f32(dOut), w: stage.matrix(source), rows: m, accumulate });
    await stage.expect('dx', out, k, dx, tolerance);
  });
}

function backwardWeightCase(m: number, n: number, k: number, withBias: boolean): KernelCase {
  const name = `linearBackwardWeight ${m}x${n}x${k}${withBias ? ' bias' : ''}`;
  return kernelCase(name, async (stage) => {
    const x = normals(`${name} x`, m * k);
    const dOut = normals(`${name} dOut`, m * n, 1 / Math.sqrt(m));
    const w = normals(`${name} w`, n * k);
    const { dw, dBias } = reference.linearBackward(x, w, dOut, m, n, k);
    checkGradient(name, (moved) => reference.dot(reference.linear(x, moved, undefined, m, n, k), dOut), w, dw);
    const dwBefore = normals(`${name} dw`, n * k);
    const dBiasBefore = normals(`${name} dBias`, n);
    for (let i = 0; i < dw.length; i++) dw[i]! += dwBefore[i]!;
    for (let i = 0; i < n; i++) dBias[i]! += dBiasBefore[i]!;
    const dwOut = stage.output(n, k, packed(k), dwBefore);
    const dBiasOut = stage.output(1, n, packed(n), dBiasBefore);
    stage.backend.linearBackwardWeight({
      dw: dwOut.array,
      dOut: stage.f32(dOut),
      x: stage.f32(x),
      n,
      k,
      rows: m,
      ...(withBias ? { dBias: dBiasOut.array } : {}),
    });
    await stage.expect('dw', dwOut, k, dw, tolerance);
    await stage.expect('dBias', dBiasOut, n, withBias ? dBias : dBiasBefore, tolerance);
  });
}

/** A row gives the same bits whatever the other rows of the call. */
function batchCase(n: number, k: number, format: Format): KernelCase {
  const name = `linear ${format} gives a row the same bits in batches of 1, 3, 64 (${n}x${k})`;
  return kernelCase(name, async (stage) => {
    const x = normals(`${name} x`, 64 * k);
    const w = stage.matrix(randomMatrix(name, n, k, format, 1 / Math.sqrt(k)).source);
    const run = async (first: number, rows: number): Promise<Float32Array> => {
      const out = stage.output(rows, n);
      stage.backend.linear({ out: out.array, x: stage.f32(x.subarray(first * k, (first + rows) * k)), w, rows, accumulate: false });
      return stage.dense(out, rows, n);
    };
    const all = await run(0, 64);
    const three = await run(2, 3);
    expectSameBits('3 rows', all.slice(2 * n, 5 * n), three);
    for (const row of [0, 3, 62, 63]) expectSameBits(`row ${row}`, all.slice(row * n, (row + 1) * n), await run(row, 1));
  });
}

/** Optimisers change `values` in place; after `touch` the product uses the new numbers. */
const touchCase = kernelCase('linear after touch uses the changed values', async (stage) => {
  const [m, n, k] = [5, 20, 24];
  const x = normals('touch x', m * k);
  const w = stage.matrix(randomMatrix('touch before', n, k, 'f32').source);
  const out = stage.output(m, n);
  const array = stage.f32(x);
  stage.backend.linear({ out: out.array, x: array, w, rows: m, accumulate: false });
  const changed = normals('touch after', n * k, 1 / Math.sqrt(k));
  stage.backend.write(w.values!, changed);
  stage.backend.touch(w);
  stage.backend.linear({ out: out.array, x: array, w, rows: m, accumulate: false });
  await stage.expect('out', out, n, reference.linear(x, changed, undefined, m, n, k), tolerance);
});

/** Large and tiny factors whose products are ordinary. */
const extremeCase = kernelCase('linear with extreme factors', async (stage) => {
  const [m, n, k] = [3, 9, 16];
  const x = normals('extreme x', m * k, 1e30);
  const values = normals('extreme w', n * k, 1e-30);
  const out = stage.output(m, n);
  const w = stage.matrix({ rows: n, cols: k, format: 'f32', data: values });
  stage.backend.linear({ out: out.array, x: stage.f32(x), w, rows: m, accumulate: false });
  await stage.expect('out', out, n, reference.linear(x, values, undefined, m, n, k), { absolute: 1e-4, relative: 1e-4 });
});

export const linearCases: readonly KernelCase[] = [
  ...shapes.flatMap(([m, n, k], i) => [
    forwardCase(m, n, k, 'f32', i % 2 === 0, i % 3 === 1),
    backwardInputCase(m, n, k, 'f32', i % 2 === 1),
    backwardWeightCase(m, n, k, i % 2 === 0),
  ]),
  ...(['f16', 'bf16', 'q4', ...BLOCK_FORMATS, 'stacked'] as const).flatMap((format) => [
    forwardCase(1, 70, 64, format, true, false),
    forwardCase(1, 13, 257, format, false, true),
    forwardCase(5, 13, 96, format, false, true),
    forwardCase(65, 33, 65, format, false, false),
    backwardInputCase(7, 13, 65, format, false),
  ]),
  ...(['f32', 'f16', 'bf16', 'q4', ...BLOCK_FORMATS, 'stacked'] as const).map((format) => batchCase(77, 65, format)),
  ...(['q4_k', 'q6_k'] as const).map((format) => batchCase(40, 512, format)),
  batchCase(256, 96, 'f32'),
  touchCase,
  extremeCase,
];
