import { describe, expect, it } from 'vitest';
import { Random } from '../../../src/core/random.ts';
import { tokenAdvantages } from '../../../src/pearl/batch.ts';
import { fitMemory } from '../../../src/pearl/clusters.ts';
import { matchPairs, multiplierOf, shapeTokens } from '../../../src/pearl/shaping.ts';
import type { DecisionMatch } from '../../../src/pearl/types.ts';
import { bunch, pair, settings, trajectory } from './builders.ts';

const random = new Random(1, 'shaping');
const loser = trajectory('loser', 0, [
  { see: [1], act: [2, 3] },
  { see: [1], act: [4, 5, 6] },
  { see: [1], act: [7] },
]);
const winner = trajectory('winner', 1, [
  { see: [1], act: [2, 3] },
  { see: [1], act: [8] },
]);
const byId = new Map([loser, winner].map((one) => [one.id, one]));
const lower = { trajectoryId: 'loser', turn: 1, token: 1, position: 0, end: 0, tokenId: 5, tokenText: '' };
const higher = { trajectoryId: 'winner', turn: 1, token: 0, position: 0, end: 0, tokenId: 8, tokenText: '' };
const match = (multiplier: number, kept = true): DecisionMatch => ({ cluster: 0, strength: 1, kept, multiplier });
const advantages = { loser: [-1, -1, -1], winner: [1, 1] };

describe('the multiplier (eq. 6)', () => {
  it('is e for the only kept cluster at temperature 1', () => {
    expect(multiplierOf(1, 1)).toBe(Math.E);
    expect(multiplierOf(0.25, 0.5)).toBeCloseTo(Math.exp(0.5), 15);
  });

  it('falls on the tokens from d to the end of its action, end token included, and nowhere else', () => {
    const shaped = shapeTokens(byId, [pair({ lower, higher, lowerMatch: match(2) })], advantages, 'pattern', random);
    expect(tokenAdvantages(loser, { advantages, shaped })).toEqual([
      [-1, -1, -1],
      [-1, -2, -2, -2],
      [-1, -1],
    ]);
    expect(tokenAdvantages(winner, { advantages, shaped })).toEqual([
      [1, 1, 1],
      [1, 1],
    ]);
  });

  it('leaves alone what matched no kept cluster, and advantages that are not negative', () => {
    const shape = (lowerMatch: DecisionMatch | undefined, base = advantages) =>
      shapeTokens(byId, [pair({ lower, higher, ...(lowerMatch ? { lowerMatch } : {}) })], base, 'pattern', random);
    expect(shape(undefined)).toEqual([]);
    expect(shape(match(1, false))).toEqual([]);
    expect(shape(match(2), { loser: [-1, 0.5, -1], winner: [1, 1] })).toEqual([]);
    expect(shape(match(2), { loser: [-1, 0, -1], winner: [1, 1] })).toEqual([]);
  });

  it('is applied once where regions overlap, the larger one', () => {
    const early = { ...lower, token: 0 };
    const pairs = [
      pair({ id: 'small', lower: early, higher, lowerMatch: match(2) }),
      pair({ id: 'large', lower, higher, lowerMatch: match(3) }),
    ];
    const shaped = shapeTokens(byId, pairs, advantages, 'pattern', random);
    expect(tokenAdvantages(loser, { advantages, shaped })[1]).toEqual([-2, -3, -3, -3]);
    expect(shaped.map(({ pairId, tokens }) => [pairId, tokens.length])).toEqual([
      ['large', 3],
      ['small', 1],
    ]);
  });

  it('at random places spends the same number of tokens with the same multiplier in the same trajectory', () => {
    const seen = new Set<string>();
    for (let seed = 0; seed < 40; seed++) {
      const [entry, ...rest] = shapeTokens(byId, [pair({ lower, higher, lowerMatch: match(2) })], advantages, 'random', new Random(seed));
      expect(rest).toEqual([]);
      expect(entry).toMatchObject({ trajectoryId: 'loser', multiplier: 2 });
      expect(entry!.tokens).toHaveLength(3);
      const places = entry!.tokens.map(({ turn, token }) => `${turn}/${token}`);
      expect(new Set(places).size).toBe(3);
      for (const place of places) seen.add(place);
    }
    // Nine sampled tokens in all: each is chosen sooner or later.
    expect(seen.size).toBe(9);
  });

  it('at random places avoids tokens whose advantage is not negative', () => {
    const mixed = { loser: [1, -1, 1], winner: [1, 1] };
    const [entry] = shapeTokens(byId, [pair({ lower, higher, lowerMatch: match(2) })], mixed, 'random', random);
    expect(entry!.tokens.every(({ turn }) => turn === 1)).toBe(true);
  });
});

describe('matches', () => {
  const { memory } = settings({ memory: { minClusterSize: 4, minSamples: 2 } });
  const failure = [...bunch('n', [0, 1, 0], 6), ...bunch('e', [1, 0, 0], 4), ...bunch('u', [0, 0, 1], 10)];
  const success = [...bunch('sn', [0, 1, 0], 5, 'success'), ...bunch('sd', [0, 0, -1], 15, 'success')];
  const fitted = fitMemory({ failure, success }, 3, memory);
  const feature = (direction: number[]) => bunch('q', direction, 1)[0]!.feature;
  const decisions = [
    { lower: feature([1, 0, 0]), higher: feature([0, 0, -1]) },
    { lower: feature([0, 1, 0]), higher: feature([-1, 0, 0]) },
  ];

  it('say which cluster, whether it was kept, and exp(ρ/T_s)', () => {
    const [kept, vetoed] = matchPairs(fitted, decisions, memory);
    expect(kept!.lowerMatch).toMatchObject({ kept: true, multiplier: Math.exp(4 / 14) });
    expect(kept!.higherMatch).toMatchObject({ kept: true, multiplier: 1 });
    expect(vetoed!.lowerMatch).toMatchObject({ kept: false, multiplier: 1 });
    expect(vetoed!.higherMatch).toMatchObject({ cluster: -1, kept: false, multiplier: 1 });
  });

  it('multiply the success side only when asked to', () => {
    const [one] = matchPairs(fitted, decisions, { ...memory, direction: 'success' });
    expect(one!.lowerMatch!.multiplier).toBe(1);
    expect(one!.higherMatch!.multiplier).toBeCloseTo(Math.exp(15 / 20), 12);
    const [both] = matchPairs(fitted, decisions, { ...memory, direction: 'both', temperature: 2 });
    expect(both!.lowerMatch!.multiplier).toBeCloseTo(Math.exp(4 / 14 / 2), 12);
    const shaped = shapeTokens(byId, [pair({ lower, higher, ...both })], advantages, 'pattern', random);
    expect(tokenAdvantages(winner, { advantages, shaped })[1]).toEqual([Math.exp(15 / 40), Math.exp(15 / 40)]);
  });

  it('do not exist before the first fit', () => {
    expect(matchPairs(undefined, decisions, memory)).toEqual([{}, {}]);
  });
});
