import type * as B from '../backend.ts';
import * as check from '../check.ts';
import { instantiateKernels, type Kernels } from './kernels.ts';
import { type CpuMatrix, createMatrix, freeMatrix, freshPanels, ownedMatrix } from './matrix.ts';
import { Memory, newArray, owned } from './memory.ts';

/** Runs every kernel at once, on this thread, on arrays in one WASM memory. */
class CpuBackend implements B.Backend {
  readonly info: B.BackendInfo = { kind: 'cpu', adapter: 'WASM SIMD', software: false };
  private readonly kernels: Kernels;
  private memory: Memory;
  private scratch = 0;
  private scratchBytes = 0;

  constructor(memory: Memory, kernels: Kernels) {
    this.memory = memory;
    this.kernels = kernels;
  }

  create(type: B.ElementType, length: number, label: string): B.DeviceArray {
    check.checkCount('create', `length of ${label}`, length);
    const array = newArray(this.memory, type, length, label);
    this.u32(array).fill(0);
    return array;
  }

  upload(data: Float32Array | Uint32Array, label: string): B.DeviceArray {
    const array = newArray(this.memory, data instanceof Float32Array ? 'f32' : 'u32', data.length, label);
    this.write(array, data);
    return array;
  }

  write(array: B.DeviceArray, data: Float32Array | Uint32Array, offset = 0): void {
    check.checkArray('write', 'array', array, data instanceof Float32Array ? 'f32' : 'u32', data.length, offset);
    this.view(array).set(data, offset);
  }

  async read(array: B.DeviceArray, offset = 0, length = array.length - offset): Promise<Float32Array | Uint32Array> {
    check.checkArray('read', 'array', array, array.type, length, offset);
    return this.view(array).slice(offset, offset + length);
  }

  fill(array: B.DeviceArray, value: number, offset = 0, length = array.length - offset): void {
    check.checkArray('fill', 'array', array, array.type, length, offset);
    this.view(array).fill(value, offset, offset + length);
  }

  free(array: B.DeviceArray): void {
    const own = owned(this.memory, array);
    this.memory.release(own.pointer);
    own.pointer = 0;
  }

  matrix(source: B.MatrixSource, label: string): B.Matrix {
    return createMatrix(this.memory, this.kernels, source, label);
  }

  touch(matrix: B.Matrix): void {
    const own = this.own(matrix);
    if (own.format === 'f32') own.panelsAreStale = true;
  }

  freeMatrix(matrix: B.Matrix): void {
    freeMatrix(this.memory, this.own(matrix));
  }

  embed(a: B.EmbedArgs): void {
    check.checkEmbed(a);
    check.checkIndices('embed', 'ids', this.u32(a.ids), a.rows, a.table.rows);
    const [table, out, ids] = [this.own(a.table), this.at(a.out), this.at(a.ids)];
    if (table.format === 'f32') this.kernels.embed(out, table.values.pointer, table.cols, ids, a.rows, a.scale);
    else {
      const scratch = this.scratchOf(table.cols * 32);
      for (const { panels, scales, code, firstRow, rows } of table.parts) {
        this.kernels.embedPacked(out, panels, scales, code, table.cols, ids, a.rows, a.scale, firstRow, rows, scratch);
      }
    }
  }

  rmsNorm(a: B.RmsNormArgs): void {
    check.checkRmsNorm(a);
    this.kernels.rmsNorm(...this.rows(a.out), ...this.rows(a.x), this.at(a.weight), a.rows, a.groups, a.dim, a.eps);
  }

  rope(a: B.RopeArgs): void {
    check.checkRope(a);
    check.checkIndices('rope', 'positions', this.u32(a.positions), a.rows, Math.floor(a.cos.length / (a.headDim / 2)));
    const [cos, sin, positions] = [this.at(a.cos), this.at(a.sin), this.at(a.positions)];
    this.kernels.rope(...this.rows(a.x), cos, sin, positions, a.rows, a.heads, a.headDim, a.inverse ? -1 : 1);
  }

  linear(a: B.LinearArgs): void {
    check.checkLinear(a);
    const w = this.own(a.w);
    const [n, k] = [w.rows, w.cols];
    const [out, x, bias] = [this.at(a.out), this.at(a.x), this.at(a.bias)];
    if (w.format === 'f32') {
      const panels = freshPanels(this.memory, this.kernels, w);
      this.kernels.multiply(out, n * 4, x, k * 4, panels, 32, k * 32, bias, a.rows, n, k, a.accumulate);
    } else {
      const scratch = this.scratchOf(k * 128);
      for (const { panels, scales, code, firstRow, rows } of w.parts) {
        const [to, start] = [out + firstRow * 4, bias && bias + firstRow * 4];
        this.kernels.multiplyPacked(to, n * 4, x, panels, scales, code, start, a.rows, rows, k, a.accumulate, scratch);
      }
    }
  }

