import { Frontier } from './frontier.ts';
import type { SearchSpace } from './search-space.ts';

/** n−1 edges in the order in which Prim's algorithm adds them. */
export interface Edges {
  readonly source: Int32Array;
  readonly target: Int32Array;
  /** Mutual reachability distance. */
  readonly weight: Float64Array;
}

/** Pairs that may be looked at between two reports of progress. */
const PAIRS_A_SLICE = 1_000_000;

/**
 * Minimum spanning tree of the mutual reachability distance max(core_i, core_j, d_ij) by Prim's algorithm from point 0.
 * Among equal distances the lowest point number is added first and a point keeps the first source that reached it, so the
 * tree is the same in every run. O(n²·d) time at worst, O(n·d) memory: edges are never stored as a matrix. Yields the share done.
 * Source: McInnes & Healy 2017 (Accelerated HDBSCAN), §2; the order of updates is that of the reference implementation.
 */
export function* spanningTree(space: SearchSpace, core: Float64Array): Generator<number, Edges> {
  const n = space.points.rows;
  const count = Math.max(0, n - 1);
  const edges: Edges = { source: new Int32Array(count), target: new Int32Array(count), weight: new Float64Array(count) };
  if (n < 2) return edges;
  const frontier = new Frontier(space, core);
  let pairs = 0;
  for (let i = 0; i < count; i++) {
    const { point, source, distance } = frontier.takeNearest();
    edges.source[i] = source;
    edges.target[i] = point;
    edges.weight[i] = distance;
    const left = count - i;
    pairs += left;
    if (pairs < PAIRS_A_SLICE) continue;
    pairs = 0;
    // The work left falls with the square of the points left.
    yield 1 - (left / n) ** 2;
  }
  return edges;
}
