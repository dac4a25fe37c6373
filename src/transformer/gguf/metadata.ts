import type { MetadataValue } from './cursor.ts';
import { badMetadata } from './errors.ts';

/** Sizes above this are faults of the file, not of a model. */
const LARGEST_COUNT = 2 ** 31;

/** The metadata of a GGUF file, read by key and checked. @throws {NacreError} `gguf-metadata` naming the key. */
export class Metadata {
  readonly file: string;
  private readonly entries: ReadonlyMap<string, MetadataValue>;

  constructor(file: string, entries: ReadonlyMap<string, MetadataValue>) {
    this.file = file;
    this.entries = entries;
  }

  has(key: string): boolean {
    return this.entries.has(key);
  }

  /** A whole number from 1. Without a default the key must be there; an array of equal numbers stands for the number. */
  count(key: string, otherwise?: number): number {
    const value = this.uniform(key) ?? otherwise;
    if (value === undefined) throw this.missing(key);
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > LARGEST_COUNT)
      throw this.bad(key, value, 'a whole number from 1');
    return value;
  }

  positive(key: string, otherwise?: number): number {
    const value = this.entries.get(key) ?? otherwise;
    if (value === undefined) throw this.missing(key);
    if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0) throw this.bad(key, value, 'a number above 0');
    return value;
  }

  text(key: string): string | undefined {
    const value = this.entries.get(key);
    if (value !== undefined && typeof value !== 'string') throw this.bad(key, value, 'a text');
    return value;
  }

  flag(key: string): boolean | undefined {
    const value = this.entries.get(key);
    if (value !== undefined && typeof value !== 'boolean') throw this.bad(key, value, 'true or false');
    return value;
  }

  /** The id of a token, below the size of the vocabulary. */
  tokenId(key: string, vocab: number): number | undefined {
    const value = this.entries.get(key);
    // Converters write −1 (as signed or unsigned) for "there is none".
    if (value === undefined || value === -1 || value === 0xffffffff) return undefined;
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value >= vocab)
      throw this.bad(key, value, `a token id below ${vocab}`);
    return value;
  }

  texts(key: string): readonly string[] | undefined {
    return this.list(key, 'texts', (item): item is string => typeof item === 'string');
  }

  /** Finite numbers. */
  numbers(key: string): readonly number[] | undefined {
    return this.list(key, 'finite numbers', (item): item is number => typeof item === 'number' && Number.isFinite(item));
  }

  missing(key: string): Error {
    return badMetadata(this.file, key, 'is missing');
  }

  private list<T extends MetadataValue>(key: string, what: string, fits: (item: MetadataValue) => item is T): readonly T[] | undefined {
    const value = this.entries.get(key);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) throw badMetadata(this.file, key, `must be a list of ${what}`);
    const items = value as readonly MetadataValue[];
    const wrong = items.findIndex((item) => !fits(item));
    if (wrong >= 0) throw badMetadata(this.file, key, `must hold ${what}, but element ${wrong} is ${JSON.stringify(items[wrong])}`);
    return items as readonly T[];
  }

  private uniform(key: string): MetadataValue | undefined {
    const value = this.entries.get(key);
    if (!Array.isArray(value)) return value;
    const items = value as readonly MetadataValue[];
    if (items.length === 0 || items.some((item) => item !== items[0]))
      throw badMetadata(this.file, key, 'differs from layer to layer, which is not supported');
    return items[0];
  }

  private bad(key: string, value: MetadataValue, wanted: string): Error {
    return badMetadata(this.file, key, `must be ${wanted}, but is ${Array.isArray(value) ? 'a list' : JSON.stringify(value)}`);
  }
}
