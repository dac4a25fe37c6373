import type { BlockFormat } from './blocks.ts';

/**
 * The one interface every kernel stands behind. Two implementations: `cpu` (WASM SIMD, executes at once) and `webgpu`
 * (records into a command encoder; `read` submits and waits). All matrices are row-major float32 unless said otherwise.
 *
 * Every output element of a row is reduced in an order that does not depend on how many other rows the call holds, so a
 * sequence gives the same numbers whatever batch, fork or worker it runs in.
 */

export type BackendKind = 'cpu' | 'webgpu';
export type ElementType = 'f32' | 'u32';

/** A device array. Opaque to callers; `length` counts elements. */
export interface DeviceArray {
  readonly type: ElementType;
  readonly length: number;
  readonly label: string;
}

/** How a weight matrix is stored before it is handed to a backend. All are [rows N, cols K], row-major. */
export type MatrixSource = { readonly rows: number; readonly cols: number } & (
  | { readonly format: 'f32'; readonly data: Float32Array }
  | { readonly format: 'f16' | 'bf16'; readonly data: Uint16Array }
  | {
      /** MLC group quantisation: group 32 along K, low nibble first, (code − 7)·scale. */
      readonly format: 'q4';
      /** u32 [N, 4·ceil(K/32)] */
      readonly codes: Uint32Array;
      /** f32 [N, ceil(K/32)] */
      readonly scales: Float32Array;
    }
  | {
      /** GGML's blocks along K; see blocks.ts for what they hold. */
      readonly format: BlockFormat;
      /** u32 [N, ceil(K / block length), words of a block] */
      readonly blocks: Uint32Array;
    }
  | {
      /** Rows stored in different ways, one part below the other; a part is not itself stacked. */
      readonly format: 'stacked';
      readonly parts: readonly PlainSource[];
    }
);

export type PlainSource = Exclude<MatrixSource, { readonly format: 'stacked' }>;

/** A weight matrix [rows N, cols K] on the device, in whatever layout the backend multiplies fastest. */
export interface Matrix {
  readonly rows: number;
  readonly cols: number;
  readonly format: MatrixSource['format'];
  readonly label: string;
  /** The row-major f32 values, only for `format: 'f32'`; after changing it call `backend.touch(matrix)`. */
  readonly values?: DeviceArray;
}

/** Rows of a wider array: row r starts at `offset + r·stride`. */
export interface Strided {
  readonly array: DeviceArray;
  readonly offset: number;
  readonly stride: number;
}

export interface BackendInfo {
  readonly kind: BackendKind;
  /** e.g. `WASM SIMD` or the adapter's own description. */
  readonly adapter: string;
  /** A WebGPU adapter that runs on the CPU (right but slow). */
  readonly software: boolean;
}

export interface EmbedArgs {
  /** f32 [rows, cols of table] */
  readonly out: DeviceArray;
  readonly table: Matrix;
  /** u32 [rows] */
  readonly ids: DeviceArray;
  readonly rows: number;
  readonly scale: number;
}

/** RMS norm of `groups` vectors of length `dim` a row: vector (r, g) starts at offset + r·stride + g·dim. */
export interface RmsNormArgs {
  readonly out: Strided;
  readonly x: Strided;
  /** f32 [dim], shared by all groups */
  readonly weight: DeviceArray;
  readonly rows: number;
  readonly groups: number;
  readonly dim: number;
  readonly eps: number;
}

export interface RmsNormBackwardArgs {
  /** Overwritten, or added to with `accumulate`. */
  readonly dx: Strided;
  /** f32 [dim]; always added to. */
  readonly dWeight: DeviceArray;
  readonly dOut: Strided;
  readonly x: Strided;
  readonly weight: DeviceArray;
  readonly rows: number;
  readonly groups: number;
  readonly dim: number;
  readonly eps: number;
  readonly accumulate: boolean;
}

/** Half-split rotary embedding in place on `heads` vectors of `headDim` a row; `inverse` rotates back (its gradient). */
export interface RopeArgs {
  readonly x: Strided;
  /** f32 [positions, headDim/2] tables computed in float64 on the CPU. */
  readonly cos: DeviceArray;
  readonly sin: DeviceArray;
  /** u32 [rows] */
  readonly positions: DeviceArray;
  readonly rows: number;
  readonly heads: number;
  readonly headDim: number;
  readonly inverse: boolean;
}

