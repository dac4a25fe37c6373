import { checkGradient } from './gradients.ts';
import { indices, normals } from './inputs.ts';
import * as reference from './reference.ts';
import { expectSameBits, gapped, type KernelCase, kernelCase, type Layout, packed, type Tolerance } from './stage.ts';

/** Norms, rotary positions and the gated activation. */

const tolerance: Tolerance = { absolute: 2e-5, relative: 1e-5 };
const EPS = 1e-6;

type LayoutOf = (width: number) => Layout;

/** [rows, groups, dim, layout, scale of x] */
const normShapes: readonly (readonly [number, number, number, LayoutOf, number])[] = [
  [1, 1, 1, packed, 1],
  [7, 1, 13, gapped, 1],
  [13, 3, 16, gapped, 1],
  [64, 1, 65, packed, 1],
  [300, 1, 48, packed, 1],
  [3, 2, 300, gapped, 1],
  [5, 1, 64, packed, 1e-20],
  [5, 1, 64, packed, 1e-3],
  [5, 1, 64, packed, 1e15],
];

function normCase(rows: number, groups: number, dim: number, layout: LayoutOf, scale: number): KernelCase {
  const name = `rmsNorm ${rows}x${groups}x${dim}${layout === gapped ? ' strided' : ''}${scale === 1 ? '' : ` of size ${scale}`}`;
  return kernelCase(name, async (stage) => {
    const width = groups * dim;
    const x = normals(name, rows * width, scale);
    x.fill(0, 0, dim);
    const weight = normals(`${name} weight`, dim);
    const out = stage.output(rows, width, layout(width));
    const view = stage.rows(x, width, layout(width));
    stage.backend.rmsNorm({ out, x: view, weight: stage.f32(weight), rows, groups, dim, eps: EPS });
    await stage.expect('out', out, width, reference.rmsNorm(x, weight, EPS), tolerance);
  });
}

function normBackwardCase(rows: number, groups: number, dim: number, layout: LayoutOf, accumulate: boolean): KernelCase {
  const name = `rmsNormBackward ${rows}x${groups}x${dim}${layout === gapped ? ' strided' : ''}${accumulate ? ' accumulate' : ''}`;
  return kernelCase(name, async (stage) => {
    const width = groups * dim;
    const x = normals(name, rows * width);
    const weight = normals(`${name} weight`, dim);
    const dOut = normals(`${name} dOut`, rows * width);
    const { dx, dWeight } = reference.rmsNormBackward(x, weight, dOut, EPS);
    checkGradient(`${name} dx`, (moved) => reference.dot(reference.rmsNorm(moved, weight, EPS), dOut), x, dx);
    checkGradient(`${name} dWeight`, (moved) => reference.dot(reference.rmsNorm(x, moved, EPS), dOut), weight, dWeight);
    const dxBefore = accumulate ? normals(`${name} dx`, rows * width) : undefined;
    const dWeightBefore = normals(`${name} dWeight`, dim);
    if (dxBefore) for (let i = 0; i < dx.length; i++) dx[i]! += dxBefore[i]!;
    for (let d = 0; d < dim; d++) dWeight[d]! += dWeightBefore[d]!;
    const dxOut = stage.output(rows, width, layout(width), dxBefore);
    const dWeightOut = stage.output(1, dim, packed(dim), dWeightBefore);
    stage.backend.rmsNormBackward({
      dx: dxOut,
      dWeight: dWeightOut.array,
      dOut: stage.rows(dOut, width, layout(width)),
      x: stage.rows(x, width, layout(width)),
      weight: stage.f32(weight),
      rows,
      groups,
      dim,
      eps: EPS,
      accumulate,
    });
    await stage.expect('dx', dxOut, width, dx, { absolute: 5e-5, relative: 2e-5 });
    await stage.expect('dWeight', dWeightOut, dim, dWeight, { absolute: 1e-4, relative: 2e-5 });
  });
}

