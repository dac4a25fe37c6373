import { boundFor, distance, LEAD, type SearchSpace } from './search-space.ts';

/** n−1 edges in the order in which Prim's algorithm adds them. */
export interface Edges {
  readonly source: Int32Array;
  readonly target: Int32Array;
  /** Mutual reachability distance. */
  readonly weight: Float64Array;
}

const PAIRS_A_SLICE = 1_000_000;

/**
 * Minimum spanning tree of the mutual reachability distance max(core_i, core_j, d_ij) by Prim's algorithm from point 0.
 * Among equal distances the lowest point number is added first and a point keeps the first source that reached it, so the
 * tree is the same in every run. O(n²·d) time at worst, O(n) memory: edges are never stored as a matrix. Yields the share done.
 * Source: McInnes & Healy 2017 (Accelerated HDBSCAN), §2; the order of updates is that of the reference implementation.
 */
export function* spanningTree(space: SearchSpace, core: Float64Array): Generator<number, Edges> {
  const n = space.points.rows;
  const count = Math.max(0, n - 1);
  const edges: Edges = { source: new Int32Array(count), target: new Int32Array(count), weight: new Float64Array(count) };
  if (n < 2) return edges;
  const frontier = new Frontier(space, core);
  let current = 0;
  let pairs = 0;
  for (let i = 0; i < count; i++) {
    const slot = frontier.relax(current);
    edges.source[i] = frontier.source[slot]!;
    edges.target[i] = current = frontier.id[slot]!;
    edges.weight[i] = frontier.best[slot]!;
    pairs += frontier.size;
    frontier.remove(slot);
    if (pairs < PAIRS_A_SLICE) continue;
    pairs = 0;
    // The work left falls with the square of the points left.
    yield 1 - (frontier.size / n) ** 2;
  }
  return edges;
}

/** The points outside the tree, packed into slots; each with the best edge that leads to it so far. */
class Frontier {
  size: number;
  readonly id: Int32Array;
  readonly best: Float64Array;
  readonly source: Int32Array;
  private readonly bound: Float64Array;
  private readonly core: Float64Array;
  private readonly lead: Float64Array;
  private readonly space: SearchSpace;
  private readonly coreOf: Float64Array;

  constructor(space: SearchSpace, core: Float64Array) {
    const n = space.points.rows;
    this.space = space;
    this.coreOf = core;
    this.size = n - 1;
    this.id = Int32Array.from({ length: n - 1 }, (_, slot) => slot + 1);
    this.core = core.slice(1);
    this.lead = space.lead.slice(LEAD);
    this.best = new Float64Array(n - 1).fill(Number.POSITIVE_INFINITY);
    this.bound = new Float64Array(n - 1).fill(Number.POSITIVE_INFINITY);
    this.source = new Int32Array(n - 1);
  }

  /** Lets `current`, just added to the tree, improve the best edges; returns the slot of the nearest point (lowest id among equals). */
  relax(current: number): number {
    const { size, id, best, source, bound, core, lead } = this;
    const { points, margin, lead: leadOf } = this.space;
    const { data, columns: d } = points;
    const coreCurrent = this.coreOf[current]!;
    const a0 = leadOf[current * LEAD]!;
    const a1 = leadOf[current * LEAD + 1]!;
    const a2 = leadOf[current * LEAD + 2]!;
    const a3 = leadOf[current * LEAD + 3]!;
    let nearest = Number.POSITIVE_INFINITY;
    let chosen = 0;
    for (let slot = 0; slot < size; slot++) {
      let reach = best[slot]!;
      if (coreCurrent < reach && core[slot]! < reach) {
        const b = slot * LEAD;
        const x0 = lead[b]! - a0;
        const x1 = lead[b + 1]! - a1;
        const x2 = lead[b + 2]! - a2;
        const x3 = lead[b + 3]! - a3;
        if (x0 * x0 + x1 * x1 + x2 * x2 + x3 * x3 <= bound[slot]!) {
          const mutual = Math.max(coreCurrent, core[slot]!, distance(data, current * d, data, id[slot]! * d, d));
          if (mutual < reach) {
            best[slot] = reach = mutual;
            bound[slot] = boundFor(mutual, margin);
            source[slot] = current;
          }
        }
      }
      if (reach < nearest || (reach === nearest && id[slot]! < id[chosen]!)) {
        nearest = reach;
        chosen = slot;
      }
    }
    return chosen;
  }

  /** Frees a slot by moving the last point into it. */
  remove(slot: number): void {
    const last = --this.size;
    this.id[slot] = this.id[last]!;
    this.best[slot] = this.best[last]!;
    this.source[slot] = this.source[last]!;
    this.bound[slot] = this.bound[last]!;
    this.core[slot] = this.core[last]!;
    this.lead.copyWithin(slot * LEAD, last * LEAD, (last + 1) * LEAD);
  }
}
