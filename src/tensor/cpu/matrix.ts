import { NacreError } from '../../core/errors.ts';
import type { Matrix, MatrixSource, PlainSource } from '../backend.ts';
import { blockShape } from '../blocks.ts';
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

/** Rows that exist only as panels of packed numbers (assembly/packed.ts). */
export interface PackedPart {
  readonly firstRow: number;
  readonly rows: number;
  readonly panels: number;
  /** 0 unless q4 */
  readonly scales: number;
  /** The number assembly/packed.ts knows the format by. */
  readonly code: number;
}

/** A matrix in one packed part, or a stacked one in several. */
export interface PackedMatrix extends Matrix {
  readonly format: Exclude<MatrixSource['format'], 'f32'>;
  readonly owner: Memory;
  readonly parts: readonly PackedPart[];
  freed: boolean;
}

export type CpuMatrix = DenseMatrix | PackedMatrix;

const CODES = { f32: 0, f16: 1, bf16: 2, q4: 3, q8_0: 4, q4_1: 5, q4_k: 6, q6_k: 7 } as const;

/** Bytes a panel takes for each block of 8 rows. */
const PANEL_BLOCK_BYTES = { q8_0: 272, q4_1: 160, q4_k: 1184, q6_k: 1680 } as const;

/** Copies the weights into the memory in the layout the kernels multiply. @throws {NacreError} on wrong lengths */
export function createMatrix(memory: Memory, kernels: Kernels, source: MatrixSource, label: string): CpuMatrix {
  checkMatrixSource(source, label);
  const { rows, cols } = source;
  const common = { rows, cols, label, owner: memory, freed: false };
  if (source.format === 'f32') {
    const values = newArray(memory, 'f32', rows * cols, label);
    memory.f32(values.pointer, values.length).set(source.data);
    return { ...common, format: 'f32', values, panels: 0, panelsAreStale: true };
  }
  const parts: PackedPart[] = [];
  let firstRow = 0;
  for (const part of source.format === 'stacked' ? source.parts : [source]) {
    parts.push({ firstRow, rows: part.rows, code: CODES[part.format], ...packPart(memory, kernels, part) });
    firstRow += part.rows;
  }
  return { ...common, format: source.format, parts };
}

function packPart(memory: Memory, kernels: Kernels, source: PlainSource): Pick<PackedPart, 'panels' | 'scales'> {
  const { rows, cols } = source;
  const panelCount = Math.ceil(rows / 8);
  if (source.format === 'q4') {
    const groups = Math.ceil(cols / 32);
    const panels = memory.allocate(panelCount * cols * 4);
    const scales = memory.allocate(panelCount * groups * 32);
    staged(memory, source.codes, (codes) => kernels.packCodes(panels, codes, rows, cols));
    staged(memory, source.scales, (values) => kernels.packPanels(scales, values, rows, groups));
    return { panels, scales };
  }
  if ('blocks' in source) {
    const { format } = source;
    const panels = memory.allocate(panelCount * Math.ceil(cols / blockShape(format).length) * PANEL_BLOCK_BYTES[format]);
    staged(memory, source.blocks, (blocks) => kernels.packBlocks(panels, blocks, CODES[format], rows, cols));
    return { panels, scales: 0 };
  }
  if (source.format === 'f32') {
    const panels = memory.allocate(panelCount * cols * 32);
    staged(memory, source.data, (values) => kernels.packPanels(panels, values, rows, cols));
    return { panels, scales: 0 };
  }
  const panels = memory.allocate(panelCount * cols * 16);
  staged(memory, source.data, (values) => kernels.packHalves(panels, values, rows, cols));
  return { panels, scales: 0 };
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
    for (const { panels, scales } of matrix.parts) {
      memory.release(panels);
      if (scales !== 0) memory.release(scales);
    }
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