const normBatchCase = kernelCase('rmsNorm gives a row the same bits in batches of 1 and 64', async (stage) => {
  const dim = 48;
  const x = normals('norm batch', 64 * dim);
  const weight = stage.f32(normals('norm batch weight', dim));
  const run = async (first: number, rows: number): Promise<Float32Array> => {
    const out = stage.output(rows, dim);
    const view = stage.rows(x.subarray(first * dim, (first + rows) * dim), dim, packed(dim));
    stage.backend.rmsNorm({ out, x: view, weight, rows, groups: 1, dim, eps: EPS });
    return stage.dense(out, rows, dim);
  };
  const all = await run(0, 64);
  for (const row of [0, 31, 63]) expectSameBits(`row ${row}`, await run(row, 1), all.slice(row * dim, (row + 1) * dim));
});

function ropeCase(rows: number, heads: number, headDim: number, layout: LayoutOf, inverse: boolean): KernelCase {
  const name = `rope ${rows}x${heads}x${headDim}${layout === gapped ? ' strided' : ''}${inverse ? ' inverse' : ''}`;
  return kernelCase(name, async (stage) => {
    const width = heads * headDim;
    const half = headDim / 2;
    const x = normals(name, rows * width);
    const positions = indices(name, rows, 50);
    positions[0] = 49;
    const angles = Array.from({ length: 50 * half }, (_, i) => Math.floor(i / half) * 10000 ** (-(i % half) / half));
    const [cos, sin] = [Float32Array.from(angles, Math.cos), Float32Array.from(angles, Math.sin)];
    const view = stage.output(rows, width, layout(width), x);
    stage.backend.rope({
      x: view,
      cos: stage.f32(cos),
      sin: stage.f32(sin),
      positions: stage.u32(positions),
      rows,
      heads,
      headDim,
      inverse,
    });
    await stage.expect('x', view, width, reference.rope(x, cos, sin, positions, heads, headDim, inverse), tolerance);
  });
}

function swigluCase(rows: number, dim: number, scale: number): KernelCase {
  const name = `swiglu ${rows}x${dim}${scale === 1 ? '' : ` of size ${scale}`}`;
  return kernelCase(name, async (stage) => {
    const gateUp = normals(name, rows * dim * 2, scale);
    gateUp[0] = 0;
    const out = stage.output(rows, dim);
    stage.backend.swiglu({ out: out.array, gateUp: stage.f32(gateUp), rows, dim });
    await stage.expect('out', out, dim, reference.swiglu(gateUp, dim), tolerance);
  });
}

function swigluBackwardCase(rows: number, dim: number, scale: number): KernelCase {
  const name = `swigluBackward ${rows}x${dim}${scale === 1 ? '' : ` of size ${scale}`}`;
  return kernelCase(name, async (stage) => {
    const gateUp = normals(name, rows * dim * 2, scale);
    gateUp[0] = 0;
    const dOut = normals(`${name} dOut`, rows * dim);
    const wanted = reference.swigluBackward(gateUp, dOut, dim);
    checkGradient(name, (moved) => reference.dot(reference.swiglu(moved, dim), dOut), gateUp, wanted);
    const out = stage.output(rows, 2 * dim);
    stage.backend.swigluBackward({ dGateUp: out.array, dOut: stage.f32(dOut), gateUp: stage.f32(gateUp), rows, dim });
    await stage.expect('dGateUp', out, 2 * dim, wanted, tolerance);
  });
}

export const elementwiseCases: readonly KernelCase[] = [
  ...normShapes.map((shape) => normCase(...shape)),
  ...normShapes.slice(0, 6).map(([rows, groups, dim, layout], i) => normBackwardCase(rows, groups, dim, layout, i % 2 === 1)),
  normBatchCase,
  ropeCase(1, 1, 2, packed, false),
  ropeCase(7, 3, 16, gapped, false),
  ropeCase(7, 3, 16, gapped, true),
  ropeCase(13, 2, 10, gapped, false),
  ropeCase(65, 1, 64, packed, true),
  ropeCase(300, 3, 16, packed, false),
  ...([swigluCase, swigluBackwardCase] as const).flatMap((make) => [
    make(1, 1, 1),
    make(7, 13, 1),
    make(64, 65, 1),
    make(300, 96, 1),
    make(2, 300, 1),
    make(5, 33, 100),
    make(3, 9, 1e-15),
  ]),
];
