import type * as B from '../backend.ts';
import * as check from '../check.ts';
import { type CpuArray, Memory, newArray, owned } from './memory.ts';
import * as plain from './plain.ts';
import { unpackMatrix } from './unpack.ts';

interface CpuMatrix extends B.Matrix {
  /** Row-major f32 [rows, cols]. */
  readonly dense: CpuArray;
}

/** Runs every kernel at once, on this thread, on arrays in one WASM memory. */
class CpuBackend implements B.Backend {
  readonly info: B.BackendInfo = { kind: 'cpu', adapter: 'WASM SIMD', software: false };
  private memory = new Memory();

  create(type: B.ElementType, length: number, label: string): B.DeviceArray {
    check.checkCount('create', `length of ${label}`, length);
    const array = newArray(this.memory, type, length, label);
    this.u32(array).fill(0);
    return array;
  }

  upload(data: Float32Array | Uint32Array, label: string): B.DeviceArray {
    const type = data instanceof Float32Array ? 'f32' : 'u32';
    const array = newArray(this.memory, type, data.length, label);
    this.write(array, data);
    return array;
  }

  write(array: B.DeviceArray, data: Float32Array | Uint32Array, offset = 0): void {
    check.checkArray('write', 'array', array, data instanceof Float32Array ? 'f32' : 'u32', data.length, offset);
    if (data instanceof Float32Array) this.f32(array).set(data, offset);
    else this.u32(array).set(data, offset);
  }

