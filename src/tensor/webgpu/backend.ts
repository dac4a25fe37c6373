import { NacreError } from '../../core/errors.ts';
import { adapterName, isSoftware } from '../adapter.ts';
import type * as B from '../backend.ts';
import * as check from '../check.ts';
import * as backward from './backward.ts';
import * as forward from './forward.ts';
import { freeMatrixParts, type GpuMatrix, uploadMatrix } from './matrix.ts';
import { Recorder } from './recorder.ts';

export interface WebGpuOptions {
  /** The adapter to use instead of asking `gpu` for one. */
  readonly adapter?: GPUAdapter;
  /** Where adapters come from; `navigator.gpu` unless given (the npm package `webgpu` in Node). */
  readonly gpu?: GPU;
  /** Called once when the device is lost, but not for `destroy`. */
  readonly onLost?: (error: NacreError) => void;
  /** Most bytes of one array or matrix part, below what the adapter offers; to try out the limits of smaller GPUs. */
  readonly maxArrayBytes?: number;
  /** Run the kernels of hardware adapters on a software one; to test them without a GPU. */
  readonly hardwareKernels?: boolean;
}

/** Limits asked for as high as the adapter offers; everything else stays at WebGPU's defaults. */
const RAISED_LIMITS = [
  'maxBufferSize',
  'maxStorageBufferBindingSize',
  'maxComputeWorkgroupStorageSize',
  'maxStorageBuffersPerShaderStage',
] as const;

/**
 * The backend on a GPU device of its own. It needs no optional feature.
 * @throws {NacreError} `webgpu-unavailable` when there is no adapter or it gives no device
 */
export async function createWebGpuBackend(options: WebGpuOptions = {}): Promise<B.Backend> {
  const adapter = options.adapter ?? (await requestAdapter(options.gpu));
  const requiredLimits = Object.fromEntries(RAISED_LIMITS.map((name) => [name, adapter.limits[name]]));
  const device = await adapter.requestDevice({ requiredLimits, label: 'nacre' }).catch((cause: unknown) => {
    throw unavailable(`the adapter ${adapterName(adapter.info)} gave no device (${String(cause)})`, cause);
  });
  const offered = Math.min(device.limits.maxStorageBufferBindingSize, device.limits.maxBufferSize);
  const maxArrayBytes = Math.min(offered, options.maxArrayBytes ?? offered);
  const software = isSoftware(adapter.info);
  const recorder = new Recorder(device, {
    maxArrayBytes,
    software: software && !options.hardwareKernels,
    ...(options.onLost ? { onLost: options.onLost } : {}),
  });
  return new WebGpuBackend(recorder, { kind: 'webgpu', adapter: adapterName(adapter.info), software }, maxArrayBytes);
}

async function requestAdapter(given: GPU | undefined): Promise<GPUAdapter> {
  const gpu = given ?? (typeof navigator === 'undefined' ? undefined : navigator.gpu);
  if (!gpu) throw unavailable('this browser has no WebGPU');
  const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) throw unavailable('the browser offers no GPU adapter');
  return adapter;
}

function unavailable(why: string, cause?: unknown): NacreError {
  return new NacreError(
    'webgpu-unavailable',
    `WebGPU cannot be used: ${why}.`,
    'Use the CPU backend, or a browser with WebGPU (Chrome, Edge, Safari 26, Firefox 141 or later) on a machine with a GPU.',
    { cause },
  );
}

class WebGpuBackend implements B.Backend {
  constructor(
    private readonly recorder: Recorder,
    readonly info: B.BackendInfo,
    private readonly maxArrayBytes: number,
  ) {}

  create(type: B.ElementType, length: number, label: string): B.DeviceArray {
    check.checkCount('create', 'length', length);
    return this.recorder.create(type, length, label);
  }

  upload(data: Float32Array | Uint32Array, label: string): B.DeviceArray {
    return this.recorder.upload(data, label);
  }

  write(array: B.DeviceArray, data: Float32Array | Uint32Array, offset = 0): void {
    check.checkArray('write', 'array', array, data instanceof Float32Array ? 'f32' : 'u32', data.length, offset);
    this.recorder.write(array, data, offset);
  }

  async read(array: B.DeviceArray, offset = 0, length = array.length - offset): Promise<Float32Array | Uint32Array> {
    check.checkArray('read', 'array', array, array.type, length, offset);
    return this.recorder.read(array, offset, length);
  }

  fill(array: B.DeviceArray, value: number, offset = 0, length = array.length - offset): void {
    check.checkArray('fill', 'array', array, array.type, length, offset);
    this.recorder.fill(array, value, offset, length);
  }

  free(array: B.DeviceArray): void {
    this.recorder.free(array);
  }

  matrix(source: B.MatrixSource, label: string): B.Matrix {
    check.checkMatrixSource(source, label);
    return uploadMatrix(this.recorder, source, label, this.maxArrayBytes);
  }

  /** The kernels read `matrix.values` itself, so there is nothing to bring up to date. */
  touch(matrix: B.Matrix): void {
    this.own(matrix);
  }

  freeMatrix(matrix: B.Matrix): void {
    freeMatrixParts(this.recorder, this.own(matrix));
  }

