import type { CondensedTree } from './condense.ts';

/** Per cluster, indexed by id − n; the root is at 0. */
export interface ClusterMeasures {
  /** λ at which the cluster appears; 0 for the root. */
  readonly birth: Float64Array;
  /** Largest λ among the cluster's own rows: when its last part leaves. 0 without rows. */
  readonly maxLambda: Float64Array;
  /** Σ over the cluster's rows of (λ − birth)·size (Campello et al. 2013, eq. 3). NaN when points at distance 0 meet an infinite birth. */
  readonly stability: Float64Array;
  /** Points under the cluster. */
  readonly size: Int32Array;
  /** Id of the cluster above; −1 for the root. */
  readonly parent: Int32Array;
}

export function measureClusters(tree: CondensedTree): ClusterMeasures {
  const { n, clusterCount } = tree;
  const birth = new Float64Array(clusterCount);
  const maxLambda = new Float64Array(clusterCount);
  const stability = new Float64Array(clusterCount);
  const size = new Int32Array(clusterCount);
  const parent = new Int32Array(clusterCount).fill(-1);
  if (clusterCount > 0) size[0] = n;
  for (let row = 0; row < tree.parent.length; row++) {
    // A cluster's own row comes before the rows of what leaves it, so its birth is known when they are reached.
    const lambda = tree.lambda[row]!;
    const cluster = tree.parent[row]! - n;
    const child = tree.child[row]! - n;
    if (child > 0) {
      birth[child] = lambda;
      size[child] = tree.size[row]!;
      parent[child] = tree.parent[row]!;
    }
    stability[cluster]! += (lambda - birth[cluster]!) * tree.size[row]!;
    if (lambda > maxLambda[cluster]!) maxLambda[cluster] = lambda;
  }
  return { birth, maxLambda, stability, size, parent };
}
