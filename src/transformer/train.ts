import type { Backend, DeviceArray } from '../tensor/backend.ts';
import { type Gradients, TrainingPass } from './backward.ts';
import { type Decoder, packed } from './decoder.ts';
import { checkParameterCount, type DeviceParameter, deviceParameters, type ParameterSlot } from './parameters.ts';
import { checkBatch, chunkBatch, layoutRows, type TrainBatch, type TrainRows } from './train-batch.ts';

/** Adam's settings for one step; `gradScale` multiplies the gradient first (normaliser and clipping together). */
export interface AdamStep {
  readonly lr: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly eps: number;
  /** Decoupled; matrices only, never norms and biases. */
  readonly weightDecay: number;
  readonly gradScale: number;
}

/** Adam's state, flat in parameter order. */
export interface OptimiserState {
  readonly step: number;
  readonly m: Float32Array;
  readonly v: Float32Array;
}

/** Sums over the rows of a batch that carry loss. */
export interface LossSums {
  readonly loss: number;
  /** Rows with loss, the sum of their weights, and how many the policy clip bound. */
  readonly rows: number;
  readonly weight: number;
  readonly clipped: number;
  /** ln p of every target under the weights before the step; 0 where the row carries no loss. */
  readonly logprobs: Float32Array;
}

export interface ShardGradient extends LossSums {
  /** Gradient of the summed loss, flat in parameter order. */
  readonly gradient: Float32Array;
}

/** Rows computed together while training; bounds the kept activations. */
const CHUNK = 2048;
/** Most logits held at once. */
const MAX_LOGITS = 1 << 24;

/** Gradients and optimiser of one decoder with float32 weights. */
export class Trainer {
  readonly decoder: Decoder;
  private readonly backend: Backend;
  private readonly parameterList: readonly DeviceParameter[];
  private readonly slots: readonly ParameterSlot[];
  private readonly total: number;
  private readonly gradients: readonly DeviceArray[];
  private readonly tree: Gradients;
  private readonly pass: TrainingPass;
  private readonly flat: DeviceArray;
  private moments: { m: DeviceArray[]; v: DeviceArray[] } | undefined;
  private steps = 0;

  /** @throws {NacreError} `weights-not-f32` */
  constructor(decoder: Decoder) {
    this.decoder = decoder;
    this.backend = decoder.backend;
    this.parameterList = deviceParameters(decoder.weights);
    let offset = 0;
    this.slots = this.parameterList.map(({ name, array }) => {
      offset += array.length;
      return { name, offset: offset - array.length, length: array.length };
    });
    this.total = offset;
    this.gradients = this.zeros('gradient');
    this.tree = gradientTree(decoder, new Map(this.parameterList.map(({ name }, i) => [name, this.gradients[i]!])));
    this.pass = new TrainingPass(decoder);
    this.flat = this.backend.create('f32', this.total, 'flat parameters');
  }

  /**
   * Gradient of Σ weightᵣ·lossᵣ over the batch at the present weights. Chunks are cut between sequences by the batch alone,
   * so the same batch gives the same bits.
   */
  async gradient(batch: TrainBatch): Promise<ShardGradient> {
    checkBatch(batch);
    for (const array of this.gradients) this.backend.fill(array, 0);
    const sums = { loss: 0, rows: 0, weight: 0, clipped: 0, logprobs: new Float32Array(batch.tokens.length) };
    let done = 0;
    for (const chunk of chunkBatch(batch, CHUNK)) {
      const part = await this.accumulate(chunk);
      sums.loss += part.loss;
      sums.rows += part.rows;
      sums.weight += part.weight;
      sums.clipped += part.clipped;
      sums.logprobs.set(part.logprobs, done);
      done += chunk.tokens.length;
    }
    return { ...sums, gradient: await this.readFlat(this.gradients) };
  }

  /** One Adam step on the given gradient. */
  async step(gradient: Float32Array, settings: AdamStep): Promise<void> {
    const { m, v } = this.adamState();
    this.steps++;
    this.writeFlat(this.gradients, gradient);
    this.parameterList.forEach(({ array, matrix }, i) => {
      this.backend.adam({
        ...settings,
        weightDecay: matrix ? settings.weightDecay : 0,
        param: array,
        grad: this.gradients[i]!,
        m: m[i]!,
        v: v[i]!,
        length: array.length,
        step: this.steps,
      });
    });
    this.touch();
    await this.backend.settle();
  }

