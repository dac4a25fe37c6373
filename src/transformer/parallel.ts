import { NacreError } from '../core/errors.ts';
import type { AdamStep, OptimiserState, ShardGradient } from './train.ts';
import { splitBatch, type TrainBatch } from './train-batch.ts';

/** Whoever can compute gradients at its own copy of the weights: a `Trainer` here, or one in another thread. */
export interface GradientWorker {
  gradient(batch: TrainBatch): Promise<ShardGradient>;
  step(gradient: Float32Array, settings: AdamStep): Promise<void>;
  parameters(): Promise<Float32Array>;
  optimiser(): Promise<OptimiserState>;
  /** Replaces the weights, and the optimiser's state or, without one, resets it. */
  loadParameters(parameters: Float32Array, optimiser?: OptimiserState): Promise<void>;
}

export interface StepSettings extends Partial<Omit<AdamStep, 'gradScale'>> {
  readonly lr: number;
  /** Largest global gradient norm; larger gradients are scaled down to it. Default: no limit. */
  readonly clipNorm?: number;
  /** Divide the loss by the sum of the rows' weights (a mean). Off, weights are taken as given. Default true. */
  readonly normalise?: boolean;
}

export interface StepReport {
  /** Of the whole batch, divided as the gradient was. */
  readonly loss: number;
  /** Norm before clipping. */
  readonly gradientNorm: number;
  readonly rows: number;
  readonly weight: number;
  readonly clipped: number;
  readonly logprobs: Float32Array;
}

export interface TrainerState {
  readonly parameters: Float32Array;
  readonly optimiser: OptimiserState;
}

export const ADAM_DEFAULTS = { beta1: 0.9, beta2: 0.98, eps: 1e-8, weightDecay: 0 } as const;

/**
 * Data-parallel training. A batch is cut into a fixed number of shards whose gradients are added in shard order, and every
 * worker takes the same optimiser step on the sum; so weights are the same to the bit for any number of workers.
 */
export class ParallelTrainer {
  private readonly workers: readonly GradientWorker[];
  private readonly shards: number;

  /** @param shards fixed for a run whatever the machine; more than the workers is fine. */
  constructor(workers: readonly GradientWorker[], shards: number) {
    if (workers.length === 0) throw new NacreError('no-workers', 'Training needs at least one worker.', 'Start one.');
    this.workers = workers;
    this.shards = shards;
  }

  async step(batch: TrainBatch, settings: StepSettings): Promise<StepReport> {
    const parts = await this.gradients(splitBatch(batch, this.shards));
    const sum = parts[0]!.gradient;
    for (const part of parts.slice(1)) for (let i = 0; i < sum.length; i++) sum[i] = sum[i]! + part.gradient[i]!;
    const total = (field: 'loss' | 'rows' | 'weight' | 'clipped'): number => parts.reduce((all, part) => all + part[field], 0);
    const weight = total('weight');
    const scale = settings.normalise === false || weight === 0 ? 1 : 1 / weight;
    const gradientNorm = scale * norm(sum);
    if (!Number.isFinite(gradientNorm)) {
      throw new NacreError(
        'gradient-not-finite',
        'The gradient is not finite: training diverged.',
        'Lower the learning rate and resume from a checkpoint.',
      );
    }
    const { clipNorm = Number.POSITIVE_INFINITY } = settings;
    const clip = gradientNorm > clipNorm ? clipNorm / gradientNorm : 1;
    const { beta1, beta2, eps, weightDecay } = { ...ADAM_DEFAULTS, ...settings };
    const adam: AdamStep = { lr: settings.lr, beta1, beta2, eps, weightDecay, gradScale: scale * clip };
    await Promise.all(this.workers.map((worker) => worker.step(sum, adam)));
    const logprobs = new Float32Array(batch.tokens.length);
    let done = 0;
    for (const part of parts) {
      logprobs.set(part.logprobs, done);
      done += part.logprobs.length;
    }
    return { loss: scale * total('loss'), gradientNorm, rows: total('rows'), weight, clipped: total('clipped'), logprobs };
  }

  async state(): Promise<TrainerState> {
    const worker = this.workers[0]!;
    return { parameters: await worker.parameters(), optimiser: await worker.optimiser() };
  }

  /** Puts every worker into the given state; training then goes on to the same bits. */
  async load(state: TrainerState): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.loadParameters(state.parameters, state.optimiser)));
  }

  /** Shards are taken by whichever worker is free; results stand in shard order. */
  private async gradients(shards: readonly TrainBatch[]): Promise<ShardGradient[]> {
    const results = new Array<ShardGradient>(shards.length);
    let next = 0;
    const work = async (worker: GradientWorker): Promise<void> => {
      for (let i = next++; i < shards.length; i = next++) results[i] = await worker.gradient(shards[i]!);
    };
    await Promise.all(this.workers.map(work));
    return results;
  }
}

/** Euclidean norm, summed in float64. */
function norm(values: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]! * values[i]!;
  return Math.sqrt(sum);
}
