import type { Linkage } from './linkage.ts';

/**
 * The hierarchy with only the splits that leave at least `minClusterSize` points on both sides (McInnes & Healy 2017, §2.3).
 * One row for everything that leaves a cluster: a point (child < n, size 1) or a sub-cluster (child > n). Cluster ids run
 * from n, the root, upwards, a parent before its children. λ is 1/distance, infinite at distance 0.
 */
export interface CondensedTree {
  /** Number of points, and the id of the root. */
  readonly n: number;
  readonly parent: Int32Array;
  readonly child: Int32Array;
  /** λ at which the child leaves the parent. */
  readonly lambda: Float64Array;
  readonly size: Int32Array;
  /** Clusters, the root included (0 without points). */
  readonly clusterCount: number;
}

/** Condenses breadth-first, level by level. @param n number of points (linkage has n−1 merges). */
export function condense(linkage: Linkage, n: number, minClusterSize: number): CondensedTree {
  const rows = { parent: [] as number[], child: [] as number[], lambda: [] as number[], size: [] as number[] };
  const add = (parent: number, child: number, lambda: number, size: number): void => {
    rows.parent.push(parent);
    rows.child.push(child);
    rows.lambda.push(lambda);
    rows.size.push(size);
  };
  const sizeOf = (node: number): number => (node < n ? 1 : linkage.size[node - n]!);
  let nextId = n + 1;
  // [linkage node, condensed cluster it belongs to]; points that still stand here left as members of a small side.
  let level: [node: number, cluster: number][] = n > 1 ? [[2 * n - 2, n]] : [];
  while (level.length > 0) {
    const next: typeof level = [];
    for (const [node, cluster] of level) {
      const left = linkage.left[node - n]!;
      const right = linkage.right[node - n]!;
      const distance = linkage.distance[node - n]!;
      const lambda = distance > 0 ? 1 / distance : Number.POSITIVE_INFINITY;
      const sides = [left, right];
      const large = sides.filter((side) => sizeOf(side) >= minClusterSize);
      for (const side of sides) {
        if (sizeOf(side) < minClusterSize) for (const point of pointsBelow(linkage, side, n)) add(cluster, point, lambda, 1);
        else if (large.length === 1) next.push([side, cluster]);
        else {
          add(cluster, nextId, lambda, sizeOf(side));
          next.push([side, nextId++]);
        }
      }
    }
    level = next;
  }
  return {
    n,
    parent: Int32Array.from(rows.parent),
    child: Int32Array.from(rows.child),
    lambda: Float64Array.from(rows.lambda),
    size: Int32Array.from(rows.size),
    clusterCount: n > 0 ? nextId - n : 0,
  };
}

/** The points under a linkage node, breadth-first. */
function pointsBelow(linkage: Linkage, node: number, n: number): number[] {
  const points: number[] = [];
  const queue = [node];
  for (let at = 0; at < queue.length; at++) {
    const here = queue[at]!;
    if (here < n) points.push(here);
    else queue.push(linkage.left[here - n]!, linkage.right[here - n]!);
  }
  return points;
}
