import type { CondensedTree } from './condense.ts';
import type { ClusterMeasures } from './stability.ts';

/**
 * Excess of mass (Campello et al. 2013, §5): the clusters, none inside another, with the largest total stability.
 * The root is never chosen. Children's stabilities are added in float32, as the reference implementation does, and a parent
 * keeps its place unless that sum is larger than its own stability, so a tie goes to the parent (and so does NaN).
 * @returns chosen ids, ascending: the cluster with label l is at index l.
 */
export function selectClusters(tree: CondensedTree, { stability, parent }: ClusterMeasures): number[] {
  const { n, clusterCount } = tree;
  const best = stability.slice();
  const below = new Float64Array(clusterCount);
  const selected = new Uint8Array(clusterCount);
  for (let cluster = clusterCount - 1; cluster > 0; cluster--) {
    const children = Math.fround(below[cluster]!);
    if (children > best[cluster]!) best[cluster] = children;
    else selected[cluster] = 1;
    below[parent[cluster]! - n]! += best[cluster]!;
  }
  const ids: number[] = [];
  const covered = new Uint8Array(clusterCount);
  for (let cluster = 1; cluster < clusterCount; cluster++) {
    const above = parent[cluster]! - n;
    covered[cluster] = covered[above]! | selected[above]!;
    if (selected[cluster] && !covered[cluster]) ids.push(cluster + n);
  }
  return ids;
}