  parameters(): Promise<Float32Array> {
    return this.readFlat(this.parameterList.map(({ array }) => array));
  }

  async optimiser(): Promise<OptimiserState> {
    const { m, v } = this.adamState();
    return { step: this.steps, m: await this.readFlat(m), v: await this.readFlat(v) };
  }

  /** Replaces the weights, and the optimiser's state or, without one, resets it. */
  async loadParameters(parameters: Float32Array, optimiser?: OptimiserState): Promise<void> {
    this.writeFlat(
      this.parameterList.map(({ array }) => array),
      parameters,
    );
    this.touch();
    const { m, v } = this.adamState();
    this.steps = optimiser?.step ?? 0;
    const zero = optimiser ? undefined : new Float32Array(this.total);
    this.writeFlat(m, optimiser?.m ?? zero!);
    this.writeFlat(v, optimiser?.v ?? zero!);
    await this.backend.settle();
  }

  free(): void {
    for (const array of [...this.gradients, ...(this.moments?.m ?? []), ...(this.moments?.v ?? []), this.flat]) this.backend.free(array);
    this.pass.free();
  }

  private async accumulate(batch: TrainBatch): Promise<LossSums> {
    const layout = layoutRows(batch);
    const logprobs = new Float32Array(batch.tokens.length);
    if (layout.lossRows.length === 0) return { loss: 0, rows: 0, weight: 0, clipped: 0, logprobs };
    const { hidden, vocab } = this.decoder.config;
    const rows = layout.ids.length;
    const h = this.pass.forward(layout);
    const dh = this.pass.scratch.f32('dh', rows * hidden);
    this.backend.fill(dh, 0, 0, rows * hidden);
    const sums = { loss: 0, rows: layout.lossRows.length, weight: 0, clipped: 0 };
    const step = Math.max(1, Math.floor(MAX_LOGITS / vocab));
    for (let from = 0; from < layout.lossRows.length; from += step) {
      const part = await this.lossOfRows(batch, layout, from, Math.min(layout.lossRows.length, from + step), h, dh, logprobs);
      sums.loss += part.loss;
      sums.weight += part.weight;
      sums.clipped += part.clipped;
    }
    this.pass.backward(dh, this.tree);
    return { ...sums, logprobs };
  }

