import { NacreError } from '../core/errors.ts';
import { Breather } from '../core/pause.ts';
import { centroids } from './centroids.ts';
import { condense } from './condense.ts';
import { coreDistances } from './core-distances.ts';
import { clusterLabels, labelPoints, persistence } from './labels.ts';
import { singleLinkage } from './linkage.ts';
import { type Matrix, type Points, row, toMatrix } from './matrix.ts';
import { searchSpace } from './search-space.ts';
import { selectClusters } from './selection.ts';
import { spanningTree } from './spanning-tree.ts';
import { measureClusters } from './stability.ts';
import type { Clustering, FitControl, FitOptions, FitProgress } from './types.ts';

/** Share of the work that the search for neighbours takes, for the progress bar only. */
const NEIGHBOURS_SHARE = 0.5;

/**
 * HDBSCAN* (Campello et al. 2013; McInnes & Healy 2017) with Euclidean distance, excess-of-mass selection and no single
 * cluster. Gives the thread back every few milliseconds, so that it can report progress and be cancelled.
 * Fewer points than `minClusterSize`, none included, are all noise.
 * @throws {NacreError} for ragged, non-numeric or non-finite points (`toMatrix`) and settings out of range; rejects with the
 * signal's reason when cancelled.
 */
export async function hdbscan(points: Points, options: FitOptions & FitControl = {}): Promise<Clustering> {
  const { onProgress, signal } = options;
  signal?.throwIfAborted();
  const breather = new Breather();
  const steps = fitSteps(points, options);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    onProgress?.(step.value);
    await breather.breathe();
    signal?.throwIfAborted();
  }
}

/** `hdbscan` in one go, for small inputs: does not give the thread back. */
export function hdbscanSync(points: Points, options: FitOptions = {}): Clustering {
  const steps = fitSteps(points, options);
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

/** The fit as a generator of its progress. */
function* fitSteps(given: Points, options: FitOptions): Generator<FitProgress, Clustering> {
  const minClusterSize = wholeNumber(options.minClusterSize ?? 10, 'min cluster size', 2);
  const minSamples = wholeNumber(options.minSamples ?? 5, 'min samples', 1);
  const points = toMatrix(given, 'points');
  const n = points.rows;
  const space = searchSpace(points);
  const k = Math.max(1, Math.min(n - 1, minSamples));
  const cores = yield* staged(coreDistances(space, k), 'neighbours', 0, NEIGHBOURS_SHARE);
  const edges = yield* staged(spanningTree(space, cores.fit), 'tree', NEIGHBOURS_SHARE, 1);
  const tree = condense(singleLinkage(edges), n, minClusterSize);
  const measures = measureClusters(tree);
  const selected = selectClusters(tree, measures);
  const marks = labelPoints(tree, measures, selected, clusterLabels(tree, measures, selected));
  const centres = centroids(points, marks.labels, marks.probabilities, selected.length, options.centroid);
  const sizes = countLabels(marks.labels, selected.length);
  const maxLambda = measures.maxLambda.reduce((largest, value) => Math.max(largest, value), 0);
  const clusters = selected.map((id, label) => {
    const stability = measures.stability[id - n]!;
    const size = sizes[label]!;
    return { id, size, stability, persistence: persistence(stability, size, maxLambda), centroid: row(centres, label).slice() };
  });
  return { minClusterSize, minSamples, points, ...marks, clusters, tree, predictionCores: cores.prediction };
}

function* staged<T>(steps: Generator<number, T>, stage: FitProgress['stage'], from: number, to: number): Generator<FitProgress, T> {
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    yield { stage, done: from + (to - from) * step.value };
  }
}

function countLabels(labels: Int32Array, count: number): Int32Array {
  const sizes = new Int32Array(count);
  for (const label of labels) if (label >= 0) sizes[label]!++;
  return sizes;
}

function wholeNumber(value: number, name: string, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new NacreError(
    'bad-setting',
    `${name} is ${value}; it must be a whole number of at least ${least}.`,
    `Set ${name} to ${least} or more.`,
  );
}

/** Centroids of a fitted clustering of any kind; `Cluster.centroid` holds the kind chosen at the fit. */
export function centroidsOf(clustering: Clustering, kind: Parameters<typeof centroids>[4]): Matrix {
  const { points, labels, probabilities, clusters } = clustering;
  return centroids(points, labels, probabilities, clusters.length, kind);
}
