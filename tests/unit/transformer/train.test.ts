import { describe, expect, it } from 'vitest';
import { Random } from '../../../src/core/random.ts';
import { createCpuBackend } from '../../../src/tensor/cpu/backend.ts';
import { Decoder } from '../../../src/transformer/decoder.ts';
import { ParallelTrainer } from '../../../src/transformer/parallel.ts';
import { flattenWeights, parameterSlots, unflattenWeights } from '../../../src/transformer/parameters.ts';
import { Trainer } from '../../../src/transformer/train.ts';
import { splitBatch, type TrainBatch } from '../../../src/transformer/train-batch.ts';
import { randomBatch, tinyConfig, tinyWeights } from '../../transformer/models.ts';

const config = tinyConfig('qwen3', { hidden: 16, vocab: 12, layers: 2, heads: 2, kvHeads: 1, headDim: 8, ffn: 24 });

async function makeTrainer(): Promise<Trainer> {
  return new Trainer(new Decoder(await createCpuBackend(), tinyWeights(config, 7)));
}

/** Toy task: after `a b`, the next token is (a + b) mod 12. */
function sums(step: number): TrainBatch {
  const random = new Random(step, 'sums');
  const n = 24;
  const tokens = Uint32Array.from({ length: 2 * n }, () => random.int(12));
  const targets = tokens.map((token, i) => (i % 2 === 1 ? (token + tokens[i - 1]!) % 12 : 0));
  return {
    tokens,
    targets,
    weights: Float32Array.from(tokens, (_, i) => i % 2),
    sequenceStarts: Uint32Array.from({ length: n }, (_, i) => 2 * i),
  };
}

async function train(workers: number, from: number, to: number, state?: Awaited<ReturnType<ParallelTrainer['state']>>) {
  const trainer = new ParallelTrainer(await Promise.all(Array.from({ length: workers }, makeTrainer)), 3);
  if (state) await trainer.load(state);
  const losses: number[] = [];
  for (let step = from; step < to; step++) losses.push((await trainer.step(sums(step), { lr: 0.01, clipNorm: 1, weightDecay: 0.01 })).loss);
  return { losses, state: await trainer.state() };
}

describe('training', () => {
  it('learns a toy task', async () => {
    const { losses } = await train(1, 0, 150);
    expect(losses[0]).toBeGreaterThan(2);
    expect(losses.at(-1)).toBeLessThan(0.5);
  });

  it('gives the same bits with one, two or four workers', async () => {
    const one = await train(1, 0, 5);
    expect(await train(2, 0, 5)).toEqual(one);
    expect(await train(4, 0, 5)).toEqual(one);
  });

  it('resumes from its state to the same bits', async () => {
    const whole = await train(1, 0, 8);
    const half = await train(1, 0, 4);
    const rest = await train(2, 4, 8, structuredClone(half.state));
    expect(rest.state).toEqual(whole.state);
    expect([...half.losses, ...rest.losses]).toEqual(whole.losses);
  });

  it('takes Adam steps as a float64 computation does, with decay on matrices only', async () => {
    const trainer = await makeTrainer();
    const weights = tinyWeights(config, 7);
    const expected = Float64Array.from(flattenWeights(weights));
    const m = new Float64Array(expected.length);
    const v = new Float64Array(expected.length);
    const decayed = new Set(['embed', 'qkv', 'o', 'gateUp', 'down', 'unembed']);
    const random = new Random(1, 'adam');
    for (let step = 1; step <= 4; step++) {
      const gradient = Float32Array.from(expected, () => random.normal());
      await trainer.step(gradient, { lr: 0.01, beta1: 0.9, beta2: 0.98, eps: 1e-8, weightDecay: 0.1, gradScale: 0.5 });
      for (const { name, offset, length } of parameterSlots(weights)) {
        const decay = decayed.has(name.split('.').at(-1)!) ? 0.1 : 0;
        for (let i = offset; i < offset + length; i++) {
          const g = 0.5 * gradient[i]!;
          m[i] = 0.9 * m[i]! + 0.1 * g;
          v[i] = 0.98 * v[i]! + 0.02 * g * g;
          const unit = m[i]! / (1 - 0.9 ** step) / (Math.sqrt(v[i]! / (1 - 0.98 ** step)) + 1e-8);
          expected[i] = expected[i]! - 0.01 * (unit + decay * expected[i]!);
        }
      }
    }
    const got = await trainer.parameters();
    const worst = expected.reduce((top, value, i) => Math.max(top, Math.abs(value - got[i]!)), 0);
    expect(worst).toBeLessThan(2e-6);
    expect((await trainer.optimiser()).step).toBe(4);
  });

  it('scales a large gradient down to the clip norm', async () => {
    const state = async (clipNorm: number) => {
      const trainer = new ParallelTrainer([await makeTrainer()], 2);
      const report = await trainer.step(randomBatch([9, 4, 7], 12, 'clip'), { lr: 1, clipNorm, beta1: 0, beta2: 0, eps: 1 });
      const before = flattenWeights(tinyWeights(config, 7));
      const after = (await trainer.state()).parameters;
      // With betas 0 and eps 1 the step is g/(|g|+1), which gives the scaled gradient back.
      const scaled = Array.from(after, (value, i) => {
        const step = before[i]! - value;
        return step / (1 - Math.abs(step));
      });
      return { report, norm: Math.hypot(...scaled) };
    };
    const free = await state(1e9);
    expect(free.norm).toBeCloseTo(free.report.gradientNorm, 2);
    expect(free.report.gradientNorm).toBeGreaterThan(0.5);
    expect((await state(0.25)).norm).toBeCloseTo(0.25, 2);
  });

  it('reports the mean loss and stops at a gradient that is not finite', async () => {
    const batch = randomBatch([5], 12, 'mean');
    const trainer = new ParallelTrainer([await makeTrainer()], 2);
    const { loss, weight, logprobs } = await trainer.step(batch, { lr: 0 });
    const total = batch.weights.reduce((sum, w, i) => sum - (w === 0 ? 0 : w * logprobs[i]!), 0);
    expect(loss).toBeCloseTo(total / weight, 5);
    const poisoned = { ...batch, weights: batch.weights.map(() => Number.NaN) };
    await expect(trainer.step(poisoned, { lr: 0 })).rejects.toMatchObject({ code: 'gradient-not-finite' });
  });

  it('packs and unpacks weights without loss', () => {
    for (const architecture of ['qwen3', 'qwen2', 'llama'] as const) {
      const weights = tinyWeights(tinyConfig(architecture));
      expect(unflattenWeights(weights, flattenWeights(weights))).toEqual(weights);
    }
    expect(() => unflattenWeights(tinyWeights(config), new Float32Array(3))).toThrow(/parameters/);
  });

  it('cuts a batch between sequences into shards of about equal size, losing nothing', () => {
    const batch = randomBatch([5, 1, 1, 30, 2, 8, 9, 3], 12, 'shards');
    const shards = splitBatch(batch, 3);
    expect(shards.flatMap((shard) => Array.from(shard.tokens))).toEqual(Array.from(batch.tokens));
    expect(shards.flatMap((shard) => Array.from(shard.weights))).toEqual(Array.from(batch.weights));
    for (const shard of shards) if (shard.tokens.length > 0) expect(shard.sequenceStarts[0]).toBe(0);
    expect(shards.map((shard) => shard.sequenceStarts.length)).toEqual([3, 2, 3]);
    expect(
      splitBatch(randomBatch([4], 12, 'one'), 3)
        .map((shard) => shard.tokens.length)
        .filter((n) => n > 0),
    ).toEqual([4]);
  });
});
