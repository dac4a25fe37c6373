import type { Matrix } from './matrix.ts';

/** Mean; mean scaled back to length 1 (for directions); mean weighted by membership probability. */
export const CENTROID_KINDS = ['mean', 'meanNormalised', 'probabilityWeighted'] as const;
export type CentroidKind = (typeof CENTROID_KINDS)[number];

/**
 * One centroid a cluster, clusters×d. Noise belongs to none. A mean of length 0 stays 0 when normalised; a cluster whose
 * probabilities are all 0 falls back to the plain mean.
 * @param count number of clusters; labels run from 0 to count − 1.
 */
export function centroids(
  points: Matrix,
  labels: ArrayLike<number>,
  probabilities: ArrayLike<number>,
  count: number,
  kind: CentroidKind = 'mean',
): Matrix {
  const d = points.columns;
  const totals = new Float64Array(count);
  if (kind === 'probabilityWeighted') addWeights(totals, labels, (i) => probabilities[i]!);
  const weighted = Array.from(totals, (total) => total > 0);
  const weightOf = (i: number): number => (weighted[labels[i]!] ? probabilities[i]! : 1);
  addWeights(totals.fill(0), labels, weightOf);
  const data = new Float64Array(count * d);
  for (let i = 0; i < points.rows; i++) {
    const label = labels[i]!;
    if (label < 0) continue;
    const weight = weightOf(i) / totals[label]!;
    for (let c = 0; c < d; c++) data[label * d + c]! += weight * points.data[i * d + c]!;
  }
  if (kind === 'meanNormalised') for (let label = 0; label < count; label++) normalise(data.subarray(label * d, (label + 1) * d));
  return { rows: count, columns: d, data };
}

function addWeights(totals: Float64Array, labels: ArrayLike<number>, weightOf: (i: number) => number): void {
  for (let i = 0; i < labels.length; i++) if (labels[i]! >= 0) totals[labels[i]!]! += weightOf(i);
}

function normalise(vector: Float64Array): void {
  const length = Math.hypot(...vector);
  if (length > 0) for (let c = 0; c < vector.length; c++) vector[c]! /= length;
}
