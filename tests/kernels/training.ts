import { checkGradient } from './gradients.ts';
import { indices, normals } from './inputs.ts';
import * as reference from './reference.ts';
import { type KernelCase, kernelCase, packed, type Tolerance } from './stage.ts';

/** The loss, the optimiser and the gradient norm. */

const tolerance: Tolerance = { absolute: 2e-5, relative: 1e-5 };

function lossCase(rows: number, vocab: number, scale: number, inPlace: boolean): KernelCase {
  const name = `crossEntropy ${rows}x${vocab}${scale === 1 ? '' : ` of size ${scale}`}${inPlace ? ' in place' : ''}`;
  return kernelCase(name, async (stage) => {
    const logits = normals(name, rows * vocab, scale);
    const targets = indices(name, rows, vocab);
    targets[0] = vocab - 1;
    const weights = normals(`${name} weights`, rows);
    const { loss, dLogits } = reference.crossEntropy(logits, vocab, targets, weights);
    if (scale === 1) {
      const total = (moved: Float64Array): number => reference.crossEntropy(moved, vocab, targets, weights).loss.reduce((a, b) => a + b, 0);
      checkGradient(name, total, logits, dLogits);
    }
    const lossOut = stage.output(1, rows);
    const dLogitsOut = inPlace ? stage.output(rows, vocab, packed(vocab), logits) : stage.output(rows, vocab);
    stage.backend.crossEntropy({
      loss: lossOut.array,
      dLogits: dLogitsOut.array,
      logits: inPlace ? dLogitsOut.array : stage.f32(logits),
      targets: stage.u32(targets),
      weights: stage.f32(weights),
      rows,
      vocab,
    });
    await stage.expect('loss', lossOut, rows, loss, tolerance);
    await stage.expect('dLogits', dLogitsOut, vocab, dLogits, scale === 1 ? tolerance : { absolute: 1e-3, relative: 1e-3 });
  });
}

/** Padding rows have weight 0 and may hold anything. */
const maskedCase = kernelCase('crossEntropy writes zeros for rows of weight 0', async (stage) => {
  const [rows, vocab] = [5, 70];
  const logits = normals('masked', rows * vocab);
  logits.fill(Number.NaN, vocab, 2 * vocab);
  const targets = indices('masked', rows, vocab);
  const weights = Float32Array.of(1, 0, -2, 0, 0.5);
  const { loss, dLogits } = reference.crossEntropy(logits, vocab, targets, weights);
  const [lossOut, dLogitsOut] = [stage.output(1, rows), stage.output(rows, vocab)];
  stage.backend.crossEntropy({
    loss: lossOut.array,
    dLogits: dLogitsOut.array,
    logits: stage.f32(logits),
    targets: stage.u32(targets),
    weights: stage.f32(weights),
    rows,
    vocab,
  });
  await stage.expect('loss', lossOut, rows, loss, tolerance);
  await stage.expect('dLogits', dLogitsOut, vocab, dLogits, tolerance);
});

/** Ratios lie on all sides of the clip, away from its edges, where rounding decides. */
function policyCase(rows: number, vocab: number, scale: number, inPlace: boolean): KernelCase {
  const name = `policyLoss ${rows}x${vocab}${scale === 1 ? '' : ` of size ${scale}`}${inPlace ? ' in place' : ''}`;
  return kernelCase(name, async (stage) => {
    const logits = normals(name, rows * vocab, scale);
    const targets = indices(name, rows, vocab);
    targets[0] = vocab - 1;
    const clip = 0.2;
    const terms = normals(`${name} terms`, rows * 4);
    const own = reference.policyLoss(logits, vocab, targets, terms, clip).report;
    for (let r = 0; r < rows; r++) {
      terms[4 * r + 2] = [1, Math.E, 1.5][r % 3]!;
      terms[4 * r + 3] = own[3 * r + 1]! + [-0.6, -0.1, 0, 0.1, 0.6][r % 5]!;
    }
    const { report, dLogits } = reference.policyLoss(logits, vocab, targets, terms, clip);
    if (scale === 1) {
      const total = (moved: Float64Array): number =>
        reference.policyLoss(moved, vocab, targets, terms, clip).report.reduce((sum, value, i) => sum + (i % 3 === 0 ? value : 0), 0);
      checkGradient(name, total, logits, dLogits);
    }
    const reportOut = stage.output(rows, 3);
    const dLogitsOut = inPlace ? stage.output(rows, vocab, packed(vocab), logits) : stage.output(rows, vocab);
    stage.backend.policyLoss({
      report: reportOut.array,
      dLogits: dLogitsOut.array,
      logits: inPlace ? dLogitsOut.array : stage.f32(logits),
      targets: stage.u32(targets),
      terms: stage.f32(terms),
      clip,
      rows,
      vocab,
    });
    const wide = scale === 1 ? { absolute: 5e-5, relative: 5e-5 } : { absolute: 2e-3, relative: 2e-3 };
    await stage.expect('report', reportOut, 3, report, wide);
    await stage.expect('dLogits', dLogitsOut, vocab, dLogits, wide);
  });
}

