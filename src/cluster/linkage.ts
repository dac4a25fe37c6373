import type { Edges } from './spanning-tree.ts';

/**
 * A single-linkage hierarchy. Node i < n is point i; merge m makes node n + m out of `left[m]` and `right[m]` at `distance[m]`.
 */
export interface Linkage {
  readonly left: Int32Array;
  readonly right: Int32Array;
  /** Ascending. */
  readonly distance: Float64Array;
  /** Points below the new node. */
  readonly size: Int32Array;
}

/** Merges along the edges of a spanning tree, shortest first; equal edges keep their order in the tree. O(n log n). */
export function singleLinkage({ source, target, weight }: Edges): Linkage {
  const merges = weight.length;
  const n = merges + 1;
  const order = Int32Array.from({ length: merges }, (_, i) => i).sort((a, b) => weight[a]! - weight[b]! || a - b);
  const linkage: Linkage = {
    left: new Int32Array(merges),
    right: new Int32Array(merges),
    distance: new Float64Array(merges),
    size: new Int32Array(merges),
  };
  const parent = Int32Array.from({ length: n + merges }, (_, i) => i);
  const find = (node: number): number => {
    while (parent[node] !== node) {
      parent[node] = parent[parent[node]!]!;
      node = parent[node]!;
    }
    return node;
  };
  const sizeOf = (node: number): number => (node < n ? 1 : linkage.size[node - n]!);
  order.forEach((edge, merge) => {
    const left = find(source[edge]!);
    const right = find(target[edge]!);
    linkage.left[merge] = left;
    linkage.right[merge] = right;
    linkage.distance[merge] = weight[edge]!;
    linkage.size[merge] = sizeOf(left) + sizeOf(right);
    parent[left] = parent[right] = n + merge;
  });
  return linkage;
}
