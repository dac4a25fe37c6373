import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keepTop, readDistribution, TokenTracer } from '../../../../src/models/webllm/trace.ts';

const logits = fc
  .array(fc.float({ min: -50, max: 50, noNaN: true }), { minLength: 1, maxLength: 60 })
  .map((values) => Float32Array.from(values));

describe('reading a distribution', () => {
  it('agrees with the definition', () => {
    fc.assert(
      fc.property(logits, fc.nat(), (values, pick) => {
        const token = pick % values.length;
        const weights = [...values].map((value) => Math.exp(value - Math.max(...values)));
        const sum = weights.reduce((a, b) => a + b, 0);
        const p = weights.map((weight) => weight / sum);
        const { logprob, entropy } = readDistribution(values, token);
        expect(Math.exp(logprob)).toBeCloseTo(p[token]!, 6);
        expect(entropy).toBeCloseTo(-p.reduce((total, q) => total + (q > 0 ? q * Math.log(q) : 0), 0), 6);
      }),
    );
  });

  it('takes banned tokens as impossible', () => {
    const { logprob, entropy } = readDistribution(Float32Array.of(1, Number.NEGATIVE_INFINITY, 1), 0);
    expect(logprob).toBeCloseTo(Math.log(0.5), 6);
    expect(entropy).toBeCloseTo(Math.log(2), 6);
  });
});

describe('keeping the likeliest', () => {
  it('keeps exactly as many, and no less likely one than those it bans', () => {
    fc.assert(
      fc.property(logits, fc.integer({ min: 1, max: 70 }), (values, count) => {
        const kept = keepTop(values, count);
        const stays = [...kept.keys()].filter((i) => kept[i] !== -1e9);
        expect(stays).toHaveLength(Math.min(count, values.length));
        const banned = [...values.keys()].filter((i) => !stays.includes(i));
        for (const i of banned) for (const j of stays) expect(values[i]! < values[j]! || (values[i] === values[j] && j < i)).toBe(true);
      }),
    );
  });
});

it('records what is sampled from what was shown', () => {
  const tracer = new TokenTracer();
  const shown = Float32Array.of(0, Math.log(3));
  expect(tracer.processLogits(shown)).toBe(shown);
  // The memory is used again before the token is known.
  shown.fill(0);
  tracer.processSampledToken(1);
  const { ids, logprobs } = tracer.take();
  expect(ids).toEqual([1]);
  expect(logprobs[0]).toBeCloseTo(Math.log(0.75), 6);
  expect(tracer.take().ids).toEqual([]);
  tracer.topK = 1;
  expect([...tracer.processLogits(Float32Array.of(0, 2))]).toEqual([-1e9, 2]);
});
