import { NacreError } from '../../core/errors.ts';
import type { DeviceArray, Matrix, MatrixSource, PlainSource } from '../backend.ts';
import { rowWords } from '../blocks.ts';
import type { GpuArray, Recorder } from './recorder.ts';

/** Consecutive rows of a matrix in buffers of their own: one binding may not hold a whole vocabulary, nor two formats. */
export interface MatrixPart {
  readonly format: PlainSource['format'];
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
 * rows padded to whole words, q4 as codes and scales, blocks as they are. Packed matrices are split by rows where they exceed `maxBytes`.
 * @throws {NacreError} `array-too-large` for an f32 matrix larger than one binding, or a single row that is
 */
export function uploadMatrix(recorder: Recorder, source: MatrixSource, label: string, maxBytes: number): GpuMatrix {
  const { rows, cols, format } = source;
  const common = { rows, cols, format, label, owner: recorder };
  if (source.format === 'stacked') {
    let firstRow = 0;
    const parts = source.parts.flatMap((part) => {
      const uploaded = uploadRows(recorder, part, label, maxBytes, firstRow);
      firstRow += part.rows;
      return uploaded;
    });
    return { ...common, parts };
  }
  const parts = uploadRows(recorder, source, label, maxBytes, 0);
  return { ...common, parts, ...(format === 'f32' ? { values: parts[0]!.words } : {}) };
}

/** @param firstRow where the rows begin in the whole matrix */
function uploadRows(recorder: Recorder, source: PlainSource, label: string, maxBytes: number, firstRow: number): MatrixPart[] {
  const { rows, format } = source;
  if (source.format === 'f32') {
    const values = recorder.upload(source.data, label);
    return [{ format, firstRow, rows, words: values, scales: values }];
  }
  const perRow = wordsPerRow(source);
  const rowsPerPart = Math.floor(maxBytes / (perRow * 4));
  if (rowsPerPart === 0) {
    throw new NacreError(
      'array-too-large',
      `One row of ${label} needs ${perRow * 4} bytes, more than this GPU binds.`,
      'Use the CPU backend.',
    );
  }
  const parts: MatrixPart[] = [];
  for (let first = 0; first < rows; first += rowsPerPart) {
    const count = Math.min(rowsPerPart, rows - first);
    const words: GpuArray = recorder.uploadWords(wordsOf(source, first, count), label);
    const scales = source.format === 'q4' ? recorder.upload(scalesOf(source, first, count), `${label} scales`) : words;
    parts.push({ format, firstRow: firstRow + first, rows: count, words, scales });
  }
  return parts;
}

export function freeMatrixParts(recorder: Recorder, matrix: GpuMatrix): void {
  for (const part of matrix.parts) {
    recorder.free(part.words);
    if (part.scales !== part.words) recorder.free(part.scales);
  }
}

type Packed = Exclude<PlainSource, { readonly format: 'f32' }>;

function wordsPerRow(source: Packed): number {
  if ('blocks' in source) return rowWords(source.format, source.cols);
  return source.format === 'q4' ? 4 * Math.ceil(source.cols / 32) : Math.ceil(source.cols / 2);
}

function wordsOf(source: Packed, firstRow: number, rows: number): Uint32Array {
  const perRow = wordsPerRow(source);
  if ('blocks' in source) return source.blocks.subarray(firstRow * perRow, (firstRow + rows) * perRow);
  if (source.format === 'q4') return source.codes.subarray(firstRow * perRow, (firstRow + rows) * perRow);
  const { cols, data } = source;
  const from = data.subarray(firstRow * cols, (firstRow + rows) * cols);
  if (cols % 2 === 0 && from.byteOffset % 4 === 0) return new Uint32Array(from.buffer, from.byteOffset, from.length / 2);
  const padded = new Uint16Array(rows * 2 * perRow);
  for (let r = 0; r < rows; r++) padded.set(from.subarray(r * cols, (r + 1) * cols), r * 2 * perRow);
  return new Uint32Array(padded.buffer);
}

function scalesOf(source: Packed & { readonly format: 'q4' }, firstRow: number, rows: number): Float32Array {
  const perRow = Math.ceil(source.cols / 32);
  return source.scales.subarray(firstRow * perRow, (firstRow + rows) * perRow);
}