  embed(args: B.EmbedArgs): void {
    check.checkEmbed(args);
    this.checkIndices('embed', 'ids', args.ids, args.rows, args.table.rows);
    forward.embed(this.recorder, args, this.own(args.table));
  }

  rmsNorm(args: B.RmsNormArgs): void {
    check.checkRmsNorm(args);
    forward.rmsNorm(this.recorder, args);
  }

  rope(args: B.RopeArgs): void {
    check.checkRope(args);
    this.checkIndices('rope', 'positions', args.positions, args.rows, Math.floor(args.cos.length / (args.headDim / 2)));
    forward.rope(this.recorder, args);
  }

  linear(args: B.LinearArgs): void {
    check.checkLinear(args);
    forward.linear(this.recorder, args, this.own(args.w));
  }

  attention(args: B.AttentionArgs): void {
    check.checkAttention(args);
    const width = args.kvHeads * args.headDim;
    const keyRows = Math.min(check.rowsHeld(args.k, width), check.rowsHeld(args.v, width));
    check.checkSpans('attention', this.recorder.indicesOf(args.spans), args.rows, keyRows);
    forward.attention(this.recorder, args);
  }

  swiglu(args: B.SwigluArgs): void {
    check.checkSwiglu(args);
    forward.swiglu(this.recorder, args);
  }

  copyRows(args: B.CopyRowsArgs): void {
    check.checkCopyRows(args);
    const { to, from, toRows, fromRows, rows, width } = args;
    if (toRows) this.checkIndices('copyRows', 'toRows', toRows, rows, check.rowsHeld(to, width));
    if (fromRows) this.checkIndices('copyRows', 'fromRows', fromRows, rows, check.rowsHeld(from, width));
    forward.copyRows(this.recorder, args);
  }

  crossEntropy(args: B.CrossEntropyArgs): void {
    check.checkCrossEntropy(args);
    this.checkIndices('crossEntropy', 'targets', args.targets, args.rows, args.vocab);
    backward.crossEntropy(this.recorder, args);
  }

  policyLoss(args: B.PolicyLossArgs): void {
    check.checkPolicyLoss(args);
    this.checkIndices('policyLoss', 'targets', args.targets, args.rows, args.vocab);
    backward.policyLoss(this.recorder, args);
  }

  l2Normalise(args: B.L2NormaliseArgs): void {
    check.checkL2Normalise(args);
    forward.l2Normalise(this.recorder, args);
  }

  layerLogits(args: B.LayerLogitArgs): void {
    check.checkLayerLogits(args);
    this.checkIndices('layerLogits', 'hRows', args.hRows, args.count, Math.floor(args.h.length / args.w.cols));
    this.checkIndices('layerLogits', 'tokens', args.tokens, args.count, args.w.rows);
    forward.layerLogits(this.recorder, args, this.own(args.w));
  }

  embedBackward(args: B.EmbedBackwardArgs): void {
    check.checkEmbedBackward(args);
    this.checkIndices('embedBackward', 'ids', args.ids, args.rows, args.vocab);
    backward.embedBackward(this.recorder, args);
  }

  rmsNormBackward(args: B.RmsNormBackwardArgs): void {
    check.checkRmsNormBackward(args);
    backward.rmsNormBackward(this.recorder, args);
  }

  linearBackwardInput(args: B.LinearBackwardInputArgs): void {
    check.checkLinearBackwardInput(args);
    backward.linearBackwardInput(this.recorder, args, this.own(args.w));
  }

  linearBackwardWeight(args: B.LinearBackwardWeightArgs): void {
    check.checkLinearBackwardWeight(args);
    backward.linearBackwardWeight(this.recorder, args);
  }

  attentionBackward(args: B.AttentionBackwardArgs): void {
    check.checkAttentionBackward(args);
    check.checkSpans('attentionBackward', this.recorder.indicesOf(args.spans), args.rows, args.keyRows);
    backward.attentionBackward(this.recorder, args);
  }

  swigluBackward(args: B.SwigluBackwardArgs): void {
    check.checkSwigluBackward(args);
    backward.swigluBackward(this.recorder, args);
  }

  adam(args: B.AdamArgs): void {
    check.checkAdam(args);
    backward.adam(this.recorder, args);
  }

  sumSquares(out: B.DeviceArray, x: B.DeviceArray, length: number): void {
    check.checkSumSquares(out, x, length);
    backward.sumSquares(this.recorder, out, x, length);
  }

  settle(): Promise<void> {
    return this.recorder.settle();
  }

  destroy(): void {
    this.recorder.destroy();
  }

  private checkIndices(where: string, name: string, array: B.DeviceArray, count: number, limit: number): void {
    check.checkIndices(where, name, this.recorder.indicesOf(array), count, limit);
  }

  private own(matrix: B.Matrix): GpuMatrix {
    const own = matrix as Partial<GpuMatrix> & B.Matrix;
    if (own.owner !== this.recorder) {
      const hint = 'This is a defect of Nacre: please report it with the details.';
      throw new NacreError('foreign-matrix', `Matrix ${matrix.label} is not of this WebGPU backend.`, hint);
    }
    return own as GpuMatrix;
  }
}
