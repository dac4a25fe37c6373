import { boundFor, distance, LEAD, type SearchSpace } from './search-space.ts';

export interface CoreDistances {
  /** Distance to the k-th nearest other point: what the fit uses. */
  readonly fit: Float64Array;
  /** Distance to the (k−1)-th nearest other point (0 for k = 1), that is the k-th when a point counts itself: for prediction. */
  readonly prediction: Float64Array;
}

/** Pairs looked at between two reports of progress. */
const PAIRS_A_SLICE = 1_000_000;

/**
 * Both core distances of every point (Campello et al. 2013, definition 3) in one pass over its nearest neighbours.
 * Points are visited along the first principal axis, outwards from each point until the gap alone exceeds its k-th distance.
 * O(n²·d) time at worst, O(n + k) memory beside the result. Yields the share done.
 * @param k 1 … n−1; a space of fewer than two points has core distances 0.
 */
export function* coreDistances(space: SearchSpace, k: number): Generator<number, CoreDistances> {
  const n = space.points.rows;
  const cores = { fit: new Float64Array(n), prediction: new Float64Array(n) };
  if (n < 2) return cores;
  const line = sortAlongFirstAxis(space);
  const rowsASlice = Math.max(1, Math.floor(PAIRS_A_SLICE / n));
  for (let from = 0; from < n; from += rowsASlice) {
    coresOf(space, line, k, from, Math.min(n, from + rowsASlice), cores);
    yield Math.min(1, (from + rowsASlice) / n);
  }
  return cores;
}

interface Line {
  readonly order: Int32Array;
  /** The lead coordinates in that order. */
  readonly lead: Float64Array;
}

function sortAlongFirstAxis({ points, lead }: SearchSpace): Line {
  const order = Int32Array.from({ length: points.rows }, (_, i) => i).sort((a, b) => lead[a * LEAD]! - lead[b * LEAD]! || a - b);
  const sorted = new Float64Array(lead.length);
  order.forEach((point, position) => {
    sorted.set(lead.subarray(point * LEAD, (point + 1) * LEAD), position * LEAD);
  });
  return { order, lead: sorted };
}

function coresOf(space: SearchSpace, line: Line, k: number, from: number, to: number, cores: CoreDistances): void {
  const { points, margin } = space;
  const { order, lead } = line;
  const { data, columns: d, rows: n } = points;
  const nearest = new Float64Array(k);
  for (let position = from; position < to; position++) {
    const point = order[position]!;
    const at = position * LEAD;
    const a0 = lead[at]!;
    const a1 = lead[at + 1]!;
    const a2 = lead[at + 2]!;
    const a3 = lead[at + 3]!;
    nearest.fill(Number.POSITIVE_INFINITY);
    let bound = Number.POSITIVE_INFINITY;
    let low = position - 1;
    let high = position + 1;
    let below = low >= 0 ? a0 - lead[low * LEAD]! : Number.POSITIVE_INFINITY;
    let above = high < n ? lead[high * LEAD]! - a0 : Number.POSITIVE_INFINITY;
    while (below !== Number.POSITIVE_INFINITY || above !== Number.POSITIVE_INFINITY) {
      let other: number;
      let gap: number;
      if (above <= below) {
        other = high++;
        gap = above;
        above = high < n ? lead[high * LEAD]! - a0 : Number.POSITIVE_INFINITY;
      } else {
        other = low--;
        gap = below;
        below = low >= 0 ? a0 - lead[low * LEAD]! : Number.POSITIVE_INFINITY;
      }
      if (gap * gap > bound) break;
      const b = other * LEAD;
      const x1 = lead[b + 1]! - a1;
      const x2 = lead[b + 2]! - a2;
      const x3 = lead[b + 3]! - a3;
      if (gap * gap + x1 * x1 + x2 * x2 + x3 * x3 > bound) continue;
      const measured = distance(data, point * d, data, order[other]! * d, d);
      if (measured < nearest[k - 1]!) {
        insertSorted(nearest, measured);
        bound = boundFor(nearest[k - 1]!, margin);
      }
    }
    cores.fit[point] = nearest[k - 1]!;
    cores.prediction[point] = k > 1 ? nearest[k - 2]! : 0;
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
