import { NacreError } from '../../core/errors.ts';
import type * as B from '../backend.ts';
import type { GpuMatrix, MatrixPart } from './matrix.ts';
import type { Dispatch, Recorder } from './recorder.ts';
import type { KernelName } from './shader.ts';

/** The host side of the forward kernels: which arrays, parameters and workgroups each call becomes. Shapes were checked before. */

/** Up to this many rows the weights are read once for four rows; beyond, the tiled product pays. */
const THIN_ROWS = 16;
const THREADS = 64;

/** Workgroup counts of a kernel with one thread an element. */
export function elementwise(recorder: Recorder, elements: number): readonly [number, number] {
  return recorder.grid(Math.ceil(elements / THREADS));
}

/** Threads that share a reduction of `length` elements: depends on the length alone, and so does the order of the sum. */
export function reductionSize(length: number): { readonly workgroup_size: number } {
  return { workgroup_size: length <= 1024 ? 64 : 256 };
}

export function weights(part: MatrixPart): { readonly format: MatrixPart['format']; readonly arrays: Dispatch['arrays'] } {
  return { format: part.format, arrays: { w: part.words, w_scales: part.scales } };
}

export function embed(recorder: Recorder, a: B.EmbedArgs, table: GpuMatrix): void {
  for (const part of table.parts) {
    const { format, arrays } = weights(part);
    recorder.dispatch('embed', {
      format,
      arrays: { ...arrays, result: a.out, ids: a.ids },
      params: { rows: a.rows, w_cols: table.cols, first_row: part.firstRow, part_rows: part.rows, scale: a.scale },
      workgroups: elementwise(recorder, a.rows * table.cols),
    });
  }
}

export function rmsNorm(recorder: Recorder, a: B.RmsNormArgs): void {
  const vectors = a.rows * a.groups;
  recorder.dispatch('rms_norm', {
    arrays: { result: a.out.array, x: a.x.array, scale: a.weight },
    params: {
      vectors,
      groups: a.groups,
      dim: a.dim,
      x_offset: a.x.offset,
      x_stride: a.x.stride,
      out_offset: a.out.offset,
      out_stride: a.out.stride,
      eps: a.eps,
    },
    constants: reductionSize(a.dim),
    workgroups: recorder.grid(vectors),
  });
}

export function rope(recorder: Recorder, a: B.RopeArgs): void {
  const half = a.headDim / 2;
  recorder.dispatch('rope', {
    arrays: { x: a.x.array, cosines: a.cos, sines: a.sin, positions: a.positions },
    params: {
      rows: a.rows,
      heads: a.heads,
      half_dim: half,
      offset: a.x.offset,
      stride: a.x.stride,
      direction: a.inverse ? -1 : 1,
    },
    workgroups: elementwise(recorder, a.rows * a.heads * half),
  });
}

/** Which kernel multiplies and how it is spread; all three give the same bits. */
function productKernel(
  recorder: Recorder,
  m: number,
  n: number,
): { kernel: KernelName; workgroups: Dispatch['workgroups']; constants?: { readonly rows: number } } {
  if (!recorder.software && m > THIN_ROWS) return { kernel: 'linear', workgroups: [Math.ceil(n / 64), Math.ceil(m / 32)] };
  const rows = m === 1 ? 1 : 4;
  const [x, z] = recorder.grid(Math.ceil(n / (recorder.software ? THREADS : 8)));
  return { kernel: recorder.software ? 'linear_serial' : 'linear_thin', workgroups: [x, Math.ceil(m / rows), z], constants: { rows } };
}

