import { CENTROID_KINDS, type CentroidKind } from './centroids.ts';
import { centroidsOf } from './hdbscan.ts';
import { toRows } from './matrix.ts';
import type { Clustering, Prediction } from './types.ts';

/** JSON has no infinities and no NaN: they are written as these strings. */
export type JsonNumber = number | 'Infinity' | '-Infinity' | 'NaN';

/** A clustering and its predictions as a JSON document. */
export interface ClusteringReport {
  readonly minClusterSize: number;
  readonly minSamples: number;
  readonly numClusters: number;
  readonly labels: readonly number[];
  readonly probabilities: readonly number[];
  readonly sizes: readonly number[];
  readonly selectedClusterIds: readonly number[];
  readonly stability: readonly JsonNumber[];
  readonly persistence: readonly JsonNumber[];
  /** Number of rows, number of clusters with the root, and the largest λ. */
  readonly condensedTree: { readonly rows: number; readonly clusters: number; readonly maxLambda: JsonNumber };
  readonly centroids: Readonly<Record<CentroidKind, readonly (readonly number[])[]>>;
  /** Absent without queries. `reason` says why none could be placed, if so. */
  readonly predict?: { readonly labels: readonly number[]; readonly strengths: readonly number[]; readonly reason?: string };
}

export function reportOf(clustering: Clustering, prediction?: Prediction): ClusteringReport {
  const { clusters, tree } = clustering;
  const centroids = Object.fromEntries(CENTROID_KINDS.map((kind) => [kind, toRows(centroidsOf(clustering, kind))]));
  return {
    minClusterSize: clustering.minClusterSize,
    minSamples: clustering.minSamples,
    numClusters: clusters.length,
    labels: Array.from(clustering.labels),
    probabilities: Array.from(clustering.probabilities),
    sizes: clusters.map((cluster) => cluster.size),
    selectedClusterIds: clusters.map((cluster) => cluster.id),
    stability: clusters.map((cluster) => jsonNumber(cluster.stability)),
    persistence: clusters.map((cluster) => jsonNumber(cluster.persistence)),
    condensedTree: {
      rows: tree.parent.length,
      clusters: tree.clusterCount,
      maxLambda: jsonNumber(tree.lambda.reduce((largest, lambda) => Math.max(largest, lambda), 0)),
    },
    centroids: centroids as Record<CentroidKind, number[][]>,
    ...(prediction === undefined ? {} : { predict: reportPrediction(prediction) }),
  };
}

function reportPrediction({ labels, strengths, reason }: Prediction): NonNullable<ClusteringReport['predict']> {
  return { labels: Array.from(labels), strengths: Array.from(strengths), ...(reason === undefined ? {} : { reason }) };
}

function jsonNumber(value: number): JsonNumber {
  return Number.isFinite(value) ? value : (String(value) as JsonNumber);
}
