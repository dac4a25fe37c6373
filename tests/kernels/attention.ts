import { checkGradient } from './gradients.ts';
import { normals } from './inputs.ts';
import * as reference from './reference.ts';
import { expectSameBits, gapped, type KernelCase, kernelCase, type Layout, packed, type Stage, type Tolerance } from './stage.ts';

interface Setting {
  readonly name: string;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly keyRows: number;
  readonly spans: readonly (readonly [number, number, number, number])[];
  readonly layout: (width: number) => Layout;
  /** Multiplies the queries; 1 gives ordinary scores. */
  readonly sharpness?: number;
  readonly tolerance?: Tolerance;
}

const usual: Tolerance = { absolute: 2e-5, relative: 2e-5 };

/** Sequences of the given lengths one after the other, each row seeing its sequence up to itself. */
function causal(lengths: readonly number[]): [number, number, number, number][] {
  const spans: [number, number, number, number][] = [];
  let start = 0;
  for (const length of lengths) {
    for (let i = 0; i < length; i++) spans.push([0, 0, start, i + 1]);
    start += length;
  }
  return spans;
}

/** One shared prefix, then branches of the given lengths. */
function branches(prefix: number, lengths: readonly number[]): [number, number, number, number][] {
  const spans: [number, number, number, number][] = [];
  let start = prefix;
  for (const length of lengths) {
    for (let i = 0; i < length; i++) spans.push([0, prefix, start, i + 1]);
    start += length;
  }
  return spans;
}

const settings: readonly Setting[] = [
  { name: 'one key', heads: 1, kvHeads: 1, headDim: 2, keyRows: 1, spans: causal([1]), layout: packed },
  { name: 'causal', heads: 3, kvHeads: 1, headDim: 16, keyRows: 37, spans: causal([7, 13, 1, 16]), layout: packed },
  { name: 'branches', heads: 4, kvHeads: 2, headDim: 32, keyRows: 65, spans: branches(40, [13, 5, 7]), layout: gapped },
  { name: 'odd head size', heads: 6, kvHeads: 2, headDim: 10, keyRows: 13, spans: causal([13]), layout: gapped },
  { name: 'all heads their own keys', heads: 4, kvHeads: 4, headDim: 64, keyRows: 20, spans: causal([20]), layout: packed },
  {
    name: 'empty spans and single rows',
    heads: 2,
    kvHeads: 1,
    headDim: 16,
    keyRows: 9,
    spans: [
      [0, 0, 0, 0],
      [3, 0, 8, 1],
      [8, 1, 0, 0],
      [0, 9, 5, 0],
      [2, 3, 2, 3],
    ],
    layout: gapped,
  },
  {
    name: 'long spans',
    heads: 3,
    kvHeads: 1,
    headDim: 16,
    keyRows: 620,
    spans: [
      [0, 0, 0, 257],
      [5, 300, 320, 300],
      [0, 64, 64, 65],
      [600, 1, 0, 599],
    ],
    layout: packed,
  },
  { name: 'large heads', heads: 2, kvHeads: 1, headDim: 128, keyRows: 70, spans: [[0, 10, 10, 60], ...causal([5])], layout: gapped },
  { name: 'many rows', heads: 3, kvHeads: 1, headDim: 16, keyRows: 300, spans: causal([150, 90, 60]), layout: packed },
  {
    name: 'scores far apart',
    heads: 2,
    kvHeads: 1,
    headDim: 16,
    keyRows: 40,
    spans: causal([40]),
    layout: packed,
    sharpness: 60,
    tolerance: { absolute: 2e-3, relative: 1e-3 },
  },
  {
    name: 'vanishing scores',
    heads: 2,
    kvHeads: 2,
    headDim: 16,
    keyRows: 13,
    spans: causal([13]),
    layout: packed,
    sharpness: 1e-30,
  },
];

interface Numbers {
  readonly q: Float32Array;
  readonly k: Float32Array;
  readonly v: Float32Array;
}

