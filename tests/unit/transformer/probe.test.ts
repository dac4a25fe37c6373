import { describe, expect, it } from 'vitest';
import { createCpuBackend } from '../../../src/tensor/cpu/backend.ts';
import { Decoder } from '../../../src/transformer/decoder.ts';
import { probeLayers, readText } from '../../../src/transformer/probe.ts';
import { randomTokens, tinyConfig, tinyWeights } from '../../transformer/models.ts';
import { norm, referenceForward, referenceWeights } from '../../transformer/reference.ts';

const config = tinyConfig('llama', { contextLength: 1024 });
const weights = tinyWeights(config);

describe('layer-logit probe', () => {
  it('agrees with a float64 computation, raw and normed, in any order and over chunks', async () => {
    const decoder = new Decoder(await createCpuBackend(), weights);
    const tokens = randomTokens(540, config.vocab, 'probe');
    const points = [
      { position: 531, token: 3 },
      { position: 0, token: 36 },
      { position: 12, token: 4 },
      { position: 12, token: 7 },
    ];
    const { layers, raw, normed, logits, states } = await probeLayers(decoder, tokens, points);
    const reference = referenceWeights(weights);
    const { residuals, logits: wanted } = referenceForward(config, reference, tokens.slice(0, 532));
    expect(layers).toBe(3);
    points.forEach(({ position, token }, i) => {
      const row = reference.unembed.subarray(token * config.hidden, (token + 1) * config.hidden);
      const dot = (h: number[]) => h.reduce((sum, x, d) => sum + x * row[d]!, 0);
      for (let layer = 0; layer < 3; layer++) {
        const h = residuals[layer]![position]!;
        expect(raw[i * 3 + layer]).toBeCloseTo(dot(h), 3);
        expect(normed[i * 3 + layer]).toBeCloseTo(dot(norm(h, reference.finalNorm, config.normEps)), 3);
      }
      const state = states.subarray(i * config.hidden, (i + 1) * config.hidden);
      norm(residuals[2]![position]!, reference.finalNorm, config.normEps).forEach((x, d) => {
        expect(state[d]).toBeCloseTo(x, 4);
      });
      expect(logits[i]).toBeCloseTo(wanted[position]![token]!, 3);
      expect(normed[i * 3 + 2]).toBeCloseTo(logits[i]!, 4);
    });
    expect(decoder.arena.used).toBe(0);
  });

  it('reads a text: probabilities, entropies, alternatives, and a passing self-check', async () => {
    const decoder = new Decoder(await createCpuBackend(), weights);
    const tokens = randomTokens(9, config.vocab, 'text');
    const { tokens: read, next, selfCheck } = await readText(decoder, tokens, 5);
    expect(read.map((token) => token.id)).toEqual(tokens);
    expect(read[0]).toEqual({ id: tokens[0], top: [], raw: [], normed: [] });
    const { logits } = referenceForward(config, referenceWeights(weights), tokens);
    read.slice(1).forEach((token, i) => {
      const total = logits[i]!.reduce((sum, x) => sum + Math.exp(x), 0);
      const p = logits[i]!.map((x) => Math.exp(x) / total);
      expect(token.logprob).toBeCloseTo(Math.log(p[token.id]!), 4);
      expect(token.entropy).toBeCloseTo(-p.reduce((sum, x) => sum + x * Math.log(x), 0), 4);
      expect(token.top).toHaveLength(5);
      expect(token.top[0]!.probability).toBeCloseTo(Math.max(...p), 4);
      expect(token.raw).toHaveLength(3);
    });
    expect(next.reduce((sum, { probability }) => sum + probability, 0)).toBeLessThanOrEqual(1);
    expect(selfCheck).toBeLessThan(1e-4);
  });

  it('names a point it cannot look at', async () => {
    const decoder = new Decoder(await createCpuBackend(), weights);
    await expect(probeLayers(decoder, [1, 2], [{ position: 2, token: 0 }])).rejects.toMatchObject({ code: 'bad-probe-point' });
    await expect(probeLayers(decoder, [1, 2], [{ position: 1, token: 99 }])).rejects.toMatchObject({ code: 'bad-probe-point' });
    expect((await probeLayers(decoder, [1], [])).raw.length).toBe(0);
  });
});
