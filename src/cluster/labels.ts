import type { CondensedTree } from './condense.ts';
import type { ClusterMeasures } from './stability.ts';

/** The label of everything that lies in no selected cluster. */
export const NOISE = -1;

/** Label of each cluster's selected ancestor or itself, indexed by id − n; `NOISE` where there is none. */
export function clusterLabels(tree: CondensedTree, measures: ClusterMeasures, selected: readonly number[]): Int32Array {
  const labels = new Int32Array(tree.clusterCount).fill(NOISE);
  selected.forEach((id, label) => {
    labels[id - tree.n] = label;
  });
  for (let cluster = 1; cluster < tree.clusterCount; cluster++) {
    const above = labels[measures.parent[cluster]! - tree.n]!;
    if (above !== NOISE) labels[cluster] = above;
  }
  return labels;
}

export interface PointLabels {
  readonly labels: Int32Array;
  /** Strength of membership in [0, 1]: min(λ, M)/M with the largest λ, M, of the selected cluster; 0 for noise. */
  readonly probabilities: Float64Array;
}

/** Labels and probabilities of the fitted points. */
export function labelPoints(
  tree: CondensedTree,
  measures: ClusterMeasures,
  selected: readonly number[],
  labelOfCluster: Int32Array,
): PointLabels {
  const labels = new Int32Array(tree.n).fill(NOISE);
  const probabilities = new Float64Array(tree.n);
  for (let row = 0; row < tree.child.length; row++) {
    const point = tree.child[row]!;
    if (point >= tree.n) continue;
    const label = labelOfCluster[tree.parent[row]! - tree.n]!;
    labels[point] = label;
    if (label !== NOISE) probabilities[point] = memberStrength(tree.lambda[row]!, measures.maxLambda[selected[label]! - tree.n]!);
  }
  return { labels, probabilities };
}

function memberStrength(lambda: number, maxLambda: number): number {
  if (maxLambda === 0 || lambda === Number.POSITIVE_INFINITY) return 1;
  return Math.min(lambda, maxLambda) / maxLambda;
}

/**
 * How much of the λ range of the whole tree a cluster lasts, as a share: stability / (size · largest λ of the tree).
 * 1 where that quotient has no meaning (the largest λ is 0 or infinite, or the cluster is empty).
 */
export function persistence(stability: number, size: number, maxLambda: number): number {
  if (maxLambda === Number.POSITIVE_INFINITY || maxLambda === 0 || size === 0) return 1;
  return stability / (size * maxLambda);
}
