import { NacreError } from '../../core/errors.ts';
import { KERNELS_BASE64 } from './kernels.generated.ts';

/**
 * The kernels of assembly/, compiled. Arrays are byte addresses, strides are in bytes, an address of 0 means absent;
 * what each computes and in which order stands in its source.
 */
export interface Kernels {
  embed(out: number, table: number, dim: number, ids: number, rows: number, scale: number): void;
  embedPacked(
    ...args: [
      ...[out: number, panels: number, scales: number, format: number, k: number, ids: number, rows: number, scale: number],
      ...[first: number, count: number, scratch: number],
    ]
  ): void;
  embedBackward(dTable: number, dOut: number, ids: number, rows: number, dim: number, scale: number): void;
  copyRows(
    ...args: [to: number, toStride: number, toRows: number, from: number, fromStride: number, fromRows: number, rows: number, width: number]
  ): void;
  layerLogits(out: number, h: number, hRows: number, w: number, tokens: number, dim: number, count: number): void;
  layerLogitsPacked(
    ...args: [
      ...[out: number, h: number, hRows: number, panels: number, scales: number, format: number],
      ...[tokens: number, k: number, points: number, first: number, count: number, scratch: number],
    ]
  ): void;

  packPanels(panels: number, values: number, n: number, k: number): void;
  packHalves(panels: number, values: number, n: number, k: number): void;
  packCodes(panels: number, codes: number, n: number, k: number): void;
  packBlocks(panels: number, blocks: number, format: number, n: number, k: number): void;
  multiply(
    ...args: [
      ...[out: number, outRow: number, a: number, aRow: number, b: number, bStep: number, bTile: number, bias: number],
      ...[rows: number, columns: number, count: number, accumulate: boolean],
    ]
  ): void;
  multiplyPacked(
    ...args: [
      ...[out: number, outRow: number, x: number, panels: number, scales: number, format: number, bias: number],
      ...[rows: number, n: number, k: number, accumulate: boolean, scratch: number],
    ]
  ): void;
  multiplyPackedInput(
    ...args: [
      ...[dx: number, dOut: number, dOutRow: number, panels: number, scales: number, format: number],
      ...[rows: number, n: number, k: number, accumulate: boolean, scratch: number],
    ]
  ): void;
  linearBackwardWeight(dw: number, dBias: number, dOut: number, x: number, rows: number, n: number, k: number): void;

  rmsNorm(
    ...args: [
      ...[out: number, outStride: number, x: number, xStride: number, weight: number],
      ...[rows: number, groups: number, dim: number, eps: number],
    ]
  ): void;
  rmsNormBackward(
    ...args: [
      ...[dx: number, dxStride: number, dWeight: number, dOut: number, dOutStride: number, x: number, xStride: number, weight: number],
      ...[rows: number, groups: number, dim: number, eps: number, accumulate: boolean],
    ]
  ): void;
  rope(
    ...args: [
      ...[x: number, stride: number, cos: number, sin: number, positions: number],
      ...[rows: number, heads: number, headDim: number, sign: number],
    ]
  ): void;
  attention(
    ...args: [
      ...[out: number, q: number, qStride: number, k: number, kStride: number, v: number, vStride: number],
      ...[spans: number, scratch: number, rows: number, heads: number, kvHeads: number, headDim: number],
    ]
  ): void;
  attentionBackward(
    ...args: [
      ...[dq: number, dqStride: number, dk: number, dkStride: number, dv: number, dvStride: number, dOut: number, out: number],
      ...[q: number, qStride: number, k: number, kStride: number, v: number, vStride: number],
      ...[spans: number, scratch: number, room: number, rows: number, heads: number, kvHeads: number, headDim: number],
    ]
  ): void;
  swiglu(out: number, gateUp: number, rows: number, dim: number): void;
  swigluBackward(dGateUp: number, dOut: number, gateUp: number, rows: number, dim: number): void;

  crossEntropy(loss: number, dLogits: number, logits: number, targets: number, weights: number, rows: number, vocab: number): void;
  policyLoss(
    ...args: [
      ...[report: number, dLogits: number, logits: number, targets: number, terms: number],
      ...[clip: number, rows: number, vocab: number],
    ]
  ): void;
  l2Normalise(out: number, outStride: number, x: number, xStride: number, rows: number, width: number): void;
  adam(
    ...args: [
      ...[param: number, grad: number, m: number, v: number, length: number, lr: number],
      ...[beta1: number, rest1: number, beta2: number, rest2: number, eps: number, weightDecay: number],
      ...[mScale: number, vScale: number, gradScale: number],
    ]
  ): void;
  sumSquares(x: number, length: number): number;
}

let compiled: Promise<WebAssembly.Module> | undefined;

/** The kernels over a memory; the code is compiled once a thread. @throws {NacreError} `no-wasm-simd` */
export async function instantiateKernels(memory: WebAssembly.Memory): Promise<Kernels> {
  compiled ??= WebAssembly.compile(Uint8Array.from(atob(KERNELS_BASE64), (character) => character.charCodeAt(0)));
  try {
    const instance = await WebAssembly.instantiate(await compiled, { env: { memory, abort } });
    return instance.exports as unknown as Kernels;
  } catch (cause) {
    throw new NacreError(
      'no-wasm-simd',
      `The CPU kernels could not be loaded: ${cause instanceof Error ? cause.message : String(cause)}`,
      'Use a browser with WebAssembly SIMD (Chrome 91, Firefox 89, Safari 16.4 or newer) and a page that allows WebAssembly.',
      { cause },
    );
  }
}

function abort(): never {
  throw new NacreError('kernel-aborted', 'A CPU kernel stopped.', 'This is a defect of Nacre: please report it with the details.');
}