const silentPolicyCase = kernelCase('policyLoss writes zeros for rows of weight 0', async (stage) => {
  const [rows, vocab] = [3, 70];
  const logits = normals('silent', rows * vocab);
  logits.fill(Number.NaN, vocab, 2 * vocab);
  const targets = indices('silent', rows, vocab);
  const terms = Float32Array.of(1, -1, 2, -4, 0, -1, 2, -4, 1, 1, 1, -4);
  const { report, dLogits } = reference.policyLoss(logits, vocab, targets, terms, 0.2);
  const [reportOut, dLogitsOut] = [stage.output(rows, 3), stage.output(rows, vocab)];
  stage.backend.policyLoss({
    report: reportOut.array,
    dLogits: dLogitsOut.array,
    logits: stage.f32(logits),
    targets: stage.u32(targets),
    terms: stage.f32(terms),
    clip: 0.2,
    rows,
    vocab,
  });
  await stage.expect('report', reportOut, 3, report, { absolute: 5e-5, relative: 5e-5 });
  await stage.expect('dLogits', dLogitsOut, vocab, dLogits, { absolute: 5e-5, relative: 5e-5 });
});

function adamCase(length: number, step: number, weightDecay: number, gradSize: number): KernelCase {
  const name = `adam ${length} step ${step} decay ${weightDecay} gradients of size ${gradSize}`;
  return kernelCase(name, async (stage) => {
    const param = normals(`${name} param`, length);
    const grad = normals(`${name} grad`, length, gradSize);
    grad[0] = 0;
    const m = step === 1 ? new Float32Array(length) : normals(`${name} m`, length, gradSize / 2);
    const v = step === 1 ? new Float32Array(length) : normals(`${name} v`, length, gradSize).map((x) => x * x);
    const settings = { lr: 1e-2, beta1: 0.9, beta2: 0.99, eps: 1e-8, weightDecay, step, gradScale: 0.5 };
    const wanted = reference.adam(param, grad, m, v, settings);
    const out = {
      param: stage.output(1, length, packed(length), param),
      m: stage.output(1, length, packed(length), m),
      v: stage.output(1, length, packed(length), v),
    };
    stage.backend.adam({ param: out.param.array, grad: stage.f32(grad), m: out.m.array, v: out.v.array, length, ...settings });
    await stage.expect('param', out.param, length, wanted.param, { absolute: 1e-6, relative: 1e-6 });
    await stage.expect('m', out.m, length, wanted.m, { absolute: 1e-6 * gradSize, relative: 1e-6 });
    await stage.expect('v', out.v, length, wanted.v, { absolute: 1e-6 * gradSize ** 2, relative: 1e-6 });
  });
}

function sumSquaresCase(length: number, scale: number): KernelCase {
  const name = `sumSquares of ${length} numbers of size ${scale}`;
  return kernelCase(name, async (stage) => {
    // More numbers follow the first `length`; they must not count.
    const x = normals(name, length + 9, scale);
    const out = stage.output(1, 1);
    stage.backend.sumSquares(out.array, stage.f32(x), length);
    await stage.expect('out', out, 1, [reference.sumSquares(x.subarray(0, length))], { absolute: 0, relative: 1e-5 });
  });
}

export const trainingCases: readonly KernelCase[] = [
  lossCase(1, 1, 1, false),
  lossCase(7, 13, 1, true),
  lossCase(65, 64, 1, false),
  lossCase(300, 65, 1, true),
  lossCase(3, 512, 1, false),
  lossCase(2, 5000, 1, true),
  lossCase(5, 257, 1e4, false),
  lossCase(5, 65, 60, true),
  maskedCase,
  policyCase(1, 1, 1, false),
  policyCase(7, 13, 1, true),
  policyCase(65, 64, 1, false),
  policyCase(300, 65, 1, true),
  policyCase(5, 512, 1, false),
  policyCase(10, 5000, 1, true),
  policyCase(10, 65, 30, false),
  silentPolicyCase,
  adamCase(1, 1, 0, 1),
  adamCase(13, 1, 0.1, 1),
  adamCase(65, 7, 0.1, 1e-3),
  adamCase(300, 1000, 0, 1e3),
  adamCase(1000, 2, 0.01, 1),
  ...[1, 7, 64, 65, 300, 4099, 100_003].map((length) => sumSquaresCase(length, 1)),
  sumSquaresCase(0, 1),
  sumSquaresCase(65, 1e-10),
  sumSquaresCase(65, 1e15),
];
