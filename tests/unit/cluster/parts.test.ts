import { describe, expect, it } from 'vitest';
import { centroids } from '../../../src/cluster/centroids.ts';
import { symmetricEigen } from '../../../src/cluster/eigen.ts';
import { hdbscan, hdbscanSync } from '../../../src/cluster/hdbscan.ts';
import { persistence } from '../../../src/cluster/labels.ts';
import { toMatrix, toRows } from '../../../src/cluster/matrix.ts';
import { predict } from '../../../src/cluster/predict.ts';
import { project, projectOnto } from '../../../src/cluster/projection.ts';
import { reportOf } from '../../../src/cluster/report.ts';
import { treeNodes } from '../../../src/cluster/tree-nodes.ts';
import { Random } from '../../../src/core/random.ts';

describe('errors', () => {
  it.each([
    {
      name: 'NaN',
      points: [
        [1, 2],
        [1, Number.NaN],
      ],
      code: 'not-finite',
      says: 'points: row 1, column 1 is NaN',
    },
    { name: 'infinity', points: [[Number.NEGATIVE_INFINITY]], code: 'not-finite', says: 'row 0, column 0 is -Infinity' },
    { name: 'a coordinate whose square overflows', points: [[1], [1e200]], code: 'not-finite', says: 'row 1, column 0 is 1e+200' },
    { name: 'a ragged row', points: [[1, 2], [1, 2], [1]], code: 'bad-shape', says: 'row 2 has 1 numbers, but row 0 has 2' },
    { name: 'an empty row', points: [[]], code: 'bad-shape', says: 'row 0 has 0 numbers' },
    { name: 'text', points: [['1']] as unknown as number[][], code: 'not-a-number', says: 'row 0, column 0 is "1"' },
  ])('$name', ({ points, code, says }) => {
    expect(() => hdbscanSync(points)).toThrow(expect.objectContaining({ code, message: expect.stringContaining(says) }));
  });

  it('a matrix whose data do not fit', () => {
    expect(() => hdbscanSync({ rows: 2, columns: 2, data: new Float64Array(3) })).toThrow('3 numbers cannot be 2 rows of 2');
    expect(() => hdbscanSync({ rows: 1, columns: 2, data: Float64Array.of(0, Number.NaN) })).toThrow('row 0, column 1 is NaN');
  });

  it.each([
    [{ minClusterSize: 1 }, 'min cluster size is 1'],
    [{ minClusterSize: 2.5 }, 'min cluster size is 2.5'],
    [{ minSamples: 0 }, 'min samples is 0'],
    [{ minSamples: Number.NaN }, 'min samples is NaN'],
  ])('setting %o', (options, says) => {
    expect(() => hdbscanSync([[1]], options)).toThrow(
      expect.objectContaining({ code: 'bad-setting', message: expect.stringContaining(says) }),
    );
  });

  it('queries of another dimension', () => {
    const fitted = hdbscanSync([
      [1, 2],
      [3, 4],
    ]);
    expect(() => predict(fitted, [[1, 2, 3]])).toThrow(
      expect.objectContaining({ code: 'bad-shape', message: expect.stringContaining('queries') }),
    );
  });
});

describe('centroids', () => {
  const points = toMatrix(
    [
      [1, 0],
      [0, 1],
      [3, 4],
      [9, 9],
      [-3, -4],
    ],
    'points',
  );
  it('are plain, normalised or weighted means without the noise', () => {
    const labels = [0, 0, 1, -1, 2];
    const probabilities = [1, 0.5, 1, 0, 0];
    expect(toRows(centroids(points, labels, probabilities, 3))).toEqual([
      [0.5, 0.5],
      [3, 4],
      [-3, -4],
    ]);
    const normalised = toRows(centroids(points, labels, probabilities, 3, 'meanNormalised'));
    expect(normalised[0]![0]).toBeCloseTo(Math.SQRT1_2, 15);
    expect(normalised[1]).toEqual([0.6, 0.8]);
    const weighted = toRows(centroids(points, labels, probabilities, 3, 'probabilityWeighted'));
    expect(weighted[0]![0]).toBeCloseTo(2 / 3, 15);
    expect(weighted[2]).toEqual([-3, -4]);
  });

  it('leave a mean of length 0 where it is', () => {
    expect(toRows(centroids(points, [-1, -1, 0, -1, 0], [1, 1, 1, 1, 1], 1, 'meanNormalised'))).toEqual([[0, 0]]);
  });

  it('of the kind that was asked for are part of the result', () => {
    const line = [
      [1, 0],
      [1, 0],
      [1, 0],
      [3, 0],
      [3, 0],
      [3, 0],
    ];
    const of = (centroid: 'mean' | 'meanNormalised'): number[][] =>
      hdbscanSync(line, { minClusterSize: 2, minSamples: 1, centroid }).clusters.map((cluster) => Array.from(cluster.centroid));
    expect(of('mean')).toEqual([
      [1, 0],
      [3, 0],
    ]);
    expect(of('meanNormalised')).toEqual([
      [1, 0],
      [1, 0],
    ]);
  });
});

