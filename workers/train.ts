import { NacreError } from '../src/core/errors.ts';
import { exposeService, transfer } from '../src/core/rpc.ts';
import { createCpuBackend } from '../src/tensor/cpu/backend.ts';
import { Decoder } from '../src/transformer/decoder.ts';
import type { GradientWorker } from '../src/transformer/parallel.ts';
import { trainableWeights } from '../src/transformer/parameters.ts';
import { type AdamStep, type OptimiserState, type ShardGradient, Trainer } from '../src/transformer/train.ts';
import type { TrainBatch } from '../src/transformer/train-batch.ts';
import type { DecoderWeights } from '../src/transformer/weights.ts';
import { workerEndpoint } from './endpoint.ts';

/** A `Trainer` on a CPU backend of its own, for data-parallel training. */
export class TrainService implements GradientWorker {
  private trainer: Trainer | undefined;

  /** Must come first: makes the worker's own copy of the weights. */
  async open(weights: DecoderWeights): Promise<void> {
    this.trainer = new Trainer(new Decoder(await createCpuBackend(), trainableWeights(weights)));
  }

  async gradient(batch: TrainBatch): Promise<ShardGradient> {
    const result = await this.opened().gradient(batch);
    return transfer(result, [result.gradient.buffer as ArrayBuffer]);
  }

  step(gradient: Float32Array, settings: AdamStep): Promise<void> {
    return this.opened().step(gradient, settings);
  }

  parameters(): Promise<Float32Array> {
    return this.opened().parameters();
  }

  optimiser(): Promise<OptimiserState> {
    return this.opened().optimiser();
  }

  loadParameters(parameters: Float32Array, optimiser?: OptimiserState): Promise<void> {
    return this.opened().loadParameters(parameters, optimiser);
  }

  private opened(): Trainer {
    if (!this.trainer) throw new NacreError('trainer-not-open', 'The training worker has no weights yet.', 'Call open first.');
    return this.trainer;
  }
}

exposeService(new TrainService(), workerEndpoint());
