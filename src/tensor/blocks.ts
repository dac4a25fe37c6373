/**
 * Blocks of weights as GGML stores them, each filled up to whole 32-bit words (little-endian; offsets in bytes):
 *   q8_0   32 weights: f16 scale, i8 codes[32], 2 spare bytes                weight = scale·code
 *   q4_1   32 weights: f16 scale, f16 least, u8[16]                          weight = scale·code + least
 *          low nibbles are weights 0–15, high nibbles 16–31
 *   q4_k   256 weights in 8 runs of 32: f16 scale, f16 least, u8 packed[12], u8[128]
 *                                                     weight = scale·factor[run]·code − least·shift[run]
 *          factors and shifts of 6 bits share `packed`; each 32 bytes hold two runs, low nibbles first
 *   q6_k   256 weights in 16 runs of 16: u8 low[128], u8 high[64], i8 factor[16], f16 scale, 2 spare bytes
 *                                                     weight = scale·factor[run]·(code − 32)
 *          by halves of 128: four groups of 32 whose lower nibbles are (low 0–31, low 32–63, high nibbles of both) and
 *          whose upper two bits share the half's 32 bytes of `high`
 */
export const BLOCK_FORMATS = ['q8_0', 'q4_1', 'q4_k', 'q6_k'] as const;
export type BlockFormat = (typeof BLOCK_FORMATS)[number];

interface BlockShape {
  /** Weights a block. */
  readonly length: number;
  /** 32-bit words a block. */
  readonly words: number;
}

const SHAPES: Readonly<Record<BlockFormat, BlockShape>> = {
  q8_0: { length: 32, words: 9 },
  q4_1: { length: 32, words: 5 },
  q4_k: { length: 256, words: 36 },
  q6_k: { length: 256, words: 53 },
};

export function blockShape(format: BlockFormat): BlockShape {
  return SHAPES[format];
}

export function isBlockFormat(format: string): format is BlockFormat {
  return BLOCK_FORMATS.some((known) => known === format);
}

/** Words of one row of `cols` weights; a last block that is not full is stored whole. */
export function rowWords(format: BlockFormat, cols: number): number {
  const { length, words } = SHAPES[format];
  return Math.ceil(cols / length) * words;
}
