import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hdbscanSync } from '../../../src/cluster/hdbscan.ts';
import { predict } from '../../../src/cluster/predict.ts';
import type { Clustering } from '../../../src/cluster/types.ts';
import { Random } from '../../../src/core/random.ts';
import { naiveHdbscan } from './naive.ts';

function expectSound({ labels, probabilities, clusters, tree, minClusterSize }: Clustering): void {
  const sizes = clusters.map(() => 0);
  labels.forEach((label, i) => {
    expect(label).toBeGreaterThanOrEqual(-1);
    expect(label).toBeLessThan(clusters.length);
    if (label >= 0) sizes[label]!++;
    expect(probabilities[i]).toBeGreaterThanOrEqual(0);
    expect(probabilities[i]).toBeLessThanOrEqual(1);
    if (label < 0) expect(probabilities[i]).toBe(0);
  });
  clusters.forEach((cluster, label) => {
    expect(cluster.size).toBe(sizes[label]);
    expect(cluster.size).toBeGreaterThanOrEqual(minClusterSize);
    expect(cluster.stability >= 0 || Number.isNaN(cluster.stability)).toBe(true);
    expect(cluster.persistence >= 0 && cluster.persistence <= 1).toBe(true);
    if (label > 0) expect(cluster.id).toBeGreaterThan(clusters[label - 1]!.id);
  });
  // Every point leaves the tree exactly once.
  const leaving = Array.from(tree.child.filter((child) => child < tree.n)).toSorted((a, b) => a - b);
  if (tree.n > 1) expect(leaving).toEqual(Array.from({ length: tree.n }, (_, i) => i));
}

/** Points on a small grid: ties and duplicates are the rule. */
const gridPoints = fc
  .record({ d: fc.integer({ min: 1, max: 4 }), grid: fc.integer({ min: 1, max: 8 }), n: fc.integer({ min: 2, max: 40 }) })
  .chain(({ d, grid, n }) =>
    fc.array(fc.array(fc.integer({ min: 0, max: grid }), { minLength: d, maxLength: d }), { minLength: n, maxLength: n }),
  );
const settings = { minClusterSize: fc.integer({ min: 2, max: 6 }), minSamples: fc.integer({ min: 1, max: 5 }) };

function expectNaive(points: number[][], minClusterSize: number, minSamples: number, queries: number[][]): void {
  const ours = hdbscanSync(points, { minClusterSize, minSamples });
  const naive = naiveHdbscan(points, minClusterSize, minSamples);
  expect(Array.from(ours.labels)).toEqual(naive.labels);
  expect(ours.clusters.map((cluster) => cluster.id)).toEqual(naive.selected);
  naive.probabilities.forEach((probability, i) => {
    expect(ours.probabilities[i]).toBeCloseTo(probability, 12);
  });
  const placed = predict(ours, queries);
  queries.forEach((query, i) => {
    const wanted = naive.predict(query);
    expect(placed.labels[i]).toBe(wanted.label);
    expect(placed.strengths[i]).toBeCloseTo(wanted.strength, 12);
  });
  expectSound(ours);
}

describe('hdbscan', () => {
  it('equals the plain n×n computation on grids full of ties', () => {
    fc.assert(
      fc.property(gridPoints, settings.minClusterSize, settings.minSamples, (points, minClusterSize, minSamples) => {
        const queries = points.slice(0, 5).map((point) => point.map((x) => x + 0.5));
        expectNaive(points, minClusterSize, minSamples, [...points.slice(0, 5), ...queries]);
      }),
      { numRuns: 80, seed: 11 },
    );
  });

  it.each([
    { name: 'a grid in 3 dimensions', n: 180, d: 3, make: (r: Random) => r.int(5), spread: 0 },
    { name: 'groups in 12 dimensions', n: 180, d: 12, make: (r: Random) => r.normal(), spread: 0.3 },
    { name: 'noise in 20 dimensions', n: 120, d: 20, make: (r: Random) => r.normal(), spread: 1 },
    { name: 'groups far from the origin', n: 150, d: 5, make: (r: Random) => 1e6 + r.normal(), spread: 0.1 },
    { name: 'tiny groups', n: 150, d: 5, make: (r: Random) => 1e-8 * r.normal(), spread: 1e-9 },
  ])('equals it over many blocks: $name', ({ n, d, make, spread }) => {
    const random = new Random(3, 'blocks');
    const centres = Array.from({ length: spread > 0 ? 6 : n }, () => Array.from({ length: d }, () => make(random)));
    const points = Array.from({ length: n }, (_, i) => centres[i % centres.length]!.map((x) => x + spread * random.normal()));
    expectNaive(
      points,
      5,
      4,
      points.slice(0, 10).map((point) => point.map((x) => x + spread * random.normal())),
    );
  });

  it('does not change when all lengths are doubled', () => {
    fc.assert(
      fc.property(gridPoints, settings.minClusterSize, settings.minSamples, (points, minClusterSize, minSamples) => {
        const once = hdbscanSync(points, { minClusterSize, minSamples });
        const doubled = points.map((point) => point.map((x) => 2 * x));
        const twice = hdbscanSync(doubled, { minClusterSize, minSamples });
        expect(twice.labels).toEqual(once.labels);
        expect(twice.probabilities).toEqual(once.probabilities);
      }),
      { numRuns: 30, seed: 12 },
    );
  });
});

describe('degenerate points', () => {
  it('no point, and one point', () => {
    for (const points of [[], [[1, 2]]]) {
      const fitted = hdbscanSync(points);
      expect(Array.from(fitted.labels)).toEqual(points.map(() => -1));
      expect(fitted.clusters).toEqual([]);
      expect(predict(fitted, [[1, 2]]).labels[0]).toBe(-1);
    }
  });

  it.each(Array.from({ length: 11 }, (_, i) => i + 2))('%i points: equal, on a line, in pairs', (n) => {
    const kinds = [
      Array.from({ length: n }, () => [0.5, -0.25, 3]),
      Array.from({ length: n }, (_, i) => [i, 2 * i, 0]),
      Array.from({ length: n }, (_, i) => [Math.floor(i / 2) ** 2, 1, 1]),
      Array.from({ length: n }, (_, i) => (i % 2 === 0 ? [0, 0, 0] : [1, 0, 0])),
    ];
    for (const points of kinds) {
      for (const [minClusterSize, minSamples] of [
        [2, 1],
        [2, 2],
        [3, 2],
        [5, 5],
        [10, 5],
      ] as const) {
        expectNaive(points, minClusterSize, minSamples, points.slice(0, 2));
        if (n < minClusterSize) expect(hdbscanSync(points, { minClusterSize, minSamples }).clusters).toEqual([]);
      }
    }
  });

  it('two piles of equal points are two clusters, each with full membership and persistence', () => {
    const fitted = hdbscanSync([...Array(5).fill([0, 0]), ...Array(5).fill([3, 4])] as number[][], { minClusterSize: 3, minSamples: 2 });
    expect(Array.from(fitted.labels)).toEqual([0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
    expect(Array.from(fitted.probabilities)).toEqual(Array(10).fill(1));
    expect(fitted.clusters.map((cluster) => [cluster.stability, cluster.persistence])).toEqual([
      [Number.POSITIVE_INFINITY, 1],
      [Number.POSITIVE_INFINITY, 1],
    ]);
    expectSound(fitted);
  });
});