function numbers(s: Setting): Numbers {
  return {
    q: normals(`${s.name} q`, s.spans.length * s.heads * s.headDim, s.sharpness ?? 1),
    k: normals(`${s.name} k`, s.keyRows * s.kvHeads * s.headDim),
    v: normals(`${s.name} v`, s.keyRows * s.kvHeads * s.headDim),
  };
}

function upload(stage: Stage, s: Setting, { q, k, v }: Numbers) {
  const [queryWidth, keyWidth] = [s.heads * s.headDim, s.kvHeads * s.headDim];
  return {
    q: stage.rows(q, queryWidth, s.layout(queryWidth)),
    k: stage.rows(k, keyWidth, s.layout(keyWidth)),
    v: stage.rows(v, keyWidth, s.layout(keyWidth)),
    spans: stage.u32(s.spans.flat()),
    rows: s.spans.length,
    heads: s.heads,
    kvHeads: s.kvHeads,
    headDim: s.headDim,
  };
}

function forwardCase(s: Setting): KernelCase {
  return kernelCase(`attention ${s.name}`, async (stage) => {
    const input = numbers(s);
    const width = s.heads * s.headDim;
    const out = stage.output(s.spans.length, width);
    stage.backend.attention({ out: out.array, ...upload(stage, s, input) });
    const wanted = reference.attention(input.q, input.k, input.v, { ...s, spans: s.spans.flat() });
    await stage.expect('out', out, width, wanted, s.tolerance ?? usual);
  });
}

function backwardCase(s: Setting): KernelCase {
  const name = `attentionBackward ${s.name}`;
  return kernelCase(name, async (stage) => {
    const { q, k, v } = numbers(s);
    const [rows, width, keyWidth] = [s.spans.length, s.heads * s.headDim, s.kvHeads * s.headDim];
    const shape = { ...s, spans: s.spans.flat() };
    const dOut = normals(`${name} dOut`, rows * width);
    const { dq, dk, dv } = reference.attentionBackward(q, k, v, dOut, shape);
    // A sharp softmax bends too much between q − h and q + h for the differences to tell anything.
    if (!s.sharpness) {
      checkGradient(`${name} dq`, (moved) => reference.dot(reference.attention(moved, k, v, shape), dOut), q, dq);
      checkGradient(`${name} dk`, (moved) => reference.dot(reference.attention(q, moved, v, shape), dOut), k, dk);
      checkGradient(`${name} dv`, (moved) => reference.dot(reference.attention(q, k, moved, shape), dOut), v, dv);
    }
    const dkBefore = normals(`${name} dk`, k.length);
    const dvBefore = normals(`${name} dv`, v.length);
    for (let i = 0; i < dk.length; i++) dk[i]! += dkBefore[i]!;
    for (let i = 0; i < dv.length; i++) dv[i]! += dvBefore[i]!;
    const dqOut = stage.output(rows, width, s.layout(width));
    const dkOut = stage.output(s.keyRows, keyWidth, s.layout(keyWidth), dkBefore);
    const dvOut = stage.output(s.keyRows, keyWidth, s.layout(keyWidth), dvBefore);
    stage.backend.attentionBackward({
      ...upload(stage, s, { q, k, v }),
      dq: dqOut,
      dk: dkOut,
      dv: dvOut,
      dOut: stage.f32(dOut),
      out: stage.f32(reference.attention(q, k, v, shape)),
      keyRows: s.keyRows,
    });
    const scale = s.sharpness && s.sharpness > 1 ? s.sharpness : 1;
    const tolerance = s.tolerance ? { absolute: s.tolerance.absolute * scale, relative: 2e-3 } : { absolute: 1e-4, relative: 5e-5 };
    await stage.expect('dq', dqOut, width, dq, tolerance);
    await stage.expect('dk', dkOut, keyWidth, dk, tolerance);
    await stage.expect('dv', dvOut, keyWidth, dv, tolerance);
  });
}

