import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Random } from '../../../src/core/random.ts';
import { sampleToken } from '../../../src/transformer/sampling.ts';

const logits = (...values: number[]): Float32Array => Float32Array.from(values);
const full = { temperature: 1, topP: 1 };

function frequencies(row: Float32Array, sampling: Parameters<typeof sampleToken>[1], n = 20_000): number[] {
  const random = new Random(1, 'frequencies');
  const counts = new Array<number>(row.length).fill(0);
  for (let i = 0; i < n; i++) counts[sampleToken(row, sampling, random).id]!++;
  return counts.map((count) => count / n);
}

describe('sampling', () => {
  it('takes the lowest of the likeliest ids at temperature 0, without a draw', () => {
    const random = new Random(1);
    expect(sampleToken(logits(0, 3, 3, 1), { temperature: 0, topP: 1 }, random).id).toBe(1);
    expect(random.next()).toBe(new Random(1).next());
  });

  it('draws with the tempered probabilities', () => {
    const row = logits(0, Math.log(2), Math.log(5));
    frequencies(row, full).forEach((f, i) => {
      expect(f).toBeCloseTo([1, 2, 5][i]! / 8, 1);
    });
    frequencies(row, { temperature: 0.5, topP: 1 }).forEach((f, i) => {
      expect(f).toBeCloseTo([1, 4, 25][i]! / 30, 1);
    });
  });

  it('keeps the smallest set that reaches the nucleus mass, and at most k tokens', () => {
    const row = logits(Math.log(1), Math.log(2), Math.log(5), Math.log(2));
    expect(frequencies(row, { temperature: 1, topP: 0.5 })).toEqual([0, 0, 1, 0]);
    const nucleus = frequencies(row, { temperature: 1, topP: 0.6 });
    expect(nucleus[0]).toBe(0);
    expect(nucleus[3]).toBe(0);
    expect(nucleus[1]).toBeCloseTo(2 / 7, 1);
    const top3 = frequencies(row, { temperature: 1, topP: 1, topK: 3 });
    expect(top3[0]).toBe(0);
    expect(top3[3]).toBeCloseTo(2 / 9, 1);
    expect(frequencies(row, { temperature: 1, topP: 1e-9 })).toEqual([0, 0, 1, 0]);
  });

  it('reports logprob and entropy of the plain softmax', () => {
    const row = logits(Math.log(1), Math.log(3));
    const { id, logprob, entropy } = sampleToken(row, { temperature: 0.1, topP: 0.2 }, new Random(1));
    expect(id).toBe(1);
    expect(logprob).toBeCloseTo(Math.log(0.75), 6);
    expect(entropy).toBeCloseTo(-0.25 * Math.log(0.25) - 0.75 * Math.log(0.75), 6);
  });

  it('survives extreme logits and refuses those that are not numbers', () => {
    expect(sampleToken(logits(-1e30, 1e30), full, new Random(1))).toEqual({ id: 1, logprob: 0, entropy: 0 });
    expect(sampleToken(logits(Number.NEGATIVE_INFINITY, 0), full, new Random(1)).id).toBe(1);
    expect(() => sampleToken(logits(Number.NaN, 0), full, new Random(1))).toThrow(/not finite/);
    expect(() => sampleToken(logits(0, Number.POSITIVE_INFINITY), full, new Random(1))).toThrow(/not finite/);
  });

  it('always draws a token that has probability, and a log-probability ≤ 0', () => {
    const row = fc.array(fc.float({ min: -60, max: 60, noNaN: true }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(row, fc.nat(), fc.double({ min: 0.01, max: 1, noNaN: true }), fc.nat(5), (values, seed, topP, topK) => {
        const drawn = sampleToken(logits(...values), { temperature: 1, topP, topK }, new Random(seed));
        expect(drawn.id).toBeLessThan(values.length);
        expect(drawn.logprob).toBeLessThanOrEqual(1e-6);
        expect(drawn.entropy).toBeGreaterThanOrEqual(0);
        expect(drawn.entropy).toBeLessThanOrEqual(Math.log(values.length) + 1e-9);
      }),
    );
  });
});
