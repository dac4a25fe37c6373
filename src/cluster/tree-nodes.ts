import { NOISE } from './labels.ts';
import { measureClusters } from './stability.ts';
import type { Clustering } from './types.ts';

/** One cluster of the condensed tree, as a drawing needs it: a bar from `birth` to `death`, as wide as its remaining points. */
export interface TreeNode {
  readonly id: number;
  /** −1 for the root. */
  readonly parent: number;
  readonly children: readonly number[];
  /** Points at birth. */
  readonly size: number;
  /** λ at which it appears. */
  readonly birth: number;
  /** λ at which it splits or loses its last point; infinite where points coincide. */
  readonly death: number;
  readonly stability: number;
  /** Its label if it was selected, otherwise −1. */
  readonly label: number;
  /** λ at which single points leave it, ascending. */
  readonly leaving: Float64Array;
}

/** The clusters of the condensed tree by ascending id, the root first; none without points. */
export function treeNodes({ tree, clusters }: Clustering): TreeNode[] {
  const { n } = tree;
  const measures = measureClusters(tree);
  const children: number[][] = Array.from({ length: tree.clusterCount }, () => []);
  const leaving: number[][] = Array.from({ length: tree.clusterCount }, () => []);
  for (let row = 0; row < tree.parent.length; row++) {
    const parent = tree.parent[row]! - n;
    if (tree.child[row]! > n) children[parent]!.push(tree.child[row]!);
    else leaving[parent]!.push(tree.lambda[row]!);
  }
  const label = new Map(clusters.map((cluster, at) => [cluster.id, at]));
  return children.map((below, cluster) => ({
    id: cluster + n,
    parent: measures.parent[cluster]!,
    children: below,
    size: measures.size[cluster]!,
    birth: measures.birth[cluster]!,
    death: measures.maxLambda[cluster]!,
    stability: measures.stability[cluster]!,
    label: label.get(cluster + n) ?? NOISE,
    leaving: Float64Array.from(leaving[cluster]!).sort(),
  }));
}
