import type { CentroidKind } from './centroids.ts';
import type { CondensedTree } from './condense.ts';
import type { Matrix } from './matrix.ts';

export interface FitOptions {
  /** Smallest group of points that counts as a cluster; at least 2. Default 10. */
  readonly minClusterSize?: number;
  /** Neighbours that make a point dense, itself not counted; at least 1. Default 5. */
  readonly minSamples?: number;
  /** Which centroid `Cluster.centroid` is. Default `mean`. */
  readonly centroid?: CentroidKind;
}

export type FitStage = 'neighbours' | 'tree';

export interface FitProgress {
  readonly stage: FitStage;
  /** Share of the whole fit, 0 to 1. */
  readonly done: number;
}

export interface FitControl {
  readonly onProgress?: (progress: FitProgress) => void;
  readonly signal?: AbortSignal;
}

/** One selected cluster. Its label is its place in `Clustering.clusters`. */
export interface Cluster {
  /** Id in the condensed tree. */
  readonly id: number;
  /** Points that carry its label. */
  readonly size: number;
  readonly stability: number;
  /** Share of the tree's range of λ it lasts; 1 where duplicates make that range infinite. */
  readonly persistence: number;
  readonly centroid: Float64Array;
}

/** A fitted clustering: plain data that survives postMessage, and all that `predict` needs. */
export interface Clustering {
  readonly minClusterSize: number;
  readonly minSamples: number;
  readonly points: Matrix;
  /** Label a point, −1 for noise. */
  readonly labels: Int32Array;
  /** Strength of membership a point, in [0, 1]; 0 for noise. */
  readonly probabilities: Float64Array;
  readonly clusters: readonly Cluster[];
  readonly tree: CondensedTree;
  /** Core distance a point with itself counted as a neighbour: what prediction compares a query with. */
  readonly predictionCores: Float64Array;
}

export interface Prediction {
  /** Label a query, −1 for noise. */
  readonly labels: Int32Array;
  /** Strength of membership a query, in [0, 1]; 0 for noise. */
  readonly strengths: Float64Array;
  /** Set when no query can be placed, whatever it is. */
  readonly reason?: string;
}