/** out[M, N] (+)= x[M, K] · w[N, K]ᵀ + bias[N] */
export interface LinearArgs {
  readonly out: DeviceArray;
  readonly x: DeviceArray;
  readonly w: Matrix;
  readonly bias?: DeviceArray;
  readonly rows: number;
  readonly accumulate: boolean;
}

/** dx[M, K] (+)= dOut[M, N] · w[N, K] */
export interface LinearBackwardInputArgs {
  readonly dx: DeviceArray;
  readonly dOut: DeviceArray;
  readonly w: Matrix;
  readonly rows: number;
  readonly accumulate: boolean;
}

/** dw[N, K] += dOut[M, N]ᵀ · x[M, K];  dBias[N] += column sums of dOut */
export interface LinearBackwardWeightArgs {
  readonly dw: DeviceArray;
  readonly dBias?: DeviceArray;
  readonly dOut: DeviceArray;
  readonly x: DeviceArray;
  readonly n: number;
  readonly k: number;
  readonly rows: number;
}

/**
 * Grouped-query attention. Query row r attends the key rows given by spans[r] = (prefixStart, prefixLength, ownStart,
 * ownLength): first the shared prefix, then the sequence's own rows; both index rows of `k` and `v`. A span of total
 * length 0 writes zeros. Query head h reads key head floor(h·kvHeads/heads). Scores are scaled by headDim^−½.
 */
export interface AttentionArgs {
  /** f32 [rows, heads·headDim] */
  readonly out: DeviceArray;
  readonly q: Strided;
  readonly k: Strided;
  readonly v: Strided;
  /** u32 [rows, 4] */
  readonly spans: DeviceArray;
  readonly rows: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
}

/** Gradients of attention; dq is overwritten, dk and dv are added to (zero them first). Key rows number `keyRows`. */
export interface AttentionBackwardArgs {
  readonly dq: Strided;
  readonly dk: Strided;
  readonly dv: Strided;
  /** f32 [rows, heads·headDim] */
  readonly dOut: DeviceArray;
  /** The forward output, f32 [rows, heads·headDim]. */
  readonly out: DeviceArray;
  readonly q: Strided;
  readonly k: Strided;
  readonly v: Strided;
  readonly spans: DeviceArray;
  readonly rows: number;
  readonly keyRows: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
}

/** out[M, F] = silu(gateUp[:, :F]) · gateUp[:, F:] */
export interface SwigluArgs {
  readonly out: DeviceArray;
  readonly gateUp: DeviceArray;
  readonly rows: number;
  readonly dim: number;
}

export interface SwigluBackwardArgs {
  /** f32 [M, 2F], overwritten */
  readonly dGateUp: DeviceArray;
  readonly dOut: DeviceArray;
  readonly gateUp: DeviceArray;
  readonly rows: number;
  readonly dim: number;
}

/** Copies `width` elements of each row: to.row(toRows ? toRows[r] : r) = from.row(fromRows ? fromRows[r] : r). No overlap. */
export interface CopyRowsArgs {
  readonly to: Strided;
  readonly from: Strided;
  readonly toRows?: DeviceArray;
  readonly fromRows?: DeviceArray;
  readonly rows: number;
  readonly width: number;
}

/**
 * Softmax cross-entropy of logits [rows, vocab] against targets, weighted per row, with its gradient.
 * loss[r] = weight[r]·(logsumexp − logit[target]);  dLogits[r] = weight[r]·(softmax − onehot); a weight of 0 writes zeros.
 */
export interface CrossEntropyArgs {
  readonly loss: DeviceArray;
  /** May be the same array as `logits`. */
  readonly dLogits: DeviceArray;
  readonly logits: DeviceArray;
  /** u32 [rows] */
  readonly targets: DeviceArray;
  /** f32 [rows] */
  readonly weights: DeviceArray;
  readonly rows: number;
  readonly vocab: number;
}

/**
 * The clipped policy-gradient loss with shaped advantages (PEARL eq. 6 and 7) of logits [rows, vocab], and its gradient.
 * ln p = logit[target] − logsumexp;  r = exp(ln p − behaviour);  Ã = advantage·multiplier;
 * loss = −weight·min(r·Ã, clamp(r, 1 ± clip)·Ã);  dLogits = weight·f·(softmax − onehot) with f = r·Ã, or 0 where the clip binds.
 * A weight of 0 writes zeros.
 */