describe('the condensed tree as nodes', () => {
  it('gives each cluster its span, its children and the points that leave it', () => {
    // Two groups of three; a lone point far away. Below three points a group falls apart at once.
    const fitted = hdbscanSync([[0], [1], [0.5], [100], [103], [101], [400]], { minClusterSize: 3, minSamples: 1 });
    const nodes = treeNodes(fitted);
    expect(nodes.map(({ id, parent, size, label, children }) => ({ id, parent, size, label, children }))).toEqual([
      { id: 7, parent: -1, size: 7, label: -1, children: [8, 9] },
      { id: 8, parent: 7, size: 3, label: 0, children: [] },
      { id: 9, parent: 7, size: 3, label: 1, children: [] },
    ]);
    expect(nodes[0]).toMatchObject({ birth: 0, death: 1 / 99, leaving: Float64Array.of(1 / 297) });
    expect(nodes[2]).toMatchObject({ birth: 1 / 99, death: 1 / 2, leaving: Float64Array.of(1 / 2, 1 / 2, 1 / 2) });
    expect(nodes[2]!.stability).toBe(fitted.clusters[1]!.stability);
  });

  it('is empty without points', () => {
    expect(treeNodes(hdbscanSync([]))).toEqual([]);
  });
});

describe('persistence', () => {
  it('is the share of the possible stability, 1 where that has no meaning', () => {
    expect(persistence(6, 4, 3)).toBe(0.5);
    expect([persistence(6, 4, Number.POSITIVE_INFINITY), persistence(0, 4, 0), persistence(0, 0, 3)]).toEqual([1, 1, 1]);
  });
});

describe('projection', () => {
  it('finds the eigenvalues and vectors of a symmetric matrix', () => {
    const d = 17;
    const random = new Random(5, 'eigen');
    const a = new Float64Array(d * d);
    for (let i = 0; i < d; i++) for (let j = i; j < d; j++) a[i * d + j] = a[j * d + i] = random.normal();
    const { values, vectors } = symmetricEigen(a, d);
    for (let p = 0; p < d; p++) {
      if (p > 0) expect(values[p]).toBeLessThanOrEqual(values[p - 1]!);
      for (let i = 0; i < d; i++) {
        let product = 0;
        for (let j = 0; j < d; j++) product += a[i * d + j]! * vectors[p * d + j]!;
        expect(product).toBeCloseTo(values[p]! * vectors[p * d + i]!, 12);
      }
    }
  });

  it('puts the widest direction first, with the share of variance and a fixed sign', () => {
    const points = [
      [0, 0, 5],
      [0, 4, 5],
      [0, -4, 5],
      [1, 0, 5],
      [-1, 0, 5],
    ];
    const { coordinates, explained, axes } = project(points);
    expect(toRows(axes)).toEqual([
      [0, 1, 0],
      [1, 0, 0],
    ]);
    expect(toRows(coordinates)[1]).toEqual([4, 0]);
    expect(explained[0]).toBeCloseTo(32 / 34, 14);
    expect(explained[1]).toBeCloseTo(2 / 34, 14);
    const mirrored = project(points.map(([x, y, z]) => [x!, -y!, z!]));
    expect(toRows(mirrored.axes)).toEqual([
      [0, 1, 0],
      [1, 0, 0],
    ]);
  });

  it('places further points in the same plane', () => {
    const random = new Random(8, 'plane');
    const points = Array.from({ length: 20 }, () => Array.from({ length: 6 }, () => random.normal()));
    const frame = project(points);
    expect(projectOnto(frame, points).data).toEqual(frame.coordinates.data);
    expect(() => projectOnto(frame, [[1, 2]])).toThrow('row 0 has 2 numbers');
  });

  it('copes with no point, one point, one dimension and equal points', () => {
    expect(project([]).coordinates.rows).toBe(0);
    expect(project([[3, 4]])).toMatchObject({ explained: [0, 0], coordinates: { data: Float64Array.of(0, 0) } });
    expect(project([[1], [3]])).toMatchObject({ explained: [1, 0], coordinates: { data: Float64Array.of(-1, 0, 1, 0) } });
    expect(
      project([
        [2, 2],
        [2, 2],
      ]).explained,
    ).toEqual([0, 0]);
  });
});

describe('running', () => {
  const random = new Random(2, 'running');
  const points = Array.from({ length: 1500 }, () => Array.from({ length: 6 }, () => random.normal()));

  it('reports rising progress and gives the same as in one go', async () => {
    const seen: { stage: string; done: number }[] = [];
    const fitted = await hdbscan(points, { onProgress: (progress) => seen.push(progress) });
    expect(fitted).toEqual(hdbscanSync(points));
    expect(new Set(seen.map(({ stage }) => stage))).toEqual(new Set(['neighbours', 'tree']));
    seen.forEach(({ done }, i) => {
      expect(done).toBeGreaterThanOrEqual(seen[i - 1]?.done ?? 0);
      expect(done).toBeLessThanOrEqual(1);
    });
  });

  it('stops on its signal', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    await expect(hdbscan(points, { signal: controller.signal, onProgress: () => controller.abort(reason) })).rejects.toBe(reason);
    await expect(hdbscan([], { signal: controller.signal })).rejects.toBe(reason);
  });

  it('accepts float32 rows and matrices alike', () => {
    const rows = points.slice(0, 50).map((point) => Float32Array.from(point));
    expect(hdbscanSync(toMatrix(rows, 'points'))).toEqual(hdbscanSync(rows));
  });

  it('writes what JSON has no number for as text', () => {
    const piles = hdbscanSync([[0], [0], [5], [5]], { minClusterSize: 2, minSamples: 1 });
    const report = JSON.parse(JSON.stringify(reportOf(piles, predict(piles, [[0]]))));
    expect(report).toMatchObject({ stability: ['Infinity', 'Infinity'], condensedTree: { maxLambda: 'Infinity' }, persistence: [1, 1] });
    expect(report.predict.labels).toEqual([0]);
  });
});
