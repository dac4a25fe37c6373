import { afterAll, describe, expect, it } from 'vitest';
import { startNodeWorker } from '../../../scripts/node-worker.ts';
import { createCpuBackend } from '../../../src/tensor/cpu/backend.ts';
import { Decoder } from '../../../src/transformer/decoder.ts';
import { ParallelTrainer } from '../../../src/transformer/parallel.ts';
import { Trainer } from '../../../src/transformer/train.ts';
import type { TrainService } from '../../../workers/train.ts';
import { randomBatch, tinyConfig, tinyWeights } from '../../transformer/models.ts';

const weights = tinyWeights(tinyConfig('qwen3'));
const workers = [startNodeWorker<TrainService>('train'), startNodeWorker<TrainService>('train')];
afterAll(() => Promise.all(workers.map((worker) => worker.close())));

describe('training threads', () => {
  it('arrive at the bits of a single thread', async () => {
    const local = new ParallelTrainer([new Trainer(new Decoder(await createCpuBackend(), weights))], 4);
    await Promise.all(workers.map((worker) => worker.remote.open(weights)));
    const remote = new ParallelTrainer(
      workers.map((worker) => worker.remote),
      4,
    );
    for (let step = 0; step < 3; step++) {
      const batch = randomBatch([20, 3, 15, 9, 11, 30], 37, `threads ${step}`);
      expect(await remote.step(batch, { lr: 0.01, clipNorm: 1 })).toEqual(await local.step(batch, { lr: 0.01, clipNorm: 1 }));
    }
    expect(await remote.state()).toEqual(await local.state());
  });

  it('pass errors on with code and hint', async () => {
    const idle = startNodeWorker<TrainService>('train');
    await expect(idle.remote.parameters()).rejects.toMatchObject({ code: 'trainer-not-open', hint: 'Call open first.' });
    await idle.close();
  });
});
