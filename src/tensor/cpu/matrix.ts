import { NacreError } from '../../core/errors.ts';
import type { Matrix, MatrixSource } from '../backend.ts';
import { checkMatrixSource } from '../check.ts';
import type { Kernels } from './kernels.ts';
import { type CpuArray, type Memory, newArray } from './memory.ts';

/** f32 keeps its row-major values, and beside them panels for x·wᵀ that are made when first needed after a change. */
export interface DenseMatrix extends Matrix {
  readonly format: 'f32';
  readonly owner: Memory;
  readonly values: CpuArray;
  panels: number;
  panelsAreStale: boolean;
  freed: boolean;
}

/** 16- and 4-bit weights exist only as panels of packed numbers (assembly/packed.ts). */
export interface PackedMatrix extends Matrix {
  readonly format: 'f16' | 'bf16' | 'q4';
  readonly owner: Memory;
  readonly panels: number;
  /** 0 unless q4 */
  readonly scales: number;
  /** The number assembly/packed.ts knows the format by. */
  readonly code: number;
  freed: boolean;
}

export type CpuMatrix = DenseMatrix | PackedMatrix;

const CODES = { f16: 1, bf16: 2, q4: 3 } as const;

/** Copies the weights into the memory in the layout the kernels multiply. @throws {NacreError} on wrong lengths */
export function createMatrix(memory: Memory, kernels: Kernels, source: MatrixSource, label: string): CpuMatrix {
  checkMatrixSource(source, label);
  const { rows, cols } = source;
  const common = { rows, cols, label, owner: memory, freed: false };
  const blocks = Math.ceil(rows / 8);
  if (source.format === 'f32') {
    const values = newArray(memory, 'f32', rows * cols, label);
    memory.f32(values.pointer, values.length).set(source.data);
    return { ...common, format: 'f32', values, panels: 0, panelsAreStale: true };
  }
  if (source.format === 'q4') {
    const groups = Math.ceil(cols / 32);
    const panels = memory.allocate(blocks * cols * 4);
    const scales = memory.allocate(blocks * groups * 32);
    staged(memory, source.codes, (codes) => kernels.packCodes(panels, codes, rows, cols));
    staged(memory, source.scales, (values) => kernels.packPanels(scales, values, rows, groups));
    return { ...common, format: 'q4', panels, scales, code: CODES.q4 };
  }
  const panels = memory.allocate(blocks * cols * 16);
  staged(memory, source.data, (values) => kernels.packHalves(panels, values, rows, cols));
  return { ...common, format: source.format, panels, scales: 0, code: CODES[source.format] };
}

/** Runs `use` on a copy of the data inside the memory, which is there only for that long. */
function staged(memory: Memory, data: Float32Array | Uint32Array | Uint16Array, use: (pointer: number) => void): void {
  const pointer = memory.allocate(data.byteLength);
  try {
    new Uint8Array(memory.wasm.buffer, pointer, data.byteLength).set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    use(pointer);
  } finally {
    memory.release(pointer);
  }
}

/** The panels of a dense matrix [ceil(rows/8)][cols][8], remade if the values changed. */
export function freshPanels(memory: Memory, kernels: Kernels, matrix: DenseMatrix): number {
  if (matrix.panels === 0) matrix.panels = memory.allocate(Math.ceil(matrix.rows / 8) * matrix.cols * 32);
  if (matrix.panelsAreStale) kernels.packPanels(matrix.panels, matrix.values.pointer, matrix.rows, matrix.cols);
  matrix.panelsAreStale = false;
  return matrix.panels;
}

export function freeMatrix(memory: Memory, matrix: CpuMatrix): void {
  if (matrix.format === 'f32') {
    memory.release(matrix.values.pointer);
    matrix.values.pointer = 0;
    if (matrix.panels !== 0) memory.release(matrix.panels);
  } else {
    memory.release(matrix.panels);
    if (matrix.scales !== 0) memory.release(matrix.scales);
  }
  matrix.freed = true;
}

/** The matrix's own record. @throws {NacreError} when it is freed or belongs to another backend */
export function ownedMatrix(memory: Memory, matrix: Matrix): CpuMatrix {
  const own = matrix as CpuMatrix;
  const hint = 'This is a defect of Nacre: please report it with the details.';
  if (own.owner !== memory) throw new NacreError('foreign-array', `Matrix ${matrix.label} is not of this CPU backend.`, hint);
  if (own.freed) throw new NacreError('array-freed', `Matrix ${matrix.label} was freed.`, hint);
  return own;
}
