import { describe, expect, it } from 'vitest';
import { Random } from '../../../src/core/random.ts';
import { createCpuBackend } from '../../../src/tensor/cpu/backend.ts';
import { Decoder } from '../../../src/transformer/decoder.ts';
import { parameterSlots } from '../../../src/transformer/parameters.ts';
import { Trainer } from '../../../src/transformer/train.ts';
import type { TrainBatch } from '../../../src/transformer/train-batch.ts';
import type { Architecture, DecoderConfig } from '../../../src/transformer/weights.ts';
import { randomBatch, randomTokens, tinyConfig, tinyWeights } from '../../transformer/models.ts';
import { referenceLoss, referenceParameters, referenceWeights } from '../../transformer/reference.ts';

const small: Partial<DecoderConfig> = { layers: 2, hidden: 12, ffn: 9, vocab: 19, heads: 4, kvHeads: 2, headDim: 4 };

/** Compares the gradient of every parameter array with central differences in float64, at a few coordinates each. */
async function checkGradients(architecture: Architecture, changes: Partial<DecoderConfig>, batch: TrainBatch): Promise<void> {
  const config = tinyConfig(architecture, { ...small, ...changes });
  const weights = tinyWeights(config);
  const trainer = new Trainer(new Decoder(await createCpuBackend(), weights));
  const { gradient, loss } = await trainer.gradient(batch);
  const reference = referenceWeights(weights);
  expect(loss).toBeCloseTo(referenceLoss(config, reference, batch), 3);
  const arrays = referenceParameters(reference);
  const random = new Random(9, 'coordinates');
  for (const { name, offset, length } of parameterSlots(weights)) {
    const array = arrays.get(name)!;
    expect(array.length, name).toBe(length);
    let scale = 0.1;
    for (let i = 0; i < length; i++) scale = Math.max(scale, Math.abs(gradient[offset + i]!));
    for (const i of [0, length - 1, random.int(length), random.int(length), random.int(length)]) {
      const before = array[i]!;
      const step = 1e-5;
      array[i] = before + step;
      const above = referenceLoss(config, reference, batch);
      array[i] = before - step;
      const below = referenceLoss(config, reference, batch);
      array[i] = before;
      const expected = (above - below) / (2 * step);
      expect(Math.abs(gradient[offset + i]! - expected), `${name}[${i}] is ${gradient[offset + i]}, should be ${expected}`).toBeLessThan(
        5e-5 * scale,
      );
    }
  }
}

describe('gradients', () => {
  it.each<[Architecture, Partial<DecoderConfig>]>([
    ['qwen3', {}],
    ['qwen3', { tied: false, kvHeads: 1, heads: 3 }],
    ['qwen2', {}],
    ['llama', {}],
    ['llama', { tied: true, kvHeads: 4 }],
  ])('%s %j: every parameter array agrees with finite differences', async (architecture, changes) => {
    await checkGradients(architecture, changes, randomBatch([7, 1, 11], 19, architecture));
  });

  it('flow into a prefix that the sequences share', async () => {
    await checkGradients('qwen3', {}, { ...randomBatch([6, 9], 19, 'shared'), prefix: Uint32Array.from(randomTokens(5, 19, 'prefix')) });
  });

  it('of the clipped policy loss agree too, on both sides of the clip', async () => {
    const config = tinyConfig('qwen3', small);
    const batch = randomBatch([9, 8], 19, 'policy');
    const trainer = new Trainer(new Decoder(await createCpuBackend(), tinyWeights(config)));
    const { logprobs } = await trainer.gradient(batch);
    const random = new Random(3);
    const advantages = Float32Array.from(batch.tokens, () => (random.chance(0.5) ? 1 : -1) * (0.5 + random.next()));
    const behaviour = logprobs.map((value) => value + [-0.5, -0.1, 0.1, 0.5][random.int(4)]!);
    const policy = { advantages, behaviour, clip: 0.2 };
    const { clipped, rows } = await trainer.gradient({ ...batch, policy });
    expect(clipped).toBeGreaterThan(0);
    expect(clipped).toBeLessThan(rows);
    await checkGradients('qwen3', {}, { ...batch, policy });
  });

  it('of a long batch are the sum over its chunks', async () => {
    const config = tinyConfig('qwen3', { ...small, contextLength: 1024 });
    const trainer = new Trainer(new Decoder(await createCpuBackend(), tinyWeights(config)));
    const batch = randomBatch([900, 900, 900], 19, 'long');
    const whole = await trainer.gradient(batch);
    const one = (part: TrainBatch) => trainer.gradient(part);
    const parts = [0, 900, 1800].map(
      (from): TrainBatch => ({
        tokens: batch.tokens.slice(from, from + 900),
        targets: batch.targets.slice(from, from + 900),
        weights: batch.weights.slice(from, from + 900),
        sequenceStarts: Uint32Array.of(0),
      }),
    );
    const sums = [await one(parts[0]!), await one(parts[1]!), await one(parts[2]!)];
    const scale = Math.max(...whole.gradient.map(Math.abs));
    whole.gradient.forEach((value, i) => {
      const sum = sums.reduce((all, part) => all + part.gradient[i]!, 0);
      expect(Math.abs(value - sum)).toBeLessThan(1e-4 * scale);
    });
    expect(whole.logprobs).toEqual(Float32Array.from(sums.flatMap((part) => Array.from(part.logprobs))));
  });
});
