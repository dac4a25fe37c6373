/** GGML's tensor types by their number in the file: `length` weights stored together in `bytes` bytes. */
interface TensorType {
  readonly name: string;
  readonly length: number;
  readonly bytes: number;
}

const TYPES = {
  f32: { name: 'F32', length: 1, bytes: 4 },
  f16: { name: 'F16', length: 1, bytes: 2 },
  bf16: { name: 'BF16', length: 1, bytes: 2 },
  q4_0: { name: 'Q4_0', length: 32, bytes: 18 },
  q4_1: { name: 'Q4_1', length: 32, bytes: 20 },
  q8_0: { name: 'Q8_0', length: 32, bytes: 34 },
  q4_k: { name: 'Q4_K', length: 256, bytes: 144 },
  q6_k: { name: 'Q6_K', length: 256, bytes: 210 },
} as const satisfies Readonly<Record<string, TensorType>>;

export type GgufType = keyof typeof TYPES;

const BY_NUMBER: Readonly<Record<number, GgufType>> = {
  0: 'f32',
  1: 'f16',
  2: 'q4_0',
  3: 'q4_1',
  8: 'q8_0',
  12: 'q4_k',
  14: 'q6_k',
  30: 'bf16',
};

/** Types that exist and are not read, so that messages can name them. */
const UNSUPPORTED: Readonly<Record<number, string>> = {
  6: 'Q5_0',
  7: 'Q5_1',
  9: 'Q8_1',
  10: 'Q2_K',
  11: 'Q3_K',
  13: 'Q5_K',
  15: 'Q8_K',
  16: 'IQ2_XXS',
  17: 'IQ2_XS',
  18: 'IQ3_XXS',
  19: 'IQ1_S',
  20: 'IQ4_NL',
  21: 'IQ3_S',
  22: 'IQ2_S',
  23: 'IQ4_XS',
  24: 'I8',
  25: 'I16',
  26: 'I32',
  27: 'I64',
  28: 'F64',
  29: 'IQ1_M',
  34: 'TQ1_0',
  35: 'TQ2_0',
  39: 'MXFP4',
};

export const SUPPORTED_TYPES: string = Object.values(TYPES)
  .map(({ name }) => name)
  .join(', ');

export function ggufType(number: number): GgufType | undefined {
  return BY_NUMBER[number];
}

/** What a type is called, supported or not. */
export function typeName(number: number): string {
  const type = BY_NUMBER[number];
  return type === undefined ? (UNSUPPORTED[number] ?? `number ${number}`) : TYPES[type].name;
}

export function typeShape(type: GgufType): TensorType {
  return TYPES[type];
}

/** Bytes of `rows` rows of `cols` weights; `cols` is a multiple of the type's length. */
export function storedBytes(type: GgufType, rows: number, cols: number): number {
  const { length, bytes } = TYPES[type];
  return rows * (cols / length) * bytes;
}
