import { startNodeWorker } from '../../scripts/node-worker.ts';
import { ParallelTrainer } from '../../src/transformer/parallel.ts';
import type { TrainService } from '../../workers/train.ts';
import { benchWeights, trainBatch } from './nacre-works.ts';
import type { BenchModel } from './peers/model.ts';
import type { Work } from './types.ts';

/** A training step over worker threads, as `train:tiny` does it. */
export async function nacreThreadedStep(model: BenchModel, threads: number): Promise<{ work: Work; close(): Promise<void> }> {
  const weights = benchWeights(model);
  const workers = Array.from({ length: threads }, () => startNodeWorker<TrainService>('train'));
  for (const { remote } of workers) await remote.open(weights);
  const trainer = new ParallelTrainer(
    workers.map(({ remote }) => remote),
    threads,
  );
  const batch = trainBatch(model);
  return {
    work: {
      amount: model.batch * model.time,
      async run() {
        await trainer.step(batch, { lr: 1e-3, clipNorm: 1 });
      },
    },
    async close() {
      for (const worker of workers) await worker.close();
    },
  };
}
