import { damaged } from './errors.ts';

export type MetadataValue = number | boolean | string | readonly MetadataValue[];

/** Thrown where the bytes at hand end before the value does; the caller reads more of the file. */
export class NeedsMoreBytes extends Error {}

const SIZES: readonly number[] = [1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8];
const STRING = 8;
const ARRAY = 9;
const MAX_DEPTH = 4;

/** Reads the little-endian numbers, strings and typed values of a GGUF header one after the other. */
export class Cursor {
  at = 0;
  private readonly file: string;
  private readonly bytes: Uint8Array;
  private readonly view: DataView;
  private readonly utf8 = new TextDecoder('utf-8', { fatal: true });

  constructor(file: string, bytes: Uint8Array) {
    this.file = file;
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  u32(): number {
    return this.view.getUint32(this.take(4), true);
  }

  /** A 64-bit count, size or offset. */
  size(what: string): number {
    const value = this.view.getBigUint64(this.take(8), true);
    if (value > Number.MAX_SAFE_INTEGER) throw damaged(this.file, `${what} is ${value}, which no file can hold`);
    return Number(value);
  }

  string(what: string): string {
    const length = this.size(`the length of ${what}`);
    const start = this.take(length);
    try {
      return this.utf8.decode(this.bytes.subarray(start, start + length));
    } catch (cause) {
      throw damaged(this.file, `${what} is not UTF-8`, cause);
    }
  }

  /** A value behind its type. */
  value(key: string): MetadataValue {
    return this.typed(this.u32(), key, 0);
  }

  private typed(type: number, key: string, depth: number): MetadataValue {
    switch (type) {
      case 0:
        return this.view.getUint8(this.take(1));
      case 1:
        return this.view.getInt8(this.take(1));
      case 2:
        return this.view.getUint16(this.take(2), true);
      case 3:
        return this.view.getInt16(this.take(2), true);
      case 4:
        return this.u32();
      case 5:
        return this.view.getInt32(this.take(4), true);
      case 6:
        return this.view.getFloat32(this.take(4), true);
      case 7:
        return this.view.getUint8(this.take(1)) !== 0;
      case STRING:
        return this.string(`metadata ${key}`);
      case ARRAY:
        return this.array(key, depth);
      case 10:
        return Number(this.view.getBigUint64(this.take(8), true));
      case 11:
        return Number(this.view.getBigInt64(this.take(8), true));
      case 12:
        return this.view.getFloat64(this.take(8), true);
      default:
        throw damaged(this.file, `metadata ${key} has the unknown type ${type}`);
    }
  }

  private array(key: string, depth: number): MetadataValue {
    if (depth === MAX_DEPTH) throw damaged(this.file, `metadata ${key} is nested too deeply`);
    const type = this.u32();
    const count = this.size(`the length of metadata ${key}`);
    const least = SIZES[type];
    if (least === undefined) throw damaged(this.file, `metadata ${key} has elements of the unknown type ${type}`);
    // A wrong count must not fill the memory before the file's end is noticed.
    this.expect(count * (type === STRING ? 8 : least));
    const values: MetadataValue[] = [];
    for (let i = 0; i < count; i++) values.push(this.typed(type, key, depth + 1));
    return values;
  }

  private take(count: number): number {
    this.expect(count);
    const start = this.at;
    this.at += count;
    return start;
  }

  private expect(count: number): void {
    if (this.at + count > this.bytes.length) throw new NeedsMoreBytes();
  }
}
