export interface Eigen {
  /** Descending. */
  readonly values: Float64Array;
  /** Unit eigenvectors as rows, in the order of the values; the largest component (the first among equals) is positive. */
  readonly vectors: Float64Array;
}

const MAX_SWEEPS = 60;

/**
 * Eigenvalues and eigenvectors of a symmetric matrix by cyclic Jacobi rotations (Golub & Van Loan, Matrix Computations, §8.5).
 * @param matrix d×d, row-major; only read.
 */
export function symmetricEigen(matrix: Float64Array, d: number): Eigen {
  const a = matrix.slice();
  const v = new Float64Array(d * d);
  for (let i = 0; i < d; i++) v[i * d + i] = 1;
  for (let sweep = 0; sweep < MAX_SWEEPS && !isDiagonal(a, d); sweep++) {
    for (let p = 0; p < d - 1; p++) for (let q = p + 1; q < d; q++) rotate(a, v, d, p, q);
  }
  const order = Array.from({ length: d }, (_, i) => i).sort((p, q) => a[q * d + q]! - a[p * d + p]! || p - q);
  const values = new Float64Array(d);
  const vectors = new Float64Array(d * d);
  order.forEach((from, to) => {
    values[to] = a[from * d + from]!;
    const vector = v.subarray(from * d, (from + 1) * d);
    const sign = signOfLargest(vector);
    for (let c = 0; c < d; c++) vectors[to * d + c] = sign * vector[c]!;
  });
  return { values, vectors };
}

/** Zeroes a[p][q] by a rotation of the plane (p, q), applied to both sides of `a` and collected in the rows of `v`. */
function rotate(a: Float64Array, v: Float64Array, d: number, p: number, q: number): void {
  const off = a[p * d + q]!;
  if (off === 0) return;
  const theta = (a[q * d + q]! - a[p * d + p]!) / (2 * off);
  const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.hypot(theta, 1));
  const c = 1 / Math.hypot(t, 1);
  const s = t * c;
  for (let k = 0; k < d; k++) {
    const kp = a[k * d + p]!;
    const kq = a[k * d + q]!;
    a[k * d + p] = c * kp - s * kq;
    a[k * d + q] = s * kp + c * kq;
  }
  for (let k = 0; k < d; k++) {
    const pk = a[p * d + k]!;
    const qk = a[q * d + k]!;
    a[p * d + k] = c * pk - s * qk;
    a[q * d + k] = s * pk + c * qk;
    const vp = v[p * d + k]!;
    const vq = v[q * d + k]!;
    v[p * d + k] = c * vp - s * vq;
    v[q * d + k] = s * vp + c * vq;
  }
}

function isDiagonal(a: Float64Array, d: number): boolean {
  let off = 0;
  let all = 0;
  for (let i = 0; i < d; i++) {
    for (let j = 0; j < d; j++) {
      const square = a[i * d + j]! ** 2;
      all += square;
      if (i !== j) off += square;
    }
  }
  return off <= 1e-30 * all;
}

function signOfLargest(vector: Float64Array): number {
  let largest = 0;
  // A relative slack keeps the sign the same when two components are equal up to rounding.
  for (const component of vector) if (Math.abs(component) > Math.abs(largest) * (1 + 1e-9)) largest = component;
  return largest < 0 ? -1 : 1;
}
