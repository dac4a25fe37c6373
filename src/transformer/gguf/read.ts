import type { RandomAccessFile } from '../random-access.ts';
import type { DecoderWeights } from '../weights.ts';
import { configOf } from './config.ts';
import { readHeader } from './header.ts';
import { type GgufTokenizer, tokenizerOf } from './tokenizer.ts';
import { type GgufOptions, readWeights } from './weights.ts';

export interface GgufModel extends GgufTokenizer {
  readonly weights: DecoderWeights;
  /** Size of the file. */
  readonly bytes: number;
}

/**
 * Reads a model in one GGUF file: the whole header is checked first, then the tensors are read one by one.
 * @throws {NacreError} naming the file and the metadata key or tensor at fault; rejects with the signal's reason when cancelled.
 */
export async function readGguf(file: RandomAccessFile, options: GgufOptions = {}): Promise<GgufModel> {
  const header = await readHeader(file, options.signal);
  const config = configOf(header.metadata);
  const tokenizer = tokenizerOf(header.metadata);
  return { ...tokenizer, weights: await readWeights(file, header, config, options), bytes: file.size };
}
