import type * as B from '../backend.ts';
import { attentionParams, elementwise, headConstants, reductionSize, weights } from './forward.ts';
import type { GpuMatrix } from './matrix.ts';
import type { Recorder } from './recorder.ts';

/** The host side of the backward and training kernels. Every output element has one owner, so no sum races. */

/** Vectors are reduced in at most this many chunks before the chunks are added. */
const CHUNKS = 64;
const BLOCKS = 256;

export function crossEntropy(recorder: Recorder, a: B.CrossEntropyArgs): void {
  recorder.dispatch('cross_entropy', {
    arrays: { d_logits: a.dLogits, logits: a.logits, targets: a.targets, row_weights: a.weights, loss: a.loss },
    params: { rows: a.rows, vocab: a.vocab },
    constants: reductionSize(a.vocab),
    workgroups: recorder.grid(a.rows),
  });
}

export function policyLoss(recorder: Recorder, a: B.PolicyLossArgs): void {
  recorder.dispatch('policy_loss', {
    arrays: { d_logits: a.dLogits, logits: a.logits, targets: a.targets, terms: a.terms, report: a.report },
    params: { rows: a.rows, vocab: a.vocab, clip: a.clip },
    constants: reductionSize(a.vocab),
    workgroups: recorder.grid(a.rows),
  });
}

export function embedBackward(recorder: Recorder, a: B.EmbedBackwardArgs): void {
  recorder.dispatch('embed_backward', {
    arrays: { d_table: a.dTable, d_out: a.dOut, ids: a.ids },
    params: { rows: a.rows, dim: a.dim, vocab: a.vocab, scale: a.scale },
    workgroups: recorder.grid(a.rows),
  });
}

/** Four passes; dWeight comes before dx, which may overwrite dOut. */
export function rmsNormBackward(recorder: Recorder, a: B.RmsNormBackwardArgs): void {
  const vectors = a.rows * a.groups;
  if (vectors === 0) return;
  const chunk = Math.ceil(vectors / CHUNKS);
  const chunks = Math.ceil(vectors / chunk);
  const inverse = recorder.create('f32', vectors, 'rms norm inverse', true);
  const parts = recorder.create('f32', chunks * a.dim, 'rms norm parts', true);
  const layout = { vectors, groups: a.groups, dim: a.dim, x_offset: a.x.offset, x_stride: a.x.stride };
  const dOutLayout = { d_out_offset: a.dOut.offset, d_out_stride: a.dOut.stride };
  recorder.dispatch('rms_norm_inverse', {
    arrays: { inverse, x: a.x.array },
    params: { ...layout, eps: a.eps },
    constants: reductionSize(a.dim),
    workgroups: recorder.grid(vectors),
  });
  recorder.dispatch('rms_norm_backward_weight', {
    arrays: { parts, d_out: a.dOut.array, x: a.x.array, inverse },
    params: { ...layout, ...dOutLayout, chunk, chunks },
    workgroups: [Math.ceil(a.dim / 64), chunks],
  });
  columnSums(recorder, a.dWeight, parts, chunks, a.dim);
  recorder.dispatch('rms_norm_backward', {
    arrays: { dx: a.dx.array, d_out: a.dOut.array, x: a.x.array, scale: a.weight, inverse },
    params: { ...layout, ...dOutLayout, dx_offset: a.dx.offset, dx_stride: a.dx.stride, accumulate: a.accumulate ? 1 : 0 },
    constants: reductionSize(a.dim),
    workgroups: recorder.grid(vectors),
  });
  recorder.free(inverse);
  recorder.free(parts);
}

export function linearBackwardInput(recorder: Recorder, a: B.LinearBackwardInputArgs, w: GpuMatrix): void {
  w.parts.forEach((part, index) => {
    const { format, arrays } = weights(part);
    recorder.dispatch('linear_backward_input', {
      format,
      arrays: { ...arrays, dx: a.dx, d_out: a.dOut },
      params: {
        m: a.rows,
        n: w.cols,
        k: part.rows,
        w_cols: w.cols,
        out_cols: w.rows,
        first_out: part.firstRow,
        accumulate: a.accumulate || index > 0 ? 1 : 0,
      },
      workgroups: [Math.ceil(w.cols / 64), Math.ceil(a.rows / 32)],
    });
  });
}

