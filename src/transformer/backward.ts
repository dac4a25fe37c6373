import type { Backend, DeviceArray, Strided } from '../tensor/backend.ts';
import { type Decoder, packed } from './decoder.ts';
import type { DeviceLayer } from './device-weights.ts';
import { Scratch } from './scratch.ts';
import type { TrainRows } from './train-batch.ts';

export interface LayerGradients {
  readonly inputNorm: DeviceArray;
  readonly qkv: DeviceArray;
  readonly qkvBias?: DeviceArray;
  readonly qNorm?: DeviceArray;
  readonly kNorm?: DeviceArray;
  readonly o: DeviceArray;
  readonly postNorm: DeviceArray;
  readonly gateUp: DeviceArray;
  readonly down: DeviceArray;
}

/** One array a parameter, added to by `backward`; `unembed` is `embed` when tied. */
export interface Gradients {
  readonly embed: DeviceArray;
  readonly layers: readonly LayerGradients[];
  readonly finalNorm: DeviceArray;
  readonly unembed: DeviceArray;
}

/** What a layer's backward pass needs of its forward pass. */
interface Saved {
  /** Residual stream into the layer and after attention, f32 [rows, hidden]. */
  readonly input: DeviceArray;
  readonly middle: DeviceArray;
  readonly normed: DeviceArray;
  readonly qkv: DeviceArray;
  /** Queries and keys after norm and rotation. */
  readonly turned: Strided;
  readonly attended: DeviceArray;
  readonly normed2: DeviceArray;
  readonly gateUp: DeviceArray;
  readonly activated: DeviceArray;
}

interface Pass {
  readonly rows: number;
  readonly ids: DeviceArray;
  readonly positions: DeviceArray;
  readonly spans: DeviceArray;
  readonly cos: DeviceArray;
  readonly sin: DeviceArray;
  readonly layers: Saved[];
  readonly output: DeviceArray;
}

/**
 * Forward pass over packed training sequences with every activation kept, and its backward pass. All arrays are reused by
 * the next call.
 */
export class TrainingPass {
  readonly scratch: Scratch;
  private readonly decoder: Decoder;
  private readonly backend: Backend;
  private pass: Pass | undefined;

  constructor(decoder: Decoder) {
    this.decoder = decoder;
    this.backend = decoder.backend;
    this.scratch = new Scratch(decoder.backend);
  }

  /** The residual stream after the last layer, f32 [rows, hidden]. */
  forward(input: TrainRows): DeviceArray {
    const { backend, scratch } = this;
    const { config, weights } = this.decoder;
    const rows = input.ids.length;
    const { cos, sin } = this.decoder.ropeArrays(input.positions.reduce((top, p) => Math.max(top, p), 0) + 1);
    const ids = scratch.u32('ids', input.ids);
    const positions = scratch.u32('positions', input.positions);
    const spans = scratch.u32('spans', input.spans);
    const output = scratch.f32('output', rows * config.hidden);
    const pass: Pass = { rows, ids, positions, spans, cos, sin, layers: [], output };
    const first = scratch.f32('0 input', rows * config.hidden);
    backend.embed({ out: first, table: weights.embed, ids, rows, scale: config.embedScale });
    weights.layers.forEach((layer, index) => {
      const next = index + 1 < config.layers ? scratch.f32(`${index + 1} input`, rows * config.hidden) : output;
      pass.layers.push(this.forwardLayer(layer, index, pass, next));
    });
    this.pass = pass;
    return output;
  }

  /** Adds to `gradients` given the gradient of `forward`'s result, f32 [rows, hidden], which is overwritten. */
  backward(dh: DeviceArray, gradients: Gradients): void {
    const pass = this.pass!;
    const { config, weights } = this.decoder;
    for (let index = config.layers - 1; index >= 0; index--) {
      this.backwardLayer(weights.layers[index]!, pass.layers[index]!, pass, dh, gradients.layers[index]!);
    }
    this.backend.embedBackward({
      dTable: gradients.embed,
      dOut: dh,
      ids: pass.ids,
      rows: pass.rows,
      dim: config.hidden,
      vocab: config.vocab,
      scale: config.embedScale,
    });
  }

  free(): void {
    this.scratch.free();
  }

