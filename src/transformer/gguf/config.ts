import { NacreError } from '../../core/errors.ts';
import { ARCHITECTURES } from '../mlc/config.ts';
import type { Architecture, DecoderConfig } from '../weights.ts';
import { badMetadata, unsupported } from './errors.ts';
import type { Metadata } from './metadata.ts';

/** Tokens that end an answer, by name: chat models name only one of theirs in the metadata. */
const ENDING_TOKENS = ['<|im_end|>', '<|eot_id|>', '<|eom_id|>', '<|end_of_text|>', '<|endoftext|>', '<|end|>', '<end_of_turn>'];

const ENDING_KEYS = ['eos', 'eot', 'eom'];

/** What the metadata alone say of a decoder. */
export type MetadataConfig = Omit<DecoderConfig, 'tied' | 'ropeScaling' | 'ropeFactors'>;

/**
 * The dimensions of the model. `vocab` is the number of tokens.
 * @throws {NacreError} `gguf-metadata`, `gguf-unsupported` or `unknown-model-type`, naming the key.
 */
export function configOf(metadata: Metadata): MetadataConfig {
  const { file } = metadata;
  const architecture = architectureOf(metadata);
  const key = (name: string): string => `${architecture}.${name}`;
  const parts = metadata.count('split.count', 1);
  if (parts > 1) throw unsupported(file, `it is one of ${parts} parts of a model`, 'Join the parts first (llama-gguf-split --merge).');
  if (metadata.has(key('expert_count'))) {
    throw unsupported(file, `it has ${metadata.count(key('expert_count'))} experts a layer`, 'Use a dense model.');
  }
  const tokens = metadata.texts('tokenizer.ggml.tokens');
  if (tokens === undefined) throw metadata.missing('tokenizer.ggml.tokens');
  const hidden = metadata.count(key('embedding_length'));
  const heads = metadata.count(key('attention.head_count'));
  const kvHeads = metadata.count(key('attention.head_count_kv'), heads);
  if (heads % kvHeads !== 0)
    throw badMetadata(file, key('attention.head_count_kv'), `is ${kvHeads}, which does not divide the ${heads} heads`);
  const bosId = metadata.tokenId('tokenizer.ggml.bos_token_id', tokens.length);
  return {
    architecture,
    hidden,
    layers: metadata.count(key('block_count')),
    heads,
    kvHeads,
    headDim: headDimOf(metadata, architecture, hidden / heads),
    ffn: metadata.count(key('feed_forward_length')),
    vocab: tokens.length,
    ropeTheta: metadata.positive(key('rope.freq_base'), 10000),
    normEps: metadata.positive(key('attention.layer_norm_rms_epsilon')),
    embedScale: 1,
    contextLength: contextLengthOf(metadata, architecture),
    eosIds: endingIds(metadata, tokens),
    ...(bosId === undefined ? {} : { bosId }),
  };
}

function architectureOf(metadata: Metadata): Architecture {
  const name = metadata.text('general.architecture');
  if (name === undefined) throw metadata.missing('general.architecture');
  const found = ARCHITECTURES.find((known) => known === name);
  if (found === undefined) {
    throw new NacreError(
      'unknown-model-type',
      `${metadata.file}: general.architecture is "${name}", which is not supported.`,
      `Supported: ${ARCHITECTURES.join(', ')}.`,
    );
  }
  return found;
}

function headDimOf(metadata: Metadata, architecture: Architecture, even: number): number {
  const key = (name: string): string => `${architecture}.${name}`;
  const given = metadata.has(key('attention.key_length')) || Number.isInteger(even);
  if (!given) throw badMetadata(metadata.file, key('attention.head_count'), 'does not divide the embedding length');
  const headDim = metadata.count(key('attention.key_length'), even);
  if (headDim % 2 !== 0) throw badMetadata(metadata.file, key('attention.key_length'), `is ${headDim}, but must be even`);
  for (const name of ['attention.value_length', 'rope.dimension_count']) {
    const other = metadata.count(key(name), headDim);
    if (other !== headDim)
      throw badMetadata(metadata.file, key(name), `is ${other}, but heads have ${headDim} elements; other sizes are not supported`);
  }
  return headDim;
}

/** Attention is never cut to a window here, so a model with one is used within it. */
function contextLengthOf(metadata: Metadata, architecture: Architecture): number {
  const length = metadata.count(`${architecture}.context_length`);
  const window = `${architecture}.attention.sliding_window`;
  return metadata.has(window) ? Math.min(length, metadata.count(window)) : length;
}

function endingIds(metadata: Metadata, tokens: readonly string[]): number[] {
  const named = ENDING_KEYS.map((name) => metadata.tokenId(`tokenizer.ggml.${name}_token_id`, tokens.length));
  const types = metadata.numbers('tokenizer.ggml.token_type');
  const known = ENDING_TOKENS.map((token) => tokens.indexOf(token)).filter((id) => id >= 0 && types?.[id] !== 1);
  return [...new Set([...named.filter((id) => id !== undefined), ...known])];
}
