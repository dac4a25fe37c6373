import { BLOCK_SIZE } from './block-distances.ts';
import type { Matrix } from './matrix.ts';
import { principalAxes } from './projection.ts';

/** Principal coordinates kept a point. */
export const LEAD = 8;

/**
 * Points sorted into small blocks of neighbours, with a cheap and safe lower bound of the distance from a point to a block:
 * the gap to the block's box in the first `LEAD` principal coordinates (a rotation followed by dropping coordinates never
 * lengthens a difference). Only blocks that pass the bound are measured, so results equal those of measuring all pairs.
 */
export interface SearchSpace {
  readonly points: Matrix;
  /** Point at each position; a block is a range of positions. */
  readonly order: Int32Array;
  /** Lead coordinates by position, rows×LEAD, zero-padded when there are fewer dimensions. */
  readonly lead: Float64Array;
  /** First position of each block, and the number of points at the end. */
  readonly starts: Int32Array;
  /** Per block the centre, then the extent to either side, of its lead coordinates: blocks×2·LEAD. */
  readonly boxes: Float64Array;
  /** What a bound may exceed its distance by through rounding; far above the true error, far below any spacing that matters. */
  readonly margin: number;
}

/** Takes O(n·d² + n log² n) time and O(n) memory. */
export function searchSpace(points: Matrix): SearchSpace {
  const { rows } = points;
  const { lead: byPoint, margin } = leadCoordinates(points);
  const order = Int32Array.from({ length: rows }, (_, i) => i);
  const starts: number[] = [];
  splitIntoBlocks(order, 0, byPoint, starts);
  starts.push(rows);
  const lead = new Float64Array(rows * LEAD);
  order.forEach((point, position) => {
    lead.set(byPoint.subarray(point * LEAD, (point + 1) * LEAD), position * LEAD);
  });
  const bounds = Int32Array.from(starts);
  return { points, order, lead, starts: bounds, boxes: boxesOf(lead, bounds), margin };
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

/** Halves a range of points along its widest lead coordinate until it fits a block; all blocks but the last are full. */
function splitIntoBlocks(range: Int32Array, from: number, lead: Float64Array, starts: number[]): void {
  if (range.length <= BLOCK_SIZE) {
    if (range.length > 0) starts.push(from);
    return;
  }
  const axis = widestAxis(range, lead);
  range.sort((a, b) => lead[a * LEAD + axis]! - lead[b * LEAD + axis]! || a - b);
  const half = Math.ceil(range.length / BLOCK_SIZE / 2) * BLOCK_SIZE;
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
    for (let axis = 0; axis < LEAD; axis++) {
      let low = Number.POSITIVE_INFINITY;
      let high = Number.NEGATIVE_INFINITY;
      for (let position = starts[block]!; position < starts[block + 1]!; position++) {
        const value = lead[position * LEAD + axis]!;
        if (value < low) low = value;
        if (value > high) high = value;
      }
      boxes[block * 2 * LEAD + axis] = (low + high) / 2;
      boxes[block * 2 * LEAD + LEAD + axis] = (high - low) / 2;
    }
  }
  return boxes;
}

/** Squared gap between block's box and another box, or a point's lead coordinates as a box without extent. */
export function squaredGap(centre: Float64Array, extent: Float64Array, boxes: Float64Array, block: number): number {
  let sum = 0;
  for (let axis = 0, at = block * 2 * LEAD; axis < LEAD; axis++, at++) {
    const gap = Math.abs(boxes[at]! - centre[axis]!) - boxes[at + LEAD]! - extent[axis]!;
    if (gap > 0) sum += gap * gap;
  }
  return sum;
}

/** The extent of a point. */
export const NO_EXTENT = new Float64Array(LEAD);

/** The squared bound above which a pair is certainly farther apart than `distance`. */
export function boundFor(distance: number, margin: number): number {
  const reach = distance + margin;
  return reach * reach * (1 + 1e-12);
}