  private forwardLayer(layer: DeviceLayer, index: number, pass: Pass, next: DeviceArray): Saved {
    const { backend, scratch } = this;
    const { hidden, heads, kvHeads, headDim, ffn } = this.decoder.config;
    const { rows, spans, positions, cos, sin } = pass;
    const array = (name: string, width: number): DeviceArray => scratch.f32(`${index} ${name}`, rows * width);
    const width = (heads + 2 * kvHeads) * headDim;
    const saved = {
      input: array('input', hidden),
      middle: array('middle', hidden),
      normed: array('normed', hidden),
      qkv: array('qkv', width),
      attended: array('attended', heads * headDim),
      normed2: array('normed2', hidden),
      gateUp: array('gateUp', 2 * ffn),
      activated: array('activated', ffn),
    };
    this.norm(saved.normed, saved.input, layer.inputNorm, rows);
    backend.linear({
      out: saved.qkv,
      x: saved.normed,
      w: layer.qkv,
      ...(layer.qkvBias ? { bias: layer.qkvBias } : {}),
      rows,
      accumulate: false,
    });
    const turned = this.turn(layer, index, saved.qkv, rows);
    backend.rope({ x: turned, cos, sin, positions, rows, heads: heads + kvHeads, headDim, inverse: false });
    const { k, v } = this.keysAndValues(turned, saved.qkv);
    backend.attention({ out: saved.attended, q: turned, k, v, spans, rows, heads, kvHeads, headDim });
    this.copy(saved.middle, saved.input, rows);
    backend.linear({ out: saved.middle, x: saved.attended, w: layer.o, rows, accumulate: true });
    this.norm(saved.normed2, saved.middle, layer.postNorm, rows);
    backend.linear({ out: saved.gateUp, x: saved.normed2, w: layer.gateUp, rows, accumulate: false });
    backend.swiglu({ out: saved.activated, gateUp: saved.gateUp, rows, dim: ffn });
    this.copy(next, saved.middle, rows);
    backend.linear({ out: next, x: saved.activated, w: layer.down, rows, accumulate: true });
    return { ...saved, turned };
  }

  /** Turns `dh`, the gradient of the layer's output, into that of its input. */
  private backwardLayer(layer: DeviceLayer, saved: Saved, pass: Pass, dh: DeviceArray, to: LayerGradients): void {
    const { backend, scratch } = this;
    const { hidden, heads, kvHeads, headDim, ffn } = this.decoder.config;
    const { rows, spans, positions, cos, sin } = pass;
    const [qWidth, kvWidth] = [heads * headDim, kvHeads * headDim];
    const width = qWidth + 2 * kvWidth;

    const dActivated = scratch.f32('dActivated', rows * ffn);
    backend.linearBackwardInput({ dx: dActivated, dOut: dh, w: layer.down, rows, accumulate: false });
    backend.linearBackwardWeight({ dw: to.down, dOut: dh, x: saved.activated, n: hidden, k: ffn, rows });
    const dGateUp = scratch.f32('dGateUp', rows * 2 * ffn);
    backend.swigluBackward({ dGateUp, dOut: dActivated, gateUp: saved.gateUp, rows, dim: ffn });
    const dNormed = scratch.f32('dNormed', rows * hidden);
    backend.linearBackwardInput({ dx: dNormed, dOut: dGateUp, w: layer.gateUp, rows, accumulate: false });
    backend.linearBackwardWeight({ dw: to.gateUp, dOut: dGateUp, x: saved.normed2, n: 2 * ffn, k: hidden, rows });
    this.normBackward(dh, dNormed, saved.middle, layer.postNorm, to.postNorm, rows);

    const dAttended = scratch.f32('dAttended', rows * qWidth);
    backend.linearBackwardInput({ dx: dAttended, dOut: dh, w: layer.o, rows, accumulate: false });
    backend.linearBackwardWeight({ dw: to.o, dOut: dh, x: saved.attended, n: hidden, k: qWidth, rows });
    const dQkv = scratch.f32('dQkv', rows * width);
    backend.fill(dQkv, 0, 0, rows * width);
    const dTurned = this.gradientOfTurned(layer, dQkv, rows);
    const d = this.keysAndValues(dTurned, dQkv);
    backend.attentionBackward({
      dq: dTurned,
      dk: d.k,
      dv: d.v,
      dOut: dAttended,
      out: saved.attended,
      q: saved.turned,
      ...this.keysAndValues(saved.turned, saved.qkv),
      spans,
      rows,
      keyRows: rows,
      heads,
      kvHeads,
      headDim,
    });
    backend.rope({ x: dTurned, cos, sin, positions, rows, heads: heads + kvHeads, headDim, inverse: true });
    this.turnBackward(layer, saved.qkv, dTurned, dQkv, to, rows);
    backend.linearBackwardInput({ dx: dNormed, dOut: dQkv, w: layer.qkv, rows, accumulate: false });
    const dBias = to.qkvBias ? { dBias: to.qkvBias } : {};
    backend.linearBackwardWeight({ dw: to.qkv, ...dBias, dOut: dQkv, x: saved.normed, n: width, k: hidden, rows });
    this.normBackward(dh, dNormed, saved.input, layer.inputNorm, to.inputNorm, rows);
  }

