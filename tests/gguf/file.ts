/** Writes GGUF files, byte by byte after the format's description, right ones and wrong ones. */

const VALUE_TYPES = { u32: 4, i32: 5, f32: 6, bool: 7, string: 8, array: 9 } as const;
type Scalar = Exclude<keyof typeof VALUE_TYPES, 'array'>;

export type MetaValue =
  | { readonly type: Scalar; readonly value: number | boolean | string }
  | { readonly type: 'array'; readonly of: Scalar; readonly values: readonly (number | boolean | string)[] };

export const u32 = (value: number): MetaValue => ({ type: 'u32', value });
export const f32 = (value: number): MetaValue => ({ type: 'f32', value });
export const bool = (value: boolean): MetaValue => ({ type: 'bool', value });
export const text = (value: string): MetaValue => ({ type: 'string', value });
export const texts = (values: readonly string[]): MetaValue => ({ type: 'array', of: 'string', values });
export const i32s = (values: readonly number[]): MetaValue => ({ type: 'array', of: 'i32', values });
export const f32s = (values: readonly number[]): MetaValue => ({ type: 'array', of: 'f32', values });

export interface FileTensor {
  readonly name: string;
  /** Length of a row first. */
  readonly shape: readonly number[];
  /** GGML's number of the type. */
  readonly type: number;
  readonly bytes: Uint8Array;
  /** Where the header says it is, if not where it is. */
  readonly offset?: number;
}

export interface FileParts {
  readonly metadata: Readonly<Record<string, MetaValue>>;
  readonly tensors: readonly FileTensor[];
  readonly magic?: string;
  readonly version?: number;
  readonly alignment?: number;
}

export function ggufFile({ metadata, tensors, magic = 'GGUF', version = 3, alignment = 32 }: FileParts): Uint8Array {
  const out = new Bytes();
  out.raw(new TextEncoder().encode(magic));
  out.u32(version);
  out.u64(tensors.length);
  out.u64(Object.keys(metadata).length);
  for (const [key, value] of Object.entries(metadata)) {
    out.string(key);
    out.value(value);
  }
  let offset = 0;
  for (const tensor of tensors) {
    out.string(tensor.name);
    out.u32(tensor.shape.length);
    for (const length of tensor.shape) out.u64(length);
    out.u32(tensor.type);
    out.u64(tensor.offset ?? offset);
    offset = Math.ceil((offset + tensor.bytes.length) / alignment) * alignment;
  }
  for (const { bytes } of tensors) {
    out.align(alignment);
    out.raw(bytes);
  }
  return out.bytes();
}

/** Float32 numbers as the bytes of a tensor. */
export function f32Bytes(values: ArrayLike<number>): Uint8Array {
  return new Uint8Array(Float32Array.from(values).buffer);
}

class Bytes {
  private readonly parts: Uint8Array[] = [];
  private length = 0;

  raw(bytes: Uint8Array): void {
    this.parts.push(bytes);
    this.length += bytes.length;
  }

  u32(value: number): void {
    this.raw(new Uint8Array(Uint32Array.of(value).buffer));
  }

  u64(value: number): void {
    this.raw(new Uint8Array(BigUint64Array.of(BigInt(value)).buffer));
  }

  string(value: string): void {
    const bytes = new TextEncoder().encode(value);
    this.u64(bytes.length);
    this.raw(bytes);
  }

  value(value: MetaValue): void {
    this.u32(VALUE_TYPES[value.type]);
    if (value.type !== 'array') {
      this.scalar(value.type, value.value);
      return;
    }
    this.u32(VALUE_TYPES[value.of]);
    this.u64(value.values.length);
    for (const one of value.values) this.scalar(value.of, one);
  }

  align(alignment: number): void {
    this.raw(new Uint8Array(Math.ceil(this.length / alignment) * alignment - this.length));
  }

  bytes(): Uint8Array {
    const out = new Uint8Array(this.length);
    let at = 0;
    for (const part of this.parts) {
      out.set(part, at);
      at += part.length;
    }
    return out;
  }

  private scalar(type: Scalar, value: number | boolean | string): void {
    if (type === 'string') this.string(String(value));
    else if (type === 'bool') this.raw(Uint8Array.of(value ? 1 : 0));
    else if (type === 'f32') this.raw(f32Bytes([Number(value)]));
    else this.raw(new Uint8Array(Int32Array.of(Number(value) | 0).buffer));
  }
}