  read(array: B.DeviceArray, offset = 0, length = array.length - offset): Promise<Float32Array | Uint32Array> {
    try {
      check.checkArray('read', 'array', array, array.type, length, offset);
      const view = array.type === 'f32' ? this.f32(array) : this.u32(array);
      return Promise.resolve(view.slice(offset, offset + length));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  fill(array: B.DeviceArray, value: number, offset = 0, length = array.length - offset): void {
    check.checkArray('fill', 'array', array, array.type, length, offset);
    (array.type === 'f32' ? this.f32(array) : this.u32(array)).fill(value, offset, offset + length);
  }

  free(array: B.DeviceArray): void {
    const own = owned(this.memory, array);
    this.memory.release(own.pointer);
    own.pointer = 0;
  }

  matrix(source: B.MatrixSource, label: string): B.Matrix {
    check.checkMatrixSource(source, label);
    const dense = newArray(this.memory, 'f32', source.rows * source.cols, label);
    this.f32(dense).set(unpackMatrix(source));
    const { rows, cols, format } = source;
    const matrix: CpuMatrix = { rows, cols, format, label, dense, ...(format === 'f32' ? { values: dense } : {}) };
    return matrix;
  }

  touch(matrix: B.Matrix): void {
    this.dense(matrix);
  }

  freeMatrix(matrix: B.Matrix): void {
    this.free((matrix as CpuMatrix).dense);
  }

  embed(a: B.EmbedArgs): void {
    check.checkEmbed(a);
    const ids = this.u32(a.ids);
    check.checkIndices('embed', 'ids', ids, a.rows, a.table.rows);
    plain.embed(this.f32(a.out), this.dense(a.table), a.table.cols, ids, a.rows, a.scale);
  }

  rmsNorm(a: B.RmsNormArgs): void {
    check.checkRmsNorm(a);
    plain.rmsNorm(this.view(a.out), this.view(a.x), this.f32(a.weight), a.rows, a.groups, a.dim, a.eps);
  }

  rope(a: B.RopeArgs): void {
    check.checkRope(a);
    const positions = this.u32(a.positions);
    check.checkIndices('rope', 'positions', positions, a.rows, Math.floor(a.cos.length / (a.headDim / 2)));
    plain.rope(this.view(a.x), this.f32(a.cos), this.f32(a.sin), positions, a.rows, a.heads, a.headDim, a.inverse);
  }

  linear(a: B.LinearArgs): void {
    check.checkLinear(a);
    const bias = a.bias && this.f32(a.bias);
    plain.linear(this.f32(a.out), this.f32(a.x), this.dense(a.w), bias, a.rows, a.w.rows, a.w.cols, a.accumulate);
  }

  attention(a: B.AttentionArgs): void {
    check.checkAttention(a);
    const spans = this.u32(a.spans);
    const keyRows = this.keyRows(a);
    const longest = check.checkSpans('attention', spans, a.rows, keyRows);
    const [q, k, v] = [this.view(a.q), this.view(a.k), this.view(a.v)];
    plain.attention(this.f32(a.out), q, k, v, spans, longest, a.rows, a.heads, a.kvHeads, a.headDim);
  }

  swiglu(a: B.SwigluArgs): void {
    check.checkSwiglu(a);
    plain.swiglu(this.f32(a.out), this.f32(a.gateUp), a.rows, a.dim);
  }

  copyRows(a: B.CopyRowsArgs): void {
    check.checkCopyRows(a);
    const toRows = a.toRows && this.u32(a.toRows);
    const fromRows = a.fromRows && this.u32(a.fromRows);
    if (toRows) check.checkIndices('copyRows', 'toRows', toRows, a.rows, check.rowsHeld(a.to, a.width));
    if (fromRows) check.checkIndices('copyRows', 'fromRows', fromRows, a.rows, check.rowsHeld(a.from, a.width));
    plain.copyRows(this.view(a.to), this.view(a.from), toRows, fromRows, a.rows, a.width);
  }

  crossEntropy(a: B.CrossEntropyArgs): void {
    check.checkCrossEntropy(a);
    const targets = this.u32(a.targets);
    check.checkIndices('crossEntropy', 'targets', targets, a.rows, a.vocab);
    plain.crossEntropy(this.f32(a.loss), this.f32(a.dLogits), this.f32(a.logits), targets, this.f32(a.weights), a.rows, a.vocab);
  }

  layerLogits(a: B.LayerLogitArgs): void {
    check.checkLayerLogits(a);
    const [hRows, tokens] = [this.u32(a.hRows), this.u32(a.tokens)];
    check.checkIndices('layerLogits', 'hRows', hRows, a.count, Math.floor(a.h.length / a.w.cols));
    check.checkIndices('layerLogits', 'tokens', tokens, a.count, a.w.rows);
    plain.layerLogits(this.f32(a.out), this.f32(a.h), hRows, tokens, this.dense(a.w), a.w.cols, a.count);
  }

  embedBackward(a: B.EmbedBackwardArgs): void {
    check.checkEmbedBackward(a);
    const ids = this.u32(a.ids);
    check.checkIndices('embedBackward', 'ids', ids, a.rows, a.vocab);
    plain.embedBackward(this.f32(a.dTable), this.f32(a.dOut), ids, a.rows, a.dim, a.scale);
  }

  rmsNormBackward(a: B.RmsNormBackwardArgs): void {
    check.checkRmsNormBackward(a);
    const [dx, dOut, x] = [this.view(a.dx), this.view(a.dOut), this.view(a.x)];
    plain.rmsNormBackward(dx, this.f32(a.dWeight), dOut, x, this.f32(a.weight), a.rows, a.groups, a.dim, a.eps, a.accumulate);
  }

  linearBackwardInput(a: B.LinearBackwardInputArgs): void {
    check.checkLinearBackwardInput(a);
    plain.linearBackwardInput(this.f32(a.dx), this.f32(a.dOut), this.dense(a.w), a.rows, a.w.rows, a.w.cols, a.accumulate);
  }

  linearBackwardWeight(a: B.LinearBackwardWeightArgs): void {
    check.checkLinearBackwardWeight(a);
    const dBias = a.dBias && this.f32(a.dBias);
    plain.linearBackwardWeight(this.f32(a.dw), dBias, this.f32(a.dOut), this.f32(a.x), a.rows, a.n, a.k);
  }

  attentionBackward(a: B.AttentionBackwardArgs): void {
    check.checkAttentionBackward(a);
    const spans = this.u32(a.spans);
    const longest = check.checkSpans('attentionBackward', spans, a.rows, a.keyRows);
    const [dq, dk, dv] = [this.view(a.dq), this.view(a.dk), this.view(a.dv)];
    const [q, k, v] = [this.view(a.q), this.view(a.k), this.view(a.v)];
    const [dOut, out] = [this.f32(a.dOut), this.f32(a.out)];
    plain.attentionBackward(dq, dk, dv, dOut, out, q, k, v, spans, longest, a.rows, a.heads, a.kvHeads, a.headDim);
  }

  swigluBackward(a: B.SwigluBackwardArgs): void {
    check.checkSwigluBackward(a);
    plain.swigluBackward(this.f32(a.dGateUp), this.f32(a.dOut), this.f32(a.gateUp), a.rows, a.dim);
  }

  adam(a: B.AdamArgs): void {
    check.checkAdam(a);
    const [param, grad, m, v] = [this.f32(a.param), this.f32(a.grad), this.f32(a.m), this.f32(a.v)];
    const mScale = 1 / (1 - a.beta1 ** a.step);
    const vScale = 1 / (1 - a.beta2 ** a.step);
    for (let i = 0; i < a.length; i++) {
      const g = grad[i]! * a.gradScale;
      m[i] = a.beta1 * m[i]! + (1 - a.beta1) * g;
      v[i] = a.beta2 * v[i]! + (1 - a.beta2) * g * g;
      const step = (m[i]! * mScale) / (Math.sqrt(v[i]! * vScale) + a.eps);
      param[i] = param[i]! - a.lr * (step + a.weightDecay * param[i]!);
    }
  }

  sumSquares(out: B.DeviceArray, x: B.DeviceArray, length: number): void {
    check.checkSumSquares(out, x, length);
    this.f32(out)[0] = plain.sumSquares(this.f32(x), length);
  }

  settle(): Promise<void> {
    return Promise.resolve();
  }

  destroy(): void {
    // Arrays of the old memory are now foreign and refused; the memory itself goes with its last reference.
    this.memory = new Memory(2);
  }

  private f32(array: B.DeviceArray): Float32Array {
    return this.memory.f32(owned(this.memory, array).pointer, array.length);
  }

  private u32(array: B.DeviceArray): Uint32Array {
    return this.memory.u32(owned(this.memory, array).pointer, array.length);
  }

  private view(strided: B.Strided): plain.View {
    return { data: this.f32(strided.array), offset: strided.offset, stride: strided.stride };
  }

  private dense(matrix: B.Matrix): Float32Array {
    return this.f32((matrix as CpuMatrix).dense);
  }

  private keyRows(a: B.AttentionArgs): number {
    const width = a.kvHeads * a.headDim;
    return Math.min(check.rowsHeld(a.k, width), check.rowsHeld(a.v, width));
  }
}

/** A CPU backend with a memory of its own; one a worker. */
export function createCpuBackend(): Promise<B.Backend> {
  return Promise.resolve(new CpuBackend());
}
