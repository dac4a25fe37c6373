import { symmetricEigen } from './eigen.ts';
import { type Matrix, type Points, toMatrix } from './matrix.ts';

/** Principal axes of a set of points. */
export interface PrincipalAxes {
  readonly mean: Float64Array;
  /** d×d, one unit axis a row, by falling variance. */
  readonly axes: Float64Array;
  /** Variance along each axis (divided by n−1), never negative. */
  readonly variances: Float64Array;
}

/** Points in the plane of their two principal axes, for a scatter plot. */
export interface Projection {
  /** n×2. */
  readonly coordinates: Matrix;
  /** Share of the total variance along each of the two axes; 0 where there is none. */
  readonly explained: readonly [number, number];
  readonly mean: Float64Array;
  /** 2×d: the axes, each with its largest component positive, so that equal points give equal pictures. */
  readonly axes: Matrix;
}

/** Principal component analysis through the covariance matrix. */
export function principalAxes(points: Matrix): PrincipalAxes {
  const { rows, columns: d, data } = points;
  const mean = new Float64Array(d);
  for (let i = 0, at = 0; i < rows; i++) for (let c = 0; c < d; c++, at++) mean[c]! += data[at]! / rows;
  const covariance = new Float64Array(d * d);
  const centred = new Float64Array(d);
  for (let i = 0; i < rows; i++) {
    for (let c = 0; c < d; c++) centred[c] = data[i * d + c]! - mean[c]!;
    for (let p = 0; p < d; p++) for (let q = p; q < d; q++) covariance[p * d + q]! += centred[p]! * centred[q]!;
  }
  const scale = 1 / Math.max(1, rows - 1);
  for (let p = 0; p < d; p++) {
    for (let q = p; q < d; q++) {
      covariance[p * d + q]! *= scale;
      covariance[q * d + p] = covariance[p * d + q]!;
    }
  }
  const { values, vectors } = symmetricEigen(covariance, d);
  return { mean, axes: vectors, variances: values.map((value) => Math.max(0, value)) };
}

/**
 * The two-dimensional picture of points: principal component analysis with a fixed sign.
 * With fewer than two dimensions the missing axis is zero.
 * @throws {NacreError} for ragged or non-finite points, as `toMatrix`.
 */
export function project(points: Points): Projection {
  const matrix = toMatrix(points, 'points');
  const d = matrix.columns;
  const { mean, axes, variances } = principalAxes(matrix);
  const plane = new Float64Array(2 * d);
  plane.set(axes.subarray(0, Math.min(2, d) * d));
  let total = 0;
  for (const variance of variances) total += variance;
  const share = (axis: number): number => (total > 0 && axis < d ? variances[axis]! / total : 0);
  const frame = { mean, axes: { rows: 2, columns: d, data: plane } };
  return { ...frame, coordinates: projectOnto(frame, matrix), explained: [share(0), share(1)] };
}

/**
 * Further points (centroids, queries) in the plane of an earlier projection. n×2.
 * @throws {NacreError} `bad-shape` when their dimension differs from the projection's.
 */
export function projectOnto(frame: Pick<Projection, 'mean' | 'axes'>, points: Points): Matrix {
  const d = frame.mean.length;
  const matrix = toMatrix(points, 'points', d);
  const data = new Float64Array(matrix.rows * 2);
  for (let i = 0; i < matrix.rows; i++) {
    for (let axis = 0; axis < 2; axis++) {
      let sum = 0;
      for (let c = 0; c < d; c++) sum += (matrix.data[i * d + c]! - frame.mean[c]!) * frame.axes.data[axis * d + c]!;
      data[i * 2 + axis] = sum;
    }
  }
  return { rows: matrix.rows, columns: 2, data };
}
