import type { Backend, DeviceArray, Matrix, MatrixSource, Strided } from '../../src/tensor/backend.ts';

/** One row of the kernel table: `run` throws when the backend's numbers are wrong. */
export interface KernelCase {
  readonly name: string;
  run(backend: Backend): Promise<void>;
}

/** A kernel's numbers may differ from the float64 reference by absolute + relative·|wanted|. */
export interface Tolerance {
  readonly absolute: number;
  readonly relative: number;
}

/** Where the rows of a matrix lie in a longer array. */
export interface Layout {
  readonly offset: number;
  readonly stride: number;
}

export const exact: Tolerance = { absolute: 0, relative: 0 };
export const packed = (width: number): Layout => ({ offset: 0, stride: width });
export const gapped = (width: number): Layout => ({ offset: 3, stride: width + 5 });

/** Every element a kernel must not touch holds this. */
const GUARD = 12345.5;
const GUARD_LENGTH = 6;

/** The arrays of one case on one backend: inputs with poisoned gaps, outputs filled with NaN between guards. */
export class Stage {
  readonly backend: Backend;
  private readonly arrays: DeviceArray[] = [];
  private readonly matrices: Matrix[] = [];

  constructor(backend: Backend) {
    this.backend = backend;
  }

  f32(values: ArrayLike<number>, label = 'input'): DeviceArray {
    return this.keep(this.backend.upload(Float32Array.from(values), label));
  }

  u32(values: ArrayLike<number>, label = 'indices'): DeviceArray {
    return this.keep(this.backend.upload(Uint32Array.from(values), label));
  }

  matrix(source: MatrixSource, label = 'matrix'): Matrix {
    const matrix = this.backend.matrix(source, label);
    this.matrices.push(matrix);
    return matrix;
  }

  /** Rows to read from; everything between them is NaN, so a read outside the rows shows in the result. */
  rows(values: ArrayLike<number>, width: number, layout: Layout): Strided {
    return { array: this.f32(spread(values, width, layout, Number.NaN)), ...layout };
  }

  /** Rows to write to: NaN (or `initial`, for kernels that add), with guards between, before and after. */
  output(rows: number, width: number, layout: Layout = packed(width), initial?: ArrayLike<number>): Strided {
    const values = initial ?? new Float32Array(rows * width).fill(Number.NaN);
    return { array: this.f32(spread(values, width, layout, GUARD), 'output'), ...layout };
  }

  /** Fails unless the rows hold `wanted` and every guard is untouched. */
  async expect(what: string, view: Strided, width: number, wanted: ArrayLike<number>, tolerance: Tolerance): Promise<void> {
    const got = await this.backend.read(view.array);
    const plan = spread(wanted, width, view, GUARD);
    for (let i = 0; i < got.length; i++) {
      const inRow = i >= view.offset && (i - view.offset) % view.stride < width && (i - view.offset) / view.stride < wanted.length / width;
      const target = plan[i]!;
      if (!inRow) {
        if (got[i] !== GUARD) throw new Error(`${what}: wrote ${got[i]} over the guard at element ${i}`);
        continue;
      }
      const allowed = tolerance.absolute + tolerance.relative * Math.abs(target);
      if (!(Math.abs(got[i]! - target) <= allowed)) {
        const row = Math.floor((i - view.offset) / view.stride);
        const column = (i - view.offset) % view.stride;
        throw new Error(`${what}[${row}, ${column}] is ${got[i]}, wanted ${target} within ${allowed.toExponential(1)}`);
      }
    }
  }

  /** The rows of an output as one dense array. */
  async dense(view: Strided, rows: number, width: number): Promise<Float32Array> {
    const all = await this.backend.read(view.array);
    const out = new Float32Array(rows * width);
    for (let i = 0; i < out.length; i++) out[i] = all[view.offset + Math.floor(i / width) * view.stride + (i % width)]!;
    return out;
  }

  release(): void {
    for (const array of this.arrays) this.backend.free(array);
    for (const matrix of this.matrices) this.backend.freeMatrix(matrix);
  }

  private keep(array: DeviceArray): DeviceArray {
    this.arrays.push(array);
    return array;
  }
}

/** A case whose arrays are freed whether it passes or not. */
export function kernelCase(name: string, body: (stage: Stage) => Promise<void>): KernelCase {
  return {
    name,
    async run(backend) {
      const stage = new Stage(backend);
      try {
        await body(stage);
      } finally {
        stage.release();
      }
    },
  };
}

/** Fails unless both arrays hold the same bits. */
export function expectSameBits(what: string, got: Float32Array, wanted: Float32Array): void {
  for (let i = 0; i < wanted.length; i++) {
    if (!Object.is(got[i], wanted[i])) throw new Error(`${what}: element ${i} is ${got[i]}, alone it was ${wanted[i]}`);
  }
}

function spread(values: ArrayLike<number>, width: number, layout: Layout, filler: number): Float64Array {
  const rows = values.length / width;
  const out = new Float64Array(layout.offset + rows * layout.stride + GUARD_LENGTH).fill(filler);
  for (let i = 0; i < values.length; i++) out[layout.offset + Math.floor(i / width) * layout.stride + (i % width)] = values[i]!;
  return out;
}
