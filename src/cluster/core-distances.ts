import { boundFor, distance, LEAD, type SearchSpace, squaredGap, squaredLead } from './search-space.ts';

export interface CoreDistances {
  /** Distance to the k-th nearest other point: what the fit uses. */
  readonly fit: Float64Array;
  /** Distance to the (k−1)-th nearest other point (0 for k = 1), that is the k-th when a point counts itself: for prediction. */
  readonly prediction: Float64Array;
}

/** Pairs that may be looked at between two reports of progress. */
const PAIRS_A_SLICE = 1_000_000;

/**
 * Both core distances of every point (Campello et al. 2013, definition 3) in one pass over its nearest neighbours.
 * A point looks through the blocks nearest to its own first, and stops when the next is farther than its k-th neighbour.
 * O(n²·d) time at worst, O(n + k) memory beside the result. Yields the share done.
 * @param k 1 … n−1; a space of fewer than two points has core distances 0.
 */
export function* coreDistances(space: SearchSpace, k: number): Generator<number, CoreDistances> {
  const n = space.points.rows;
  const cores = { fit: new Float64Array(n), prediction: new Float64Array(n) };
  if (n < 2) return cores;
  const search = new NeighbourSearch(space, k);
  let pairs = 0;
  for (let block = 0; block < space.starts.length - 1; block++) {
    const from = space.starts[block]!;
    const to = space.starts[block + 1]!;
    search.enter(block);
    for (let position = from; position < to; position++) {
      const nearest = search.nearest(position);
      const point = space.order[position]!;
      cores.fit[point] = nearest[k - 1]!;
      cores.prediction[point] = k > 1 ? nearest[k - 2]! : 0;
    }
    pairs += (to - from) * n;
    if (pairs < PAIRS_A_SLICE) continue;
    pairs = 0;
    yield to / n;
  }
  return cores;
}

class NeighbourSearch {
  private readonly space: SearchSpace;
  private readonly found: Float64Array;
  private readonly gap: Float64Array;
  private readonly blocks: Int32Array;
  private bound = 0;

  constructor(space: SearchSpace, k: number) {
    const count = space.starts.length - 1;
    this.space = space;
    this.found = new Float64Array(k);
    this.gap = new Float64Array(count);
    this.blocks = Int32Array.from({ length: count }, (_, block) => block);
  }

  /** Sorts all blocks by their gap to `block`, itself first. */
  enter(block: number): void {
    const { boxes } = this.space;
    const at = block * 2 * LEAD;
    const low = boxes.subarray(at, at + LEAD);
    const high = boxes.subarray(at + LEAD, at + 2 * LEAD);
    const { gap } = this;
    for (let other = 0; other < gap.length; other++) gap[other] = squaredGap(low, high, boxes, other);
    gap[block] = -1;
    this.blocks.sort((a, b) => gap[a]! - gap[b]! || a - b);
  }

  /** Distances to the k nearest other points, ascending, of a point in the entered block. Overwritten by the next call. */
  nearest(position: number): Float64Array {
    const { lead, boxes } = this.space;
    const own = lead.subarray(position * LEAD, (position + 1) * LEAD);
    this.found.fill(Number.POSITIVE_INFINITY);
    this.bound = Number.POSITIVE_INFINITY;
    for (const block of this.blocks) {
      if (this.gap[block]! > this.bound) break;
      if (squaredGap(own, own, boxes, block) <= this.bound) this.scan(position, block);
    }
    return this.found;
  }

  private scan(position: number, block: number): void {
    const { placed, lead, starts, margin, points } = this.space;
    const { columns: d } = points;
    const { found } = this;
    const last = found.length - 1;
    const end = starts[block + 1]!;
    let bound = this.bound;
    for (let other = starts[block]!; other < end; other++) {
      if (squaredLead(lead, position * LEAD, lead, other * LEAD) > bound || other === position) continue;
      const measured = distance(placed, position * d, placed, other * d, d);
      if (measured >= found[last]!) continue;
      insertSorted(found, measured);
      bound = boundFor(found[last]!, margin);
    }
    this.bound = bound;
  }
}

/** Puts `value` in its place among ascending values; the largest falls out. */
function insertSorted(ascending: Float64Array, value: number): void {
  let at = ascending.length - 1;
  while (at > 0 && ascending[at - 1]! > value) {
    ascending[at] = ascending[at - 1]!;
    at--;
  }
  ascending[at] = value;
}
