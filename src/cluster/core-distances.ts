import { BlockDistances } from './block-distances.ts';
import { row } from './matrix.ts';
import { boundFor, LEAD, NO_EXTENT, type SearchSpace, squaredGap } from './search-space.ts';

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
 * O(n²·d) time at worst, O(n·d + k) memory. Yields the share done.
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
      const squares = search.nearest(position);
      const point = space.order[position]!;
      cores.fit[point] = Math.sqrt(squares[k - 1]!);
      cores.prediction[point] = k > 1 ? Math.sqrt(squares[k - 2]!) : 0;
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
  private readonly distances: BlockDistances;
  private readonly squares: Float64Array;
  private readonly gap: Float64Array;
  private readonly blocks: Int32Array;

  constructor(space: SearchSpace, k: number) {
    const count = space.starts.length - 1;
    this.space = space;
    this.distances = new BlockDistances(space.points, space.order, space.starts);
    this.squares = new Float64Array(k);
    this.gap = new Float64Array(count);
    this.blocks = Int32Array.from({ length: count }, (_, block) => block);
  }

  /** Sorts all blocks by their gap to `block`, itself first. */
  enter(block: number): void {
    const { boxes } = this.space;
    const at = block * 2 * LEAD;
    const centre = boxes.subarray(at, at + LEAD);
    const extent = boxes.subarray(at + LEAD, at + 2 * LEAD);
    const { gap } = this;
    for (let other = 0; other < gap.length; other++) gap[other] = squaredGap(centre, extent, boxes, other);
    gap[block] = -1;
    this.blocks.sort((a, b) => gap[a]! - gap[b]! || a - b);
  }

  /** Squared distances to the k nearest other points, ascending, of a point in the entered block. Overwritten by the next call. */
  nearest(position: number): Float64Array {
    const { lead, boxes, starts, margin, points, order } = this.space;
    const { squares, distances, gap } = this;
    const last = squares.length - 1;
    const own = lead.subarray(position * LEAD, (position + 1) * LEAD);
    distances.query.set(row(points, order[position]!));
    squares.fill(Number.POSITIVE_INFINITY);
    let bound = Number.POSITIVE_INFINITY;
    for (const block of this.blocks) {
      if (gap[block]! > bound) break;
      if (squaredGap(own, NO_EXTENT, boxes, block) > bound) continue;
      const from = starts[block]!;
      const count = starts[block + 1]! - from;
      if (distances.measure(block, count) >= squares[last]!) continue;
      const self = position - from;
      for (let place = 0; place < count; place++) {
        const square = distances.squares[place]!;
        if (square < squares[last]! && place !== self) insertSorted(squares, square);
      }
      bound = boundFor(Math.sqrt(squares[last]!), margin);
    }
    return squares;
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