/** Queries, keys and values side by side in one array, as a decoder computes them; the gradients likewise. */
const sharedArrayCase = kernelCase('attention and its gradients with q, k, v in one array', async (stage) => {
  const [heads, kvHeads, headDim, rows] = [3, 1, 16, 29];
  const spans = causal([17, 12]).flat();
  const [width, keyWidth] = [heads * headDim, kvHeads * headDim];
  const stride = width + 2 * keyWidth;
  const qkv = normals('shared qkv', rows * stride);
  const part = (from: number, size: number): Float32Array =>
    Float32Array.from({ length: rows * size }, (_, i) => qkv[Math.floor(i / size) * stride + from + (i % size)]!);
  const [q, k, v] = [part(0, width), part(width, keyWidth), part(width + keyWidth, keyWidth)];
  const shape = { heads, kvHeads, headDim, spans };
  const wanted = reference.attention(q, k, v, shape);
  const dOut = normals('shared dOut', rows * width);
  const gradient = reference.attentionBackward(q, k, v, dOut, shape);
  const array = stage.f32(qkv);
  const views = {
    q: { array, offset: 0, stride },
    k: { array, offset: width, stride },
    v: { array, offset: width + keyWidth, stride },
    spans: stage.u32(spans),
    rows,
    heads,
    kvHeads,
    headDim,
  };
  const out = stage.output(rows, width);
  stage.backend.attention({ out: out.array, ...views });
  await stage.expect('out', out, width, wanted, usual);
  const dQkv = stage.output(rows, stride, packed(stride), new Float32Array(rows * stride));
  stage.backend.attentionBackward({
    ...views,
    dq: { array: dQkv.array, offset: 0, stride },
    dk: { array: dQkv.array, offset: width, stride },
    dv: { array: dQkv.array, offset: width + keyWidth, stride },
    dOut: stage.f32(dOut),
    out: out.array,
    keyRows: rows,
  });
  const all = new Float64Array(rows * stride);
  for (let r = 0; r < rows; r++) {
    all.set(gradient.dq.subarray(r * width, (r + 1) * width), r * stride);
    all.set(gradient.dk.subarray(r * keyWidth, (r + 1) * keyWidth), r * stride + width);
    all.set(gradient.dv.subarray(r * keyWidth, (r + 1) * keyWidth), r * stride + width + keyWidth);
  }
  await stage.expect('dQkv', dQkv, stride, all, { absolute: 1e-4, relative: 5e-5 });
});

/** A row's result depends neither on the other rows nor on how its keys are split into prefix and own. */
const invarianceCase = kernelCase('attention gives a row the same bits in any batch and split', async (stage) => {
  const [heads, kvHeads, headDim, keyRows] = [3, 1, 16, 300];
  const [width, keyWidth] = [heads * headDim, kvHeads * headDim];
  const q = normals('invariance q', 64 * width);
  const k = stage.f32(normals('invariance k', keyRows * keyWidth));
  const v = stage.f32(normals('invariance v', keyRows * keyWidth));
  const whole = Array.from({ length: 64 }, (_, r) => [0, 0, 0, 200 + r]);
  const split = Array.from({ length: 64 }, (_, r) => [0, 3 * r + 1, 3 * r + 1, 200 + r - 3 * r - 1]);
  const run = async (first: number, rows: number, spans: number[][]): Promise<Float32Array> => {
    const out = stage.output(rows, width);
    stage.backend.attention({
      out: out.array,
      q: { array: stage.f32(q.subarray(first * width, (first + rows) * width)), offset: 0, stride: width },
      k: { array: k, offset: 0, stride: keyWidth },
      v: { array: v, offset: 0, stride: keyWidth },
      spans: stage.u32(spans.slice(first, first + rows).flat()),
      rows,
      heads,
      kvHeads,
      headDim,
    });
    return stage.dense(out, rows, width);
  };
  const all = await run(0, 64, whole);
  expectSameBits('split', await run(0, 64, split), all);
  expectSameBits('3 rows', await run(2, 3, whole), all.slice(2 * width, 5 * width));
  for (const row of [0, 1, 63]) expectSameBits(`row ${row}`, await run(row, 1, whole), all.slice(row * width, (row + 1) * width));
});

export const attentionCases: readonly KernelCase[] = [
  ...settings.map(forwardCase),
  ...settings.map(backwardCase),
  sharedArrayCase,
  invarianceCase,
];