  attention(a: B.AttentionArgs): void {
    check.checkAttention(a);
    const width = a.kvHeads * a.headDim;
    const keyRows = Math.min(check.rowsHeld(a.k, width), check.rowsHeld(a.v, width));
    const longest = check.checkSpans('attention', this.u32(a.spans), a.rows, keyRows);
    const scratch = this.scratchOf((longest + 4) * 4);
    const [q, k, v, spans] = [this.rows(a.q), this.rows(a.k), this.rows(a.v), this.at(a.spans)];
    this.kernels.attention(this.at(a.out), ...q, ...k, ...v, spans, scratch, a.rows, a.heads, a.kvHeads, a.headDim);
  }

  swiglu(a: B.SwigluArgs): void {
    check.checkSwiglu(a);
    this.kernels.swiglu(this.at(a.out), this.at(a.gateUp), a.rows, a.dim);
  }

  copyRows(a: B.CopyRowsArgs): void {
    check.checkCopyRows(a);
    if (a.toRows) check.checkIndices('copyRows', 'toRows', this.u32(a.toRows), a.rows, check.rowsHeld(a.to, a.width));
    if (a.fromRows) check.checkIndices('copyRows', 'fromRows', this.u32(a.fromRows), a.rows, check.rowsHeld(a.from, a.width));
    const [toRows, fromRows] = [this.at(a.toRows), this.at(a.fromRows)];
    this.kernels.copyRows(...this.rows(a.to), toRows, ...this.rows(a.from), fromRows, a.rows, a.width);
  }

  crossEntropy(a: B.CrossEntropyArgs): void {
    check.checkCrossEntropy(a);
    check.checkIndices('crossEntropy', 'targets', this.u32(a.targets), a.rows, a.vocab);
    const [loss, dLogits, logits] = [this.at(a.loss), this.at(a.dLogits), this.at(a.logits)];
    this.kernels.crossEntropy(loss, dLogits, logits, this.at(a.targets), this.at(a.weights), a.rows, a.vocab);
  }

  policyLoss(a: B.PolicyLossArgs): void {
    check.checkPolicyLoss(a);
    check.checkIndices('policyLoss', 'targets', this.u32(a.targets), a.rows, a.vocab);
    const [report, dLogits, logits] = [this.at(a.report), this.at(a.dLogits), this.at(a.logits)];
    this.kernels.policyLoss(report, dLogits, logits, this.at(a.targets), this.at(a.terms), a.clip, a.rows, a.vocab);
  }

  l2Normalise(a: B.L2NormaliseArgs): void {
    check.checkL2Normalise(a);
    this.kernels.l2Normalise(...this.rows(a.out), ...this.rows(a.x), a.rows, a.width);
  }

  layerLogits(a: B.LayerLogitArgs): void {
    check.checkLayerLogits(a);
    const w = this.own(a.w);
    check.checkIndices('layerLogits', 'hRows', this.u32(a.hRows), a.count, Math.floor(a.h.length / w.cols));
    check.checkIndices('layerLogits', 'tokens', this.u32(a.tokens), a.count, w.rows);
    const [out, h, hRows, tokens] = [this.at(a.out), this.at(a.h), this.at(a.hRows), this.at(a.tokens)];
    if (w.format === 'f32') this.kernels.layerLogits(out, h, hRows, w.values.pointer, tokens, w.cols, a.count);
    else {
      const scratch = this.scratchOf(w.cols * 36);
      for (const { panels, scales, code, firstRow, rows } of w.parts) {
        this.kernels.layerLogitsPacked(out, h, hRows, panels, scales, code, tokens, w.cols, a.count, firstRow, rows, scratch);
      }
    }
  }

  embedBackward(a: B.EmbedBackwardArgs): void {
    check.checkEmbedBackward(a);
    check.checkIndices('embedBackward', 'ids', this.u32(a.ids), a.rows, a.vocab);
    this.kernels.embedBackward(this.at(a.dTable), this.at(a.dOut), this.at(a.ids), a.rows, a.dim, a.scale);
  }

  rmsNormBackward(a: B.RmsNormBackwardArgs): void {
    check.checkRmsNormBackward(a);
    const [dx, dOut, x] = [this.rows(a.dx), this.rows(a.dOut), this.rows(a.x)];
    const [dWeight, weight] = [this.at(a.dWeight), this.at(a.weight)];
    this.kernels.rmsNormBackward(...dx, dWeight, ...dOut, ...x, weight, a.rows, a.groups, a.dim, a.eps, a.accumulate);
  }

