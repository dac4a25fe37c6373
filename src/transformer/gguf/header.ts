import { NacreError } from '../../core/errors.ts';
import type { RandomAccessFile } from '../random-access.ts';
import { Cursor, type MetadataValue, NeedsMoreBytes } from './cursor.ts';
import { cutOff, damaged, unsupported } from './errors.ts';
import { Metadata } from './metadata.ts';
import { type GgufType, ggufType, SUPPORTED_TYPES, storedBytes, typeName, typeShape } from './types.ts';

/** A tensor as the header describes it. A vector has one row. */
export interface GgufTensor {
  readonly name: string;
  readonly type: GgufType;
  readonly rows: number;
  readonly cols: number;
  /** Whether it has one dimension only. */
  readonly vector: boolean;
  /** Bytes [from, to) of the file. */
  readonly from: number;
  readonly to: number;
}

export interface GgufHeader {
  readonly metadata: Metadata;
  readonly tensors: ReadonlyMap<string, GgufTensor>;
}

/** "GGUF" as a little-endian word. */
const MAGIC = 0x46554747;
const VERSIONS = [2, 3];
/** Bytes read at first; a vocabulary may make the header longer. */
const FIRST_BYTES = 1 << 20;

/**
 * Reads the header of a GGUF file: metadata and the list of tensors, every one checked to lie within the file. The header
 * is read here rather than by a library since it is short, and every fault in it must be named.
 * @throws {NacreError} `not-gguf`, `gguf-version`, `gguf-cut-off`, `gguf-damaged` or `tensor-type`.
 */
export async function readHeader(file: RandomAccessFile, signal?: AbortSignal): Promise<GgufHeader> {
  for (let length = FIRST_BYTES; ; length *= 2) {
    const end = Math.min(length, file.size);
    try {
      return parse(file, await file.read(0, end, signal));
    } catch (thrown) {
      if (!(thrown instanceof NeedsMoreBytes)) throw thrown;
      if (end === file.size) throw cutOff(file.name, `its ${file.size} bytes end within the header`);
    }
  }
}

interface RawTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly type: number;
  readonly offset: number;
}

function parse({ name: file, size }: RandomAccessFile, bytes: Uint8Array): GgufHeader {
  const cursor = new Cursor(file, bytes);
  checkStart(file, cursor);
  const tensorCount = cursor.size('the number of tensors');
  const entryCount = cursor.size('the number of metadata entries');
  const entries = new Map<string, MetadataValue>();
  for (let i = 0; i < entryCount; i++) {
    const key = cursor.string(`the name of metadata entry ${i}`);
    if (entries.has(key)) throw damaged(file, `metadata ${key} stands twice`);
    entries.set(key, cursor.value(key));
  }
  const raw: RawTensor[] = [];
  for (let i = 0; i < tensorCount; i++) raw.push(rawTensor(file, cursor, i));
  const metadata = new Metadata(file, entries);
  const alignment = metadata.count('general.alignment', 32);
  const start = Math.ceil(cursor.at / alignment) * alignment;
  const tensors = new Map<string, GgufTensor>();
  for (const one of raw) {
    if (tensors.has(one.name)) throw damaged(file, `tensor ${one.name} stands twice`);
    if (one.offset % alignment !== 0)
      throw damaged(file, `tensor ${one.name} starts at offset ${one.offset}, not a multiple of ${alignment}`);
    tensors.set(one.name, placed(file, one, start, size));
  }
  return { metadata, tensors };
}

function checkStart(file: string, cursor: Cursor): void {
  if (cursor.u32() !== MAGIC) {
    throw new NacreError(
      'not-gguf',
      `${file} is not a GGUF file: it does not begin with "GGUF".`,
      'Choose a model file that ends in .gguf; a download may have stored a page in its place.',
    );
  }
  const version = cursor.u32();
  if (VERSIONS.includes(version)) return;
  const bigEndian = (version & 0xffff) === 0;
  throw new NacreError(
    'gguf-version',
    bigEndian ? `${file} is a big-endian GGUF file.` : `${file} has GGUF version ${version}; versions ${VERSIONS.join(' and ')} are read.`,
    bigEndian ? 'Use the little-endian file of this model.' : 'Convert the model again with a current converter of llama.cpp.',
  );
}

function rawTensor(file: string, cursor: Cursor, index: number): RawTensor {
  const name = cursor.string(`the name of tensor ${index}`);
  const dimensions = cursor.u32();
  if (dimensions < 1 || dimensions > 4) throw damaged(file, `tensor ${name} has ${dimensions} dimensions`);
  const shape = Array.from({ length: dimensions }, () => cursor.size(`the shape of tensor ${name}`));
  return { name, shape, type: cursor.u32(), offset: cursor.size(`the offset of tensor ${name}`) };
}

/** Where a tensor lies. The file lists the length of a row first. */
function placed(file: string, { name, shape, type: number, offset }: RawTensor, start: number, size: number): GgufTensor {
  const type = ggufType(number);
  if (type === undefined) {
    throw new NacreError(
      'tensor-type',
      `${file}: tensor ${name} is stored as ${typeName(number)}, which is not supported.`,
      `Use a file whose tensors are ${SUPPORTED_TYPES}, e.g. one named Q8_0, Q4_0, Q4_1 or Q4_K_M.`,
    );
  }
  const cols = shape[0];
  const rows = shape.slice(1).reduce((product, length) => product * length, 1);
  if (cols === 0 || rows === 0 || !Number.isSafeInteger(rows * cols))
    throw damaged(file, `tensor ${name} has the shape [${shape.join(', ')}]`);
  const { length } = typeShape(type);
  if (cols % length !== 0)
    throw damaged(file, `tensor ${name} has rows of ${cols}, not a multiple of the ${length} that ${typeName(number)} stores together`);
  if (shape.length > 2 && shape.slice(2).some((more) => more !== 1)) {
    throw unsupported(
      file,
      `tensor ${name} has the shape [${shape.join(', ')}]; models with several experts a layer are not read`,
      'Use a dense model.',
    );
  }
  const from = start + offset;
  const to = from + storedBytes(type, rows, cols);
  if (to > size) throw cutOff(file, `tensor ${name} ends at byte ${to}, but the file has ${size}`);
  return { name, type, rows, cols, vector: shape.length === 1, from, to };
}