export interface PolicyLossArgs {
  /** f32 [rows, 3]: loss, ln p (without the weight), and 1 where the clip binds, else 0. */
  readonly report: DeviceArray;
  /** May be the same array as `logits`. */
  readonly dLogits: DeviceArray;
  readonly logits: DeviceArray;
  /** u32 [rows] */
  readonly targets: DeviceArray;
  /** f32 [rows, 4]: weight, advantage, multiplier, behaviour (ln p when it was sampled). */
  readonly terms: DeviceArray;
  readonly clip: number;
  readonly rows: number;
  readonly vocab: number;
}

/** out.row(r) = x.row(r) / ‖x.row(r)‖₂ (PEARL eq. 3); a row of zeros stays zero. No overlap. */
export interface L2NormaliseArgs {
  readonly out: Strided;
  readonly x: Strided;
  readonly rows: number;
  readonly width: number;
}

/** dTable[ids[r], :] += scale · dOut[r, :] */
export interface EmbedBackwardArgs {
  readonly dTable: DeviceArray;
  readonly dOut: DeviceArray;
  readonly ids: DeviceArray;
  readonly rows: number;
  readonly dim: number;
  readonly vocab: number;
  readonly scale: number;
}

/** Adam (Kingma & Ba 2015) with decoupled weight decay (Loshchilov & Hutter 2019); grad is multiplied by gradScale first. */
export interface AdamArgs {
  readonly param: DeviceArray;
  readonly grad: DeviceArray;
  readonly m: DeviceArray;
  readonly v: DeviceArray;
  readonly length: number;
  readonly lr: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly eps: number;
  readonly weightDecay: number;
  /** From 1; for the bias correction. */
  readonly step: number;
  readonly gradScale: number;
}

/** out[i] = <h[hRows[i], :], w[tokens[i], :]>: layer logits of chosen tokens at chosen positions (PEARL eq. 2). */
export interface LayerLogitArgs {
  /** f32 [count] */
  readonly out: DeviceArray;
  /** f32 [*, cols of w] */
  readonly h: DeviceArray;
  readonly hRows: DeviceArray;
  readonly tokens: DeviceArray;
  readonly w: Matrix;
  readonly count: number;
}

export interface Backend {
  readonly info: BackendInfo;

  /** A zero-filled array. */
  create(type: ElementType, length: number, label: string): DeviceArray;
  upload(data: Float32Array | Uint32Array, label: string): DeviceArray;
  write(array: DeviceArray, data: Float32Array | Uint32Array, offset?: number): void;
  /** Runs everything recorded and returns a copy of `length` elements from `offset`. */
  read(array: DeviceArray, offset?: number, length?: number): Promise<Float32Array | Uint32Array>;
  fill(array: DeviceArray, value: number, offset?: number, length?: number): void;
  free(array: DeviceArray): void;

  matrix(source: MatrixSource, label: string): Matrix;
  /** Must follow any change of `matrix.values`. */
  touch(matrix: Matrix): void;
  freeMatrix(matrix: Matrix): void;

  embed(args: EmbedArgs): void;
  rmsNorm(args: RmsNormArgs): void;
  rope(args: RopeArgs): void;
  linear(args: LinearArgs): void;
  attention(args: AttentionArgs): void;
  swiglu(args: SwigluArgs): void;
  copyRows(args: CopyRowsArgs): void;
  crossEntropy(args: CrossEntropyArgs): void;
  policyLoss(args: PolicyLossArgs): void;
  layerLogits(args: LayerLogitArgs): void;
  l2Normalise(args: L2NormaliseArgs): void;

  embedBackward(args: EmbedBackwardArgs): void;
  rmsNormBackward(args: RmsNormBackwardArgs): void;
  linearBackwardInput(args: LinearBackwardInputArgs): void;
  linearBackwardWeight(args: LinearBackwardWeightArgs): void;
  attentionBackward(args: AttentionBackwardArgs): void;
  swigluBackward(args: SwigluBackwardArgs): void;
  adam(args: AdamArgs): void;
  /** out[0] = Σ x² over the first `length` elements (float32 in, at least float32 accumulation by blocks). */
  sumSquares(out: DeviceArray, x: DeviceArray, length: number): void;

  /** Waits until everything recorded has run; rejects with a typed error when the device was lost. */
  settle(): Promise<void>;
  /** Frees everything; the backend must not be used afterwards. */
  destroy(): void;
}