  /** Queries and keys after their per-head norm (Qwen3), in an array of their own because the backward pass needs both. */
  private turn(layer: DeviceLayer, index: number, qkv: DeviceArray, rows: number): Strided {
    const { heads, kvHeads, headDim: dim, normEps: eps } = this.decoder.config;
    const stride = (heads + 2 * kvHeads) * dim;
    if (!layer.qNorm || !layer.kNorm) return packed(qkv, stride);
    const turned = packed(this.scratch.f32(`${index} turned`, rows * (heads + kvHeads) * dim), (heads + kvHeads) * dim);
    this.backend.rmsNorm({ out: turned, x: packed(qkv, stride), weight: layer.qNorm, rows, groups: heads, dim, eps });
    const keys = { offset: heads * dim };
    this.backend.rmsNorm({
      out: { ...turned, ...keys },
      x: { array: qkv, stride, ...keys },
      weight: layer.kNorm,
      rows,
      groups: kvHeads,
      dim,
      eps,
    });
    return turned;
  }

  private gradientOfTurned(layer: DeviceLayer, dQkv: DeviceArray, rows: number): Strided {
    const { heads, kvHeads, headDim } = this.decoder.config;
    if (!layer.qNorm) return packed(dQkv, (heads + 2 * kvHeads) * headDim);
    const stride = (heads + kvHeads) * headDim;
    const array = this.scratch.f32('dTurned', rows * stride);
    this.backend.fill(array, 0, 0, rows * stride);
    return packed(array, stride);
  }

  private turnBackward(layer: DeviceLayer, qkv: DeviceArray, dTurned: Strided, dQkv: DeviceArray, to: LayerGradients, rows: number): void {
    const { heads, kvHeads, headDim: dim, normEps: eps } = this.decoder.config;
    if (!layer.qNorm || !layer.kNorm || !to.qNorm || !to.kNorm) return;
    const stride = (heads + 2 * kvHeads) * dim;
    const part = (offset: number, groups: number, weight: DeviceArray, dWeight: DeviceArray): void =>
      this.backend.rmsNormBackward({
        dx: { array: dQkv, offset, stride },
        dWeight,
        dOut: { ...dTurned, offset },
        x: { array: qkv, offset, stride },
        weight,
        rows,
        groups,
        dim,
        eps,
        accumulate: false,
      });
    part(0, heads, layer.qNorm, to.qNorm);
    part(heads * dim, kvHeads, layer.kNorm, to.kNorm);
  }

  /** Keys lie behind the queries of `turned`, values behind queries and keys of `qkv`. */
  private keysAndValues(turned: Strided, qkv: DeviceArray): { k: Strided; v: Strided } {
    const { heads, kvHeads, headDim } = this.decoder.config;
    return {
      k: { ...turned, offset: heads * headDim },
      v: { array: qkv, offset: (heads + kvHeads) * headDim, stride: (heads + 2 * kvHeads) * headDim },
    };
  }

  private norm(out: DeviceArray, x: DeviceArray, weight: DeviceArray, rows: number): void {
    const { hidden, normEps: eps } = this.decoder.config;
    this.backend.rmsNorm({ out: packed(out, hidden), x: packed(x, hidden), weight, rows, groups: 1, dim: hidden, eps });
  }

  private normBackward(dx: DeviceArray, dOut: DeviceArray, x: DeviceArray, weight: DeviceArray, dWeight: DeviceArray, rows: number): void {
    const { hidden, normEps: eps } = this.decoder.config;
    const dense = (array: DeviceArray): Strided => packed(array, hidden);
    this.backend.rmsNormBackward({
      dx: dense(dx),
      dWeight,
      dOut: dense(dOut),
      x: dense(x),
      weight,
      rows,
      groups: 1,
      dim: hidden,
      eps,
      accumulate: true,
    });
  }

  private copy(to: DeviceArray, from: DeviceArray, rows: number): void {
    const { hidden } = this.decoder.config;
    this.backend.copyRows({ to: packed(to, hidden), from: packed(from, hidden), rows, width: hidden });
  }
}