export function linear(recorder: Recorder, a: B.LinearArgs, w: GpuMatrix): void {
  for (const part of w.parts) {
    const { format, arrays } = weights(part);
    const { kernel, ...shape } = productKernel(recorder, a.rows, part.rows);
    recorder.dispatch(kernel, {
      ...shape,
      format,
      // A kernel's binding must be filled: without a bias it gets x, which it does not read.
      arrays: { ...arrays, result: a.out, x: a.x, bias: a.bias ?? a.x },
      params: {
        m: a.rows,
        n: part.rows,
        k: w.cols,
        w_cols: w.cols,
        out_cols: w.rows,
        first_col: part.firstRow,
        has_bias: a.bias ? 1 : 0,
        accumulate: a.accumulate ? 1 : 0,
      },
    });
  }
}

export function attentionParams(a: Pick<B.AttentionArgs, 'rows' | 'heads' | 'kvHeads' | 'q' | 'k' | 'v'>): Record<string, number> {
  return {
    rows: a.rows,
    heads: a.heads,
    kv_heads: a.kvHeads,
    q_offset: a.q.offset,
    q_stride: a.q.stride,
    k_offset: a.k.offset,
    k_stride: a.k.stride,
    v_offset: a.v.offset,
    v_stride: a.v.stride,
  };
}

/** @throws {NacreError} `unsupported-head-size` when the vectors of a head outgrow the guaranteed 16 KiB of workgroup memory */
export function headConstants(headDim: number): { readonly head_dim: number; readonly workgroup_size: number } {
  if (headDim > 512) {
    throw new NacreError(
      'unsupported-head-size',
      `Attention heads of ${headDim} elements; the WebGPU backend takes 512 at most.`,
      'Use the CPU backend.',
    );
  }
  return { head_dim: headDim, workgroup_size: THREADS };
}

export function attention(recorder: Recorder, a: B.AttentionArgs): void {
  recorder.dispatch('attention', {
    arrays: { result: a.out, q: a.q.array, k: a.k.array, v: a.v.array, spans: a.spans },
    params: attentionParams(a),
    constants: headConstants(a.headDim),
    workgroups: recorder.grid(a.rows * a.heads),
  });
}

export function swiglu(recorder: Recorder, a: B.SwigluArgs): void {
  recorder.dispatch('swiglu', {
    arrays: { result: a.out, gate_up: a.gateUp },
    params: { rows: a.rows, dim: a.dim },
    workgroups: elementwise(recorder, a.rows * a.dim),
  });
}

export function copyRows(recorder: Recorder, a: B.CopyRowsArgs): void {
  recorder.dispatch('copy_rows', {
    arrays: {
      destination: a.to.array,
      source: a.from.array,
      to_rows: a.toRows ?? a.from.array,
      from_rows: a.fromRows ?? a.from.array,
    },
    params: {
      rows: a.rows,
      width: a.width,
      to_offset: a.to.offset,
      to_stride: a.to.stride,
      from_offset: a.from.offset,
      from_stride: a.from.stride,
      has_to_rows: a.toRows ? 1 : 0,
      has_from_rows: a.fromRows ? 1 : 0,
    },
    workgroups: elementwise(recorder, a.rows * a.width),
  });
}

export function layerLogits(recorder: Recorder, a: B.LayerLogitArgs, w: GpuMatrix): void {
  for (const part of w.parts) {
    const { format, arrays } = weights(part);
    recorder.dispatch('layer_logits', {
      format,
      arrays: { ...arrays, result: a.out, h: a.h, h_rows: a.hRows, tokens: a.tokens },
      params: { count: a.count, w_cols: w.cols, first_row: part.firstRow, part_rows: part.rows },
      constants: reductionSize(w.cols),
      workgroups: recorder.grid(a.count),
    });
  }
}

export function l2Normalise(recorder: Recorder, a: B.L2NormaliseArgs): void {
  recorder.dispatch('l2_normalise', {
    arrays: { result: a.out.array, x: a.x.array },
    params: {
      rows: a.rows,
      width: a.width,
      x_offset: a.x.offset,
      x_stride: a.x.stride,
      out_offset: a.out.offset,
      out_stride: a.out.stride,
    },
    constants: reductionSize(a.width),
    workgroups: recorder.grid(a.rows),
  });
}