  linearBackwardInput(a: B.LinearBackwardInputArgs): void {
    check.checkLinearBackwardInput(a);
    const w = this.own(a.w);
    const [n, k] = [w.rows, w.cols];
    const [dx, dOut] = [this.at(a.dx), this.at(a.dOut)];
    if (w.format === 'f32') {
      this.kernels.multiply(dx, k * 4, dOut, n * 4, w.values.pointer, k * 4, 32, 0, a.rows, k, n, a.accumulate);
    } else {
      const scratch = this.scratchOf(k * 64);
      for (const { panels, scales, code, firstRow, rows } of w.parts) {
        const more = a.accumulate || firstRow > 0;
        this.kernels.multiplyPackedInput(dx, dOut + firstRow * 4, n * 4, panels, scales, code, a.rows, rows, k, more, scratch);
      }
    }
  }

  linearBackwardWeight(a: B.LinearBackwardWeightArgs): void {
    check.checkLinearBackwardWeight(a);
    this.kernels.linearBackwardWeight(this.at(a.dw), this.at(a.dBias), this.at(a.dOut), this.at(a.x), a.rows, a.n, a.k);
  }

  attentionBackward(a: B.AttentionBackwardArgs): void {
    check.checkAttentionBackward(a);
    const longest = check.checkSpans('attentionBackward', this.u32(a.spans), a.rows, a.keyRows);
    const room = (longest + 7) & ~3;
    const scratch = this.scratchOf(2 * room * Math.ceil(a.heads / a.kvHeads) * 4);
    const gradients = [...this.rows(a.dq), ...this.rows(a.dk), ...this.rows(a.dv)] as const;
    const inputs = [...this.rows(a.q), ...this.rows(a.k), ...this.rows(a.v), this.at(a.spans)] as const;
    const [dOut, out] = [this.at(a.dOut), this.at(a.out)];
    this.kernels.attentionBackward(...gradients, dOut, out, ...inputs, scratch, room, a.rows, a.heads, a.kvHeads, a.headDim);
  }

  swigluBackward(a: B.SwigluBackwardArgs): void {
    check.checkSwigluBackward(a);
    this.kernels.swigluBackward(this.at(a.dGateUp), this.at(a.dOut), this.at(a.gateUp), a.rows, a.dim);
  }

  adam(a: B.AdamArgs): void {
    check.checkAdam(a);
    const [mScale, vScale] = [1 / (1 - a.beta1 ** a.step), 1 / (1 - a.beta2 ** a.step)];
    const betas = [a.beta1, 1 - a.beta1, a.beta2, 1 - a.beta2] as const;
    const [param, grad, m, v] = [this.at(a.param), this.at(a.grad), this.at(a.m), this.at(a.v)];
    this.kernels.adam(param, grad, m, v, a.length, a.lr, ...betas, a.eps, a.weightDecay, mScale, vScale, a.gradScale);
  }

  sumSquares(out: B.DeviceArray, x: B.DeviceArray, length: number): void {
    check.checkSumSquares(out, x, length);
    this.view(out)[0] = this.kernels.sumSquares(this.at(x), length);
  }

  settle(): Promise<void> {
    return Promise.resolve();
  }

  destroy(): void {
    // Arrays of the old memory are now foreign and refused; the memory itself goes with its last reference.
    this.memory = new Memory(2);
    this.scratch = 0;
    this.scratchBytes = 0;
  }

  /** The address of an array, 0 for an absent one. */
  private at(array: B.DeviceArray | undefined): number {
    return array ? owned(this.memory, array).pointer : 0;
  }

  /** Address of the first row and byte stride. */
  private rows(strided: B.Strided): [pointer: number, stride: number] {
    return [this.at(strided.array) + strided.offset * 4, strided.stride * 4];
  }

  private u32(array: B.DeviceArray): Uint32Array {
    return this.memory.u32(this.at(array), array.length);
  }

  private view(array: B.DeviceArray): Float32Array | Uint32Array {
    return array.type === 'f32' ? this.memory.f32(this.at(array), array.length) : this.u32(array);
  }

  private own(matrix: B.Matrix): CpuMatrix {
    return ownedMatrix(this.memory, matrix);
  }

  /** Room for a kernel's intermediate results; holds nothing between calls. */
  private scratchOf(bytes: number): number {
    if (bytes > this.scratchBytes) {
      if (this.scratch !== 0) this.memory.release(this.scratch);
      this.scratch = this.memory.allocate(bytes * 2);
      this.scratchBytes = bytes * 2;
    }
    return this.scratch;
  }
}

/** A CPU backend with a memory of its own; one a worker. @throws {NacreError} `no-wasm-simd` */
export async function createCpuBackend(): Promise<B.Backend> {
  const memory = new Memory();
  return new CpuBackend(memory, await instantiateKernels(memory.wasm));
}
