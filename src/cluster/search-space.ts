import type { Matrix } from './matrix.ts';
import { principalAxes } from './projection.ts';

/** Principal coordinates kept a point for the cheap lower bound of a distance. */
export const LEAD = 8;
/** Points a block at most. */
const BLOCK = 32;

/**
 * Points sorted into small blocks of neighbours, with cheap and safe lower bounds of distances: a point's first `LEAD`
 * principal coordinates (a rotation followed by dropping coordinates never lengthens a difference) and the box around each
 * block in those coordinates. Only pairs that pass the bounds are measured, so results equal those of measuring all pairs.
 */
export interface SearchSpace {
  readonly points: Matrix;
  /** Point at each position; a block is a range of positions. */
  readonly order: Int32Array;
  /** Coordinates of the points by position, rows×columns. */
  readonly placed: Float64Array;
  /** Lead coordinates by position, rows×LEAD, zero-padded when there are fewer dimensions. */
  readonly lead: Float64Array;
  /** First position of each block, and the number of points at the end. */
  readonly starts: Int32Array;
  /** Per block its lowest, then its highest lead coordinates: blocks×2·LEAD. */
  readonly boxes: Float64Array;
  /** What a bound may exceed its distance by through rounding; far above the true error, far below any spacing that matters. */
  readonly margin: number;
}

/** Takes O(n·d² + n log² n) time and O(n·d) memory. */
export function searchSpace(points: Matrix): SearchSpace {
  const { rows, columns: d, data } = points;
  const { lead: byPoint, margin } = leadCoordinates(points);
  const order = Int32Array.from({ length: rows }, (_, i) => i);
  const starts: number[] = [];
  splitIntoBlocks(order, 0, byPoint, starts);
  starts.push(rows);
  const placed = new Float64Array(rows * d);
  const lead = new Float64Array(rows * LEAD);
  order.forEach((point, position) => {
    placed.set(data.subarray(point * d, (point + 1) * d), position * d);
    lead.set(byPoint.subarray(point * LEAD, (point + 1) * LEAD), position * LEAD);
  });
  const bounds = Int32Array.from(starts);
  return { points, order, placed, lead, starts: bounds, boxes: boxesOf(lead, bounds), margin };
}

function leadCoordinates(points: Matrix): { lead: Float64Array; margin: number } {
  const { rows, columns: d, data } = points;
  const { mean, axes } = principalAxes(points);
  const lead = new Float64Array(rows * LEAD);
  const centred = new Float64Array(d);
  let radius = 0;
  for (let i = 0; i < rows; i++) {
    let norm = 0;
    for (let c = 0; c < d; c++) {
      centred[c] = data[i * d + c]! - mean[c]!;
      norm += centred[c]! ** 2;
    }
    radius = Math.max(radius, norm);
    for (let axis = 0; axis < Math.min(LEAD, d); axis++) {
      let sum = 0;
      for (let c = 0; c < d; c++) sum += centred[c]! * axes[axis * d + c]!;
      lead[i * LEAD + axis] = sum;
    }
  }
  const offset = mean.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
  return { lead, margin: 1e-12 * (Math.sqrt(radius) + offset) };
}

/** Halves a range of points at the median of its widest lead coordinate until it fits a block (a k-d tree's leaves). */
function splitIntoBlocks(range: Int32Array, from: number, lead: Float64Array, starts: number[]): void {
  if (range.length <= BLOCK) {
    if (range.length > 0) starts.push(from);
    return;
  }
  const axis = widestAxis(range, lead);
  range.sort((a, b) => lead[a * LEAD + axis]! - lead[b * LEAD + axis]! || a - b);
  const half = range.length >> 1;
  splitIntoBlocks(range.subarray(0, half), from, lead, starts);
  splitIntoBlocks(range.subarray(half), from + half, lead, starts);
}

function widestAxis(range: Int32Array, lead: Float64Array): number {
  let widest = 0;
  let width = -1;
  for (let axis = 0; axis < LEAD; axis++) {
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (const point of range) {
      const value = lead[point * LEAD + axis]!;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    if (high - low <= width) continue;
    width = high - low;
    widest = axis;
  }
  return widest;
}

function boxesOf(lead: Float64Array, starts: Int32Array): Float64Array {
  const blocks = starts.length - 1;
  const boxes = new Float64Array(blocks * 2 * LEAD);
  for (let block = 0; block < blocks; block++) {
    const low = boxes.subarray(block * 2 * LEAD, block * 2 * LEAD + LEAD).fill(Number.POSITIVE_INFINITY);
    const high = boxes.subarray(block * 2 * LEAD + LEAD, (block + 1) * 2 * LEAD).fill(Number.NEGATIVE_INFINITY);
    for (let position = starts[block]!; position < starts[block + 1]!; position++) {
      for (let axis = 0; axis < LEAD; axis++) {
        const value = lead[position * LEAD + axis]!;
        if (value < low[axis]!) low[axis] = value;
        if (value > high[axis]!) high[axis] = value;
      }
    }
  }
  return boxes;
}

/** Squared gap between a box (of a point: its coordinates as lowest and highest) and the box of a block. */
export function squaredGap(low: Float64Array, high: Float64Array, boxes: Float64Array, block: number): number {
  let sum = 0;
  for (let axis = 0, at = block * 2 * LEAD; axis < LEAD; axis++, at++) {
    const gap = Math.max(boxes[at]! - high[axis]!, low[axis]! - boxes[at + LEAD]!, 0);
    sum += gap * gap;
  }
  return sum;
}

/** Squared distance between the lead coordinates of two positions or of two buffers. */
export function squaredLead(x: Float64Array, a: number, y: Float64Array, b: number): number {
  const x0 = x[a]! - y[b]!;
  const x1 = x[a + 1]! - y[b + 1]!;
  const x2 = x[a + 2]! - y[b + 2]!;
  const x3 = x[a + 3]! - y[b + 3]!;
  const x4 = x[a + 4]! - y[b + 4]!;
  const x5 = x[a + 5]! - y[b + 5]!;
  const x6 = x[a + 6]! - y[b + 6]!;
  const x7 = x[a + 7]! - y[b + 7]!;
  return x0 * x0 + x1 * x1 + (x2 * x2 + x3 * x3) + (x4 * x4 + x5 * x5 + (x6 * x6 + x7 * x7));
}

/** The squared bound above which a pair is certainly farther apart than `distance`. */
export function boundFor(distance: number, margin: number): number {
  const reach = distance + margin;
  return reach * reach * (1 + 1e-12);
}

/**
 * Euclidean distance of d numbers of `x` from `at` and d numbers of `y` from `to`. The squares are added in the order of the
 * coordinates, which fixes the last bit.
 */
export function distance(x: Float64Array, at: number, y: Float64Array, to: number, d: number): number {
  let sum = 0;
  for (let c = 0; c < d; c++) {
    const difference = x[at + c]! - y[to + c]!;
    sum += difference * difference;
  }
  return Math.sqrt(sum);
}