  /** Loss of the loss rows [from, to), its gradient into `dh` and into the final norm and unembedding. */
  private async lossOfRows(
    batch: TrainBatch,
    layout: TrainRows,
    from: number,
    to: number,
    h: DeviceArray,
    dh: DeviceArray,
    logprobs: Float32Array,
  ): Promise<{ loss: number; weight: number; clipped: number }> {
    const { backend } = this;
    const { scratch } = this.pass;
    const { weights, config } = this.decoder;
    const { hidden, vocab, normEps: eps } = config;
    const rows = to - from;
    const batchRows = layout.batchRows.subarray(from, to);
    const lossRows = scratch.u32('loss rows', layout.lossRows.subarray(from, to));
    const picked = packed(scratch.f32('picked', rows * hidden), hidden);
    const normed = scratch.f32('picked normed', rows * hidden);
    const logits = scratch.f32('logits', rows * vocab);
    backend.copyRows({ to: picked, from: packed(h, hidden), fromRows: lossRows, rows, width: hidden });
    backend.rmsNorm({ out: packed(normed, hidden), x: picked, weight: weights.finalNorm, rows, groups: 1, dim: hidden, eps });
    backend.linear({ out: logits, x: normed, w: weights.unembed, rows, accumulate: false });

    const targets = scratch.u32(
      'targets',
      Uint32Array.from(batchRows, (row) => batch.targets[row]!),
    );
    const { policy } = batch;
    const rowWeights = Float32Array.from(batchRows, (row) => batch.weights[row]!);
    const sums = { loss: 0, weight: rowWeights.reduce((sum, w) => sum + w, 0), clipped: 0 };
    if (policy) {
      const { clip, advantages, multipliers, behaviour } = policy;
      const terms = new Float32Array(4 * rows);
      batchRows.forEach((row, i) => {
        terms.set([rowWeights[i]!, advantages[row]!, multipliers?.[row] ?? 1, behaviour[row]!], 4 * i);
      });
      const report = scratch.f32('policy report', 3 * rows);
      backend.policyLoss({ report, dLogits: logits, logits, targets, terms: scratch.floats('policy terms', terms), clip, rows, vocab });
      const read = (await backend.read(report, 0, 3 * rows)) as Float32Array;
      batchRows.forEach((row, i) => {
        sums.loss += read[3 * i]!;
        logprobs[row] = read[3 * i + 1]!;
        sums.clipped += read[3 * i + 2]!;
      });
    } else {
      const loss = scratch.f32('loss', rows);
      backend.crossEntropy({ loss, dLogits: logits, logits, targets, weights: scratch.floats('row weights', rowWeights), rows, vocab });
      const losses = (await backend.read(loss, 0, rows)) as Float32Array;
      batchRows.forEach((row, i) => {
        logprobs[row] = -losses[i]! / rowWeights[i]!;
        sums.loss += losses[i]!;
      });
    }

    backend.linearBackwardWeight({ dw: this.tree.unembed, dOut: logits, x: normed, n: vocab, k: hidden, rows });
    const dNormed = scratch.f32('dPicked normed', rows * hidden);
    backend.linearBackwardInput({ dx: dNormed, dOut: logits, w: weights.unembed, rows, accumulate: false });
    const dPicked = packed(scratch.f32('dPicked', rows * hidden), hidden);
    backend.rmsNormBackward({
      dx: dPicked,
      dWeight: this.tree.finalNorm,
      dOut: packed(dNormed, hidden),
      x: picked,
      weight: weights.finalNorm,
      rows,
      groups: 1,
      dim: hidden,
      eps,
      accumulate: false,
    });
    backend.copyRows({ to: packed(dh, hidden), toRows: lossRows, from: dPicked, rows, width: hidden });
    return sums;
  }

  private adamState(): { m: DeviceArray[]; v: DeviceArray[] } {
    this.moments ??= { m: this.zeros('m'), v: this.zeros('v') };
    return this.moments;
  }

  private zeros(label: string): DeviceArray[] {
    return this.parameterList.map(({ name, array }) => this.backend.create('f32', array.length, `${label} ${name}`));
  }

  private touch(): void {
    for (const { matrix } of this.parameterList) if (matrix) this.backend.touch(matrix);
  }

  /** Gathers one array a parameter into the flat one, so that one read suffices. */
  private async readFlat(arrays: readonly DeviceArray[]): Promise<Float32Array> {
    this.slots.forEach(({ offset, length }, i) => {
      this.backend.copyRows({
        to: { array: this.flat, offset, stride: length },
        from: { array: arrays[i]!, offset: 0, stride: length },
        rows: 1,
        width: length,
      });
    });
    return (await this.backend.read(this.flat)) as Float32Array;
  }

  private writeFlat(arrays: readonly DeviceArray[], flat: Float32Array): void {
    checkParameterCount(this.slots, flat);
    this.slots.forEach(({ offset, length }, i) => {
      this.backend.write(arrays[i]!, flat.subarray(offset, offset + length));
    });
  }
}

function gradientTree(decoder: Decoder, byName: ReadonlyMap<string, DeviceArray>): Gradients {
  const at = (name: string): DeviceArray => byName.get(name)!;
  return {
    embed: at('embed'),
    finalNorm: at('finalNorm'),
    unembed: byName.get('unembed') ?? at('embed'),
    layers: decoder.weights.layers.map((layer, index) => {
      const part = (name: string): DeviceArray => at(`layers.${index}.${name}`);
      return {
        inputNorm: part('inputNorm'),
        qkv: part('qkv'),
        ...(layer.qkvBias ? { qkvBias: part('qkvBias') } : {}),
        ...(layer.qNorm ? { qNorm: part('qNorm') } : {}),
        ...(layer.kNorm ? { kNorm: part('kNorm') } : {}),
        o: part('o'),
        postNorm: part('postNorm'),
        gateUp: part('gateUp'),
        down: part('down'),
      };
    }),
  };
}
