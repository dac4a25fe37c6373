import { describe, expect, it } from 'vitest';
import type { CondensedTree } from '../../../src/cluster/condense.ts';
import { hdbscanSync } from '../../../src/cluster/hdbscan.ts';
import { predict } from '../../../src/cluster/predict.ts';
import { selectClusters } from '../../../src/cluster/selection.ts';
import { naiveHdbscan, RIGHT, type Rules } from './naive.ts';

type Points = readonly (readonly number[])[];
/** Points of two digits each. */
const pairs = (digits: string): Points => digits.split(' ').map((pair) => [Number(pair[0]), Number(pair[1])]);
const onLine = (...values: number[]): Points => values.map((value) => [value]);

/** Each case is one where the wrong form of a rule changes a label, so that the right form is really tested. */
describe('rules of the selection, on points', () => {
  const cases: { name: string; wrong: Partial<Rules>; points: Points; minClusterSize: number; minSamples: number }[] = [
    {
      name: "the children's stabilities are added in float32",
      wrong: { sum: 'float64' },
      points: onLine(2, 7, 7, 11, 12, 1, 14, 1),
      minClusterSize: 2,
      minSamples: 2,
    },
    {
      name: 'a parent as stable as its children together stays',
      wrong: { tie: 'children' },
      points: onLine(5, 7, 19, 12, 17, 12, 18, 18, 14, 0, 3, 12, 4, 16, 3, 17, 1),
      minClusterSize: 4,
      minSamples: 1,
    },
  ];
  for (const { name, wrong, points, minClusterSize, minSamples } of cases) {
    it(name, () => {
      const right = naiveHdbscan(points, minClusterSize, minSamples);
      expect(naiveHdbscan(points, minClusterSize, minSamples, { ...RIGHT, ...wrong }).labels).not.toEqual(right.labels);
      expect(Array.from(hdbscanSync(points, { minClusterSize, minSamples }).labels)).toEqual(right.labels);
    });
  }
});

describe('rules of the selection, on stabilities', () => {
  /** Root 10, cluster 11 (stability `parent`) with children 12 and 13, and its sibling 14. */
  const choose = (parent: number, left: number, right: number): number[] => {
    const tree: CondensedTree = {
      n: 10,
      parent: Int32Array.of(10, 10, 11, 11),
      child: Int32Array.of(11, 14, 12, 13),
      lambda: Float64Array.of(1, 1, 2, 2),
      size: Int32Array.of(6, 4, 3, 3),
      clusterCount: 5,
    };
    return selectClusters(tree, {
      stability: Float64Array.of(9, parent, left, right, 1),
      parent: Int32Array.of(-1, 10, 11, 11, 10),
      birth: Float64Array.of(0, 1, 2, 2, 1),
      maxLambda: Float64Array.of(1, 2, 3, 3, 3),
      size: Int32Array.of(10, 6, 3, 3, 4),
    });
  };

  it('keeps the parent on equality and below, the children above', () => {
    expect(choose(3, 1, 2)).toEqual([11, 14]);
    expect(choose(3.5, 1, 2)).toEqual([11, 14]);
    expect(choose(2.5, 1, 2)).toEqual([12, 13, 14]);
  });

  it('rounds the children to float32, upwards or downwards, before it compares', () => {
    expect(0.1 + 0.2).toBeLessThan(0.300000005);
    expect(Math.fround(0.1 + 0.2)).toBeGreaterThan(0.300000005);
    expect(choose(0.300000005, 0.1, 0.2)).toEqual([12, 13, 14]);
    expect(Math.fround(16777216 + 0.9)).toBe(16777216);
    expect(choose(16777216.5, 16777216, 0.9)).toEqual([11, 14]);
  });

  it('lets NaN win neither way: the parent stays', () => {
    expect(choose(Number.NaN, 1, 2)).toEqual([11, 14]);
    expect(choose(1, Number.NaN, 2)).toEqual([11, 14]);
  });
});

describe('rules of the prediction', () => {
  const grid = pairs('44 00 04 22 22 40 42 35 41 40 45 45 54 32 23 24 24 01 24 55');
  const scattered = pairs('25 01 33 13 32 50 05 05 51 20 04 41 31 20 21 40'); // A sparse cross near the query, and a dense group just beyond its four nearest points.
  const cross: Points = [
    [1, 0, 0, 0],
    [0, 1, 0, 0],
    [0, 0, 1, 0],
    [0, 0, 0, 1],
    [-1.2, 0, 0, 0],
    [-1.21, 0, 0, 0],
    [-1.22, 0, 0, 0],
    [-1.23, 0, 0, 0],
  ];
  const cases: {
    name: string;
    wrong: Partial<Rules>;
    points: Points;
    query: readonly number[];
    minClusterSize: number;
    minSamples: number;
  }[] = [
    {
      name: 'the walk leaves a cluster born exactly at λ',
      wrong: { walk: '>' },
      points: grid,
      query: [1, 5],
      minClusterSize: 3,
      minSamples: 2,
    },
    {
      name: 'more than min_samples neighbours are looked at',
      wrong: { neighbours: 1 },
      points: scattered,
      query: [1.5, 3.5],
      minClusterSize: 2,
      minSamples: 3,
    },
    {
      name: 'no more than 2·min_samples neighbours are looked at',
      wrong: { neighbours: 3 },
      points: cross,
      query: [0, 0, 0, 0],
      minClusterSize: 3,
      minSamples: 2,
    },
  ];
  for (const { name, wrong, points, query, minClusterSize, minSamples } of cases) {
    it(name, () => {
      const right = naiveHdbscan(points, minClusterSize, minSamples).predict(query);
      const other = naiveHdbscan(points, minClusterSize, minSamples, { ...RIGHT, ...wrong }).predict(query);
      expect(other.label).not.toBe(right.label);
      const placed = predict(hdbscanSync(points, { minClusterSize, minSamples }), [query]);
      expect(placed.labels[0]).toBe(right.label);
      expect(placed.strengths[0]).toBeCloseTo(right.strength, 12);
    });
  }

  it('says why nothing can be placed', () => {
    const flat = hdbscanSync(onLine(1, 2, 3), { minClusterSize: 5, minSamples: 1 });
    expect(predict(flat, [[2]])).toMatchObject({ labels: Int32Array.of(-1), reason: 'The fitted points form no cluster.' });
    const few = hdbscanSync(onLine(0, 1, 10, 11), { minClusterSize: 2, minSamples: 3 });
    expect(few.tree.clusterCount).toBe(1);
    const two = hdbscanSync(onLine(0, 0, 9, 9, 9.5), { minClusterSize: 2, minSamples: 3 });
    const placed = predict({ ...two, tree: { ...two.tree, clusterCount: 3 } }, [[0]]);
    expect(placed.labels[0]).toBe(-1);
    expect(placed.reason).toContain('6 neighbours, but only 5 points');
  });
});