export function linearBackwardWeight(recorder: Recorder, a: B.LinearBackwardWeightArgs): void {
  if (a.rows === 0) return;
  recorder.dispatch('linear_backward_weight', {
    arrays: { dw: a.dw, d_out: a.dOut, x: a.x },
    params: { m: a.n, n: a.k, k: a.rows },
    workgroups: [Math.ceil(a.k / 64), Math.ceil(a.n / 32)],
  });
  if (a.dBias) columnSums(recorder, a.dBias, a.dOut, a.rows, a.n);
}

/** Three passes: dq with the statistics of each row, the range of rows of each key, then dk and dv. */
export function attentionBackward(recorder: Recorder, a: B.AttentionBackwardArgs): void {
  if (a.rows === 0) return;
  const rangesAt = a.rows * a.heads * 2;
  const stats = recorder.create('f32', rangesAt + a.keyRows * 2, 'attention statistics', true);
  const params = attentionParams(a);
  const constants = headConstants(a.headDim);
  const inputs = { q: a.q.array, k: a.k.array, v: a.v.array, spans: a.spans, d_out: a.dOut };
  recorder.dispatch('attention_backward_query', {
    arrays: { ...inputs, dq: a.dq.array, stats, attended: a.out },
    params: { ...params, dq_offset: a.dq.offset, dq_stride: a.dq.stride },
    constants,
    workgroups: recorder.grid(a.rows * a.heads),
  });
  recorder.dispatch('attention_ranges', {
    arrays: { stats, spans: a.spans },
    params: { rows: a.rows, key_rows: a.keyRows, heads: a.heads, kv_heads: a.kvHeads, ranges_at: rangesAt },
    workgroups: elementwise(recorder, a.keyRows),
  });
  recorder.dispatch('attention_backward_key', {
    arrays: { ...inputs, dk: a.dk.array, dv: a.dv.array, stats },
    params: {
      ...params,
      key_rows: a.keyRows,
      dk_offset: a.dk.offset,
      dk_stride: a.dk.stride,
      dv_offset: a.dv.offset,
      dv_stride: a.dv.stride,
      ranges_at: rangesAt,
    },
    constants,
    workgroups: recorder.grid(a.keyRows * a.kvHeads),
  });
  recorder.free(stats);
}

export function swigluBackward(recorder: Recorder, a: B.SwigluBackwardArgs): void {
  recorder.dispatch('swiglu_backward', {
    arrays: { d_gate_up: a.dGateUp, d_out: a.dOut, gate_up: a.gateUp },
    params: { rows: a.rows, dim: a.dim },
    workgroups: elementwise(recorder, a.rows * a.dim),
  });
}

export function adam(recorder: Recorder, a: B.AdamArgs): void {
  recorder.dispatch('adam', {
    arrays: { param: a.param, grad: a.grad, m: a.m, v: a.v },
    params: {
      length: a.length,
      lr: a.lr,
      beta1: a.beta1,
      beta2: a.beta2,
      one_minus_beta1: 1 - a.beta1,
      one_minus_beta2: 1 - a.beta2,
      eps: a.eps,
      weight_decay: a.weightDecay,
      correction1: 1 / (1 - a.beta1 ** a.step),
      correction2: 1 / (1 - a.beta2 ** a.step),
      grad_scale: a.gradScale,
    },
    workgroups: elementwise(recorder, a.length),
  });
}

/** Two passes: blocks of the array, then the blocks' sums. */
export function sumSquares(recorder: Recorder, out: B.DeviceArray, x: B.DeviceArray, length: number): void {
  const constants = { workgroup_size: 64 };
  const blocks = Math.max(1, Math.min(BLOCKS, Math.ceil(length / 64)));
  const sums = recorder.create('f32', blocks, 'block sums', true);
  recorder.dispatch('sum_squares', { arrays: { sums, x }, params: { length, blocks, squared: 1 }, constants, workgroups: [blocks] });
  recorder.dispatch('sum_squares', {
    arrays: { sums: out, x: sums },
    params: { length: blocks, blocks: 1, squared: 0 },
    constants,
    workgroups: [1],
  });
  recorder.free(sums);
}

function columnSums(recorder: Recorder, sums: B.DeviceArray, values: B.DeviceArray, rows: number, cols: number): void {
  recorder.dispatch('column_sums', { arrays: { sums, values }, params: { rows, cols }, workgroups: [Math.ceil(cols / 16)] });
}
