import { NacreError } from '../core/errors.ts';

/** `rows` points of `columns` coordinates each, row after row, in float64. */
export interface Matrix {
  readonly rows: number;
  readonly columns: number;
  readonly data: Float64Array;
}

/** What callers may hand over as points: a matrix, or one array of numbers a row. */
export type Points = Matrix | readonly ArrayLike<number>[];

/** Fourth powers of larger coordinates (squared covariances) could overflow, and an infinite distance has no place in a tree. */
const LARGEST_COORDINATE = 1e60;

/**
 * Points as a checked float64 matrix; a matrix is checked and returned as it is.
 * @param name what the rows are called in errors, e.g. `points`.
 * @param columns if given, the number of coordinates every row must have.
 * @throws {NacreError} `bad-shape` naming the row of a wrong length, `not-a-number` or `not-finite` naming row and column.
 */
export function toMatrix(points: Points, name: string, columns?: number): Matrix {
  const matrix = isMatrix(points) ? checkShape(points, name) : fromRows(points, name);
  if (columns !== undefined && matrix.rows > 0 && matrix.columns !== columns) {
    throw new NacreError(
      'bad-shape',
      `${name}: row 0 has ${matrix.columns} numbers, but the points they belong to have ${columns}.`,
      `Give every row of ${name} ${columns} numbers.`,
    );
  }
  return matrix;
}

/** Row `i` of a matrix, as a view. */
export function row(matrix: Matrix, i: number): Float64Array {
  return matrix.data.subarray(i * matrix.columns, (i + 1) * matrix.columns);
}

/** Rows as arrays of numbers, for JSON. */
export function toRows(matrix: Matrix): number[][] {
  return Array.from({ length: matrix.rows }, (_, i) => Array.from(row(matrix, i)));
}

function isMatrix(points: Points): points is Matrix {
  return 'data' in points;
}

function checkShape(matrix: Matrix, name: string): Matrix {
  const { rows, columns, data } = matrix;
  if (data.length !== rows * columns || (rows > 0 && columns === 0)) {
    throw new NacreError(
      'bad-shape',
      `${name}: ${data.length} numbers cannot be ${rows} rows of ${columns}.`,
      'Make the data as long as rows × columns, with at least one column.',
    );
  }
  for (let at = 0; at < data.length; at++) checkNumber(data[at], name, Math.floor(at / columns), at % columns);
  return matrix;
}

function fromRows(points: readonly ArrayLike<number>[], name: string): Matrix {
  const columns = points[0]?.length ?? 0;
  const data = new Float64Array(points.length * columns);
  for (let i = 0; i < points.length; i++) {
    const values = points[i]!;
    if (values.length !== columns || columns === 0) {
      const wanted = columns === 0 ? 'at least one number is needed' : `row 0 has ${columns}`;
      throw new NacreError(
        'bad-shape',
        `${name}: row ${i} has ${values.length} numbers, but ${wanted}.`,
        `Give every row of ${name} the same number of coordinates, at least one.`,
      );
    }
    for (let c = 0; c < columns; c++) {
      checkNumber(values[c], name, i, c);
      data[i * columns + c] = values[c]!;
    }
  }
  return { rows: points.length, columns, data };
}

function checkNumber(value: unknown, name: string, i: number, c: number): void {
  if (typeof value !== 'number') {
    const found = typeof value === 'string' ? JSON.stringify(value) : String(value);
    throw new NacreError('not-a-number', `${name}: row ${i}, column ${c} is ${found}, not a number.`, 'Rows may hold numbers only.');
  }
  if (Math.abs(value) <= LARGEST_COORDINATE) return;
  throw new NacreError(
    'not-finite',
    `${name}: row ${i}, column ${c} is ${value}; coordinates must be finite and at most ${LARGEST_COORDINATE} in size.`,
    'Remove or repair that row.',
  );
}
