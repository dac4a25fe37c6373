import { describe, expect, it } from 'vitest';
import { mcnemarExact, mean, wilsonInterval } from '../../../src/core/stats.ts';

describe('wilsonInterval', () => {
  // Reference: statsmodels.stats.proportion.proportion_confint(method="wilson").
  it.each([
    [8, 10, 0.4901625, 0.9433178],
    [0, 20, 0, 0.1611252],
    [20, 20, 0.8388748, 1],
    [50, 100, 0.4038315, 0.5961685],
  ])('%i of %i', (successes, n, low, high) => {
    const [a, b] = wilsonInterval(successes, n);
    expect(a).toBeCloseTo(low, 6);
    expect(b).toBeCloseTo(high, 6);
  });

  it('knows nothing from nothing', () => {
    expect(wilsonInterval(0, 0)).toEqual([0, 1]);
  });
});

describe('mcnemarExact', () => {
  // 2·P(X ≤ min) under Binomial(n, ½).
  it.each([
    [0, 0, 1],
    [1, 0, 1],
    [5, 0, 0.0625],
    [6, 0, 0.03125],
    [10, 2, 0.038574219],
    [3, 3, 1],
    [2, 9, 0.065429688],
  ])('%i gained, %i lost', (gained, lost, p) => {
    expect(mcnemarExact(gained, lost)).toBeCloseTo(p, 8);
    expect(mcnemarExact(lost, gained)).toBeCloseTo(p, 8);
  });

  it('stays finite for thousands of pairs', () => {
    expect(mcnemarExact(5000, 4000)).toBeGreaterThan(0);
    expect(mcnemarExact(5000, 4000)).toBeLessThan(1e-20);
  });
});

it('mean', () => {
  expect(mean([1, 2, 6])).toBe(3);
});
