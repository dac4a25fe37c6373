import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Random } from '../../src/core/random.ts';
import type { Backend } from '../../src/tensor/backend.ts';
import { createCpuBackend } from '../../src/tensor/cpu/backend.ts';
import { createWebGpuBackend } from '../../src/tensor/webgpu/backend.ts';
import { Decoder } from '../../src/transformer/decoder.ts';
import { probeLayers } from '../../src/transformer/probe.ts';
import { SequencePool } from '../../src/transformer/session.ts';
import { Trainer } from '../../src/transformer/train.ts';
import type { Architecture } from '../../src/transformer/weights.ts';
import { randomBatch, randomTokens, tinyConfig, tinyWeights } from '../transformer/models.ts';

let gpu: Backend;
let cpu: Backend;
beforeAll(async () => {
  gpu = await createWebGpuBackend();
  cpu = await createCpuBackend();
});
afterAll(() => {
  gpu.destroy();
  cpu.destroy();
});

const farthest = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Array.from(a).reduce((top, value, i) => Math.max(top, Math.abs(value - b[i]!)), 0);

describe.each<Architecture>(['qwen3', 'qwen2', 'llama'])('%s on WebGPU', (architecture) => {
  const config = tinyConfig(architecture);
  const weights = tinyWeights(config);

  it('generates the tokens that the CPU generates, in a batch with a prefix and a fork', async () => {
    const play = async (backend: Backend) => {
      const pool = new SequencePool(new Decoder(backend, weights));
      const prefix = await pool.createPrefix(randomTokens(9, config.vocab, 'prefix'));
      const sequences = [pool.start(prefix), pool.start(prefix), pool.start()];
      const turn = (first: number) => (sequence: (typeof sequences)[number], i: number) => ({
        sequence,
        tokens: randomTokens(3 + i, config.vocab, `new ${first + i}`),
        temperature: i % 2,
        topP: 1,
        maxTokens: 6,
        stopIds: [1],
        random: new Random(first + i),
      });
      const one = await pool.decodeTurn(sequences.map(turn(0)));
      const two = await pool.decodeTurn([pool.fork(sequences[1]!), ...sequences].map(turn(10)));
      const out = [...one, ...two];
      pool.decoder.free();
      return out;
    };
    const [a, b] = [await play(gpu), await play(cpu)];
    expect(a.map((turn) => turn.ids)).toEqual(b.map((turn) => turn.ids));
    a.forEach((turn, i) => {
      expect(farthest(turn.logprobs, b[i]!.logprobs)).toBeLessThan(1e-3);
    });
  });

  it('computes the gradients and the layer logits that the CPU computes', async () => {
    const batch = { ...randomBatch([6, 11], config.vocab, 'gpu'), prefix: Uint32Array.of(3, 4, 5) };
    const run = async (backend: Backend) => {
      const decoder = new Decoder(backend, weights);
      const trainer = new Trainer(decoder);
      const { gradient, loss } = await trainer.gradient(batch);
      const probe = await probeLayers(decoder, randomTokens(12, config.vocab, 'probe'), [
        { position: 11, token: 5 },
        { position: 4, token: 36 },
      ]);
      await trainer.step(gradient, { lr: 0.01, beta1: 0.9, beta2: 0.98, eps: 1e-3, weightDecay: 0.1, gradScale: 0.5 });
      const parameters = await trainer.parameters();
      trainer.free();
      decoder.free();
      return { gradient, loss, probe, parameters };
    };
    const [a, b] = [await run(gpu), await run(cpu)];
    expect(a.loss).toBeCloseTo(b.loss, 3);
    expect(farthest(a.gradient, b.gradient)).toBeLessThan(1e-4 * Math.max(...b.gradient.map(Math.abs)));
    expect(farthest(a.probe.raw, b.probe.raw)).toBeLessThan(1e-3);
    expect(farthest(a.probe.normed, b.probe.normed)).toBeLessThan(1e-3);
    expect(farthest(a.parameters, b.parameters)).toBeLessThan(1e-4);
  });
});

describe('on WebGPU', () => {
  it('a row has the same bits alone and in a batch', async () => {
    const config = tinyConfig('qwen3');
    const pool = new SequencePool(new Decoder(gpu, tinyWeights(config)));
    const request = (i: number) => ({
      sequence: pool.start(),
      tokens: randomTokens(4 + i, config.vocab, `row ${i}`),
      temperature: 1,
      topP: 1,
      maxTokens: 5,
      stopIds: [],
      random: new Random(i),
    });
    const together = await pool.decodeTurn([0, 1, 2, 3, 4].map(request));
    for (const i of [0, 3]) expect((await pool.decodeTurn([request(i)]))[0]).toEqual(together[i]);
  });
});
