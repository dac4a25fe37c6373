import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CENTROID_KINDS } from '../../../src/cluster/centroids.ts';
import { centroidsOf, hdbscanSync } from '../../../src/cluster/hdbscan.ts';
import { toRows } from '../../../src/cluster/matrix.ts';
import { predict } from '../../../src/cluster/predict.ts';
import { sharedPath } from '../../shared.ts';

interface Placed {
  readonly labels: number[];
  readonly strengths: number[];
}

interface Canonical {
  readonly labels: number[];
  readonly probabilities: number[];
  readonly numClusters: number;
  readonly selectedClusterIds: number[];
  readonly stability: (number | string)[];
  readonly persistence: (number | string)[];
  readonly condensedTree: { rows: number; clusters: number; maxLambda: number | string };
  readonly centroids: Record<string, number[][]>;
  readonly predict: { eom: (Placed & Record<string, Placed>) | { error: string } };
}

interface DataSet {
  readonly name: string;
  readonly points: number[][];
  readonly queries: number[][];
  readonly runs: { minClusterSize: number; minSamples: number; error?: string; canonical?: Canonical }[];
}

/** Reference results are decimal with 12 significant digits. */
function expectClose(actual: readonly number[], expected: readonly (number | string)[], what: string): void {
  expect(actual.length, what).toBe(expected.length);
  actual.forEach((value, i) => {
    const wanted = Number(expected[i]);
    const off = Object.is(value, wanted) ? 0 : Math.abs(value - wanted) / Math.max(1, Math.abs(wanted));
    expect(off, `${what}[${i}] is ${value}, reference ${wanted}`).toBeLessThan(1e-9);
  });
}

const folder = sharedPath('data/hdbscan');

describe.skipIf(folder === undefined)('against the reference implementation', () => {
  const files = folder === undefined ? [] : readdirSync(folder).filter((file) => file.endsWith('.json'));
  for (const file of files) {
    const set = JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as DataSet;
    for (const run of set.runs) {
      if (run.canonical === undefined) continue;
      const { minClusterSize, minSamples, canonical } = run;
      it(`${set.name} (${minClusterSize}, ${minSamples})`, () => {
        const fitted = hdbscanSync(set.points, { minClusterSize, minSamples });
        expect(Array.from(fitted.labels)).toEqual(canonical.labels);
        expectClose(Array.from(fitted.probabilities), canonical.probabilities, 'probabilities');
        expect(fitted.clusters.map((cluster) => cluster.id)).toEqual(canonical.selectedClusterIds);
        expectClose(
          fitted.clusters.map((cluster) => cluster.stability),
          canonical.stability,
          'stability',
        );
        expectClose(
          fitted.clusters.map((cluster) => cluster.persistence),
          canonical.persistence,
          'persistence',
        );
        expect(fitted.tree.parent.length).toBe(canonical.condensedTree.rows);
        expect(fitted.tree.clusterCount).toBe(canonical.condensedTree.clusters);
        expectClose([fitted.tree.lambda.reduce((a, b) => Math.max(a, b), 0)], [canonical.condensedTree.maxLambda], 'maxLambda');
        const reference = canonical.predict.eom;
        for (const kind of CENTROID_KINDS) {
          const centres = centroidsOf(fitted, kind);
          expectClose(toRows(centres).flat(), canonical.centroids[kind]!.flat(), kind);
          if (!('error' in reference)) expectPlaced(predict(fitted, centres), reference[`centroid_${kind}`], kind);
        }
        if ('error' in reference) {
          const placed = predict(fitted, set.queries);
          expect(placed.reason).toBeDefined();
          expect(placed.labels.every((label) => label === -1)).toBe(true);
        } else expectPlaced(predict(fitted, set.queries), reference, 'queries');
      });
    }
  }
});

function expectPlaced(actual: { labels: Int32Array; strengths: Float64Array }, expected: Placed | undefined, what: string): void {
  if (expected === undefined) return;
  expect(Array.from(actual.labels), what).toEqual(expected.labels);
  expectClose(Array.from(actual.strengths), expected.strengths, what);
}
