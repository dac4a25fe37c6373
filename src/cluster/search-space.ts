import type { Matrix } from './matrix.ts';
import { principalAxes } from './projection.ts';

/** Principal coordinates kept a point for the cheap lower bound of a distance. */
export const LEAD = 4;

/**
 * Points with a cheap, safe lower bound of every distance: the distance between their first `LEAD` principal coordinates
 * (a rotation followed by dropping coordinates never lengthens a difference). Only pairs that pass the bound are measured,
 * so every result equals that of measuring all pairs.
 */
export interface SearchSpace {
  readonly points: Matrix;
  /** rows×LEAD, zero-padded when there are fewer dimensions. */
  readonly lead: Float64Array;
  /** What a bound may exceed its distance by through rounding; far above the true error, far below any spacing that matters. */
  readonly margin: number;
}

/** Takes O(n·d²) time and O(n) memory beyond the points. */
export function searchSpace(points: Matrix): SearchSpace {
  const { rows, columns: d, data } = points;
  const { mean, axes } = principalAxes(points);
  const lead = new Float64Array(rows * LEAD);
  const kept = Math.min(LEAD, d);
  let radius = 0;
  for (let i = 0; i < rows; i++) {
    let norm = 0;
    for (let c = 0; c < d; c++) norm += (data[i * d + c]! - mean[c]!) ** 2;
    radius = Math.max(radius, norm);
    for (let axis = 0; axis < kept; axis++) {
      let sum = 0;
      for (let c = 0; c < d; c++) sum += (data[i * d + c]! - mean[c]!) * axes[axis * d + c]!;
      lead[i * LEAD + axis] = sum;
    }
  }
  let offset = 0;
  for (const value of mean) offset = Math.max(offset, Math.abs(value));
  return { points, lead, margin: 1e-12 * (Math.sqrt(radius) + offset) };
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
