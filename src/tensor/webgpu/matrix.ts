import { NacreError } from '../../core/errors.ts';
import type { DeviceArray, Matrix, MatrixSource } from '../backend.ts';
import type { GpuArray, Recorder } from './recorder.ts';

/** Consecutive rows of a matrix in buffers of their own, since one binding may not hold a whole vocabulary. */
export interface MatrixPart {
  readonly firstRow: number;
  readonly rows: number;
  readonly words: DeviceArray;
  /** f32 scales of q4 groups; the words again for other formats, which do not read it. */
  readonly scales: DeviceArray;
}

export interface GpuMatrix extends Matrix {
  readonly owner: Recorder;
  readonly parts: readonly MatrixPart[];
}

/**
 * Puts a matrix on the device as it is stored: f32 row-major in one array (so that it can be trained), 16-bit floats two a word with
 * rows padded to whole words, q4 as codes and scales. Packed matrices are split by rows where they exceed `maxBytes`.
 * @throws {NacreError} `array-too-large` for an f32 matrix larger than one binding, or a single row that is
 */
export function uploadMatrix(recorder: Recorder, source: MatrixSource, label: string, maxBytes: number): GpuMatrix {
  const { rows, cols, format } = source;
  if (source.format === 'f32') {
    const values = recorder.upload(source.data, label);
    return { rows, cols, format, label, values, owner: recorder, parts: [{ firstRow: 0, rows, words: values, scales: values }] };
  }
  const wordsPerRow = source.format === 'q4' ? 4 * Math.ceil(cols / 32) : Math.ceil(cols / 2);
  const rowsPerPart = Math.floor(maxBytes / (wordsPerRow * 4));
  if (rowsPerPart === 0) {
    throw new NacreError(
      'array-too-large',
      `One row of ${label} needs ${wordsPerRow * 4} bytes, more than this GPU binds.`,
      'Use the CPU backend.',
    );
  }
  const parts: MatrixPart[] = [];
  for (let firstRow = 0; firstRow < rows; firstRow += rowsPerPart) {
    const count = Math.min(rowsPerPart, rows - firstRow);
    const words: GpuArray = recorder.uploadWords(rowWords(source, firstRow, count), label);
    const scales = source.format === 'q4' ? recorder.upload(rowScales(source, firstRow, count), `${label} scales`) : words;
    parts.push({ firstRow, rows: count, words, scales });
  }
  return { rows, cols, format, label, owner: recorder, parts };
}

export function freeMatrixParts(recorder: Recorder, matrix: GpuMatrix): void {
  for (const part of matrix.parts) {
    recorder.free(part.words);
    if (part.scales !== part.words) recorder.free(part.scales);
  }
}

type Packed = Exclude<MatrixSource, { readonly format: 'f32' }>;

function rowWords(source: Packed, firstRow: number, rows: number): Uint32Array {
  if (source.format === 'q4') {
    const perRow = 4 * Math.ceil(source.cols / 32);
    return source.codes.subarray(firstRow * perRow, (firstRow + rows) * perRow);
  }
  const { cols, data } = source;
  const from = data.subarray(firstRow * cols, (firstRow + rows) * cols);
  if (cols % 2 === 0 && from.byteOffset % 4 === 0) return new Uint32Array(from.buffer, from.byteOffset, from.length / 2);
  const perRow = 2 * Math.ceil(cols / 2);
  const padded = new Uint16Array(rows * perRow);
  for (let r = 0; r < rows; r++) padded.set(from.subarray(r * cols, (r + 1) * cols), r * perRow);
  return new Uint32Array(padded.buffer);
}

function rowScales(source: Packed & { readonly format: 'q4' }, firstRow: number, rows: number): Float32Array {
  const perRow = Math.ceil(source.cols / 32);
  return source.scales.subarray(firstRow * perRow, (firstRow + rows) * perRow);
}
