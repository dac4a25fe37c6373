import { NacreError } from '../../core/errors.ts';
import { addedToken, beginWith, type Piece, sentencePieceJson } from '../sentencepiece.ts';
import { badMetadata } from './errors.ts';
import type { Metadata } from './metadata.ts';
import { PRE_TOKENIZERS, preTokenizer } from './pre-tokenizers.ts';

export interface GgufTokenizer {
  /** Texts of the files that Hugging Face would keep beside the model. */
  readonly tokenizerJson: string;
  readonly tokenizerConfig: string;
}

/** `tokenizer.ggml.token_type` */
const KINDS: readonly Piece['kind'][] = ['normal', 'normal', 'control', 'control', 'user', 'unused', 'byte'];
const NORMAL = 1;

const key = (name: string): string => `tokenizer.ggml.${name}`;

/**
 * The vocabulary of a GGUF file as `tokenizer.json`, and its special tokens and chat template as `tokenizer_config.json`.
 * @throws {NacreError} `gguf-metadata`, `unsupported-tokenizer` or `bad-tokenizer`, naming the key or the token.
 */
export function tokenizerOf(metadata: Metadata): GgufTokenizer {
  const tokens = metadata.texts(key('tokens'));
  if (tokens === undefined) throw metadata.missing(key('tokens'));
  refuseRepeated(metadata.file, tokens);
  const model = metadata.text(key('model'));
  if (model === undefined) throw metadata.missing(key('model'));
  const kinds = perToken(metadata, 'token_type', tokens.length)?.map((type) => KINDS[type] ?? 'normal');
  const vocabulary = { tokens, kinds: kinds ?? tokens.map(() => KINDS[NORMAL]) };
  const json = model === 'gpt2' ? byteLevelJson(metadata, vocabulary) : scoredJson(metadata, model, vocabulary);
  return { tokenizerJson: JSON.stringify(json), tokenizerConfig: JSON.stringify(configOf(metadata, tokens)) };
}

interface Vocabulary {
  readonly tokens: readonly string[];
  readonly kinds: readonly Piece['kind'][];
}

/** Byte-level BPE, with the merges as the file lists them. */
function byteLevelJson(metadata: Metadata, { tokens, kinds }: Vocabulary): Record<string, unknown> {
  const { file } = metadata;
  const name = metadata.text(key('pre')) ?? 'default';
  const pre = preTokenizer(name);
  if (pre === undefined) throw unsupportedTokenizer(file, key('pre'), name, PRE_TOKENIZERS);
  const merges = metadata.texts(key('merges'));
  if (merges === undefined) throw metadata.missing(key('merges'));
  const bosId = beginningId(metadata, tokens, pre.addBos);
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: tokens.flatMap((token, id) =>
      kinds[id] === 'control' || kinds[id] === 'user' ? [addedToken(id, token, kinds[id] === 'control')] : [],
    ),
    normalizer: pre.normalizer,
    pre_tokenizer: pre.preTokenizer,
    post_processor: bosId === undefined ? null : beginWith(bosId, tokens[bosId]!),
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: pre.ignoreMerges,
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      merges: mergePairs(file, merges, new Set(tokens)),
    },
  };
}

function mergePairs(file: string, merges: readonly string[], tokens: ReadonlySet<string>): string[][] {
  return merges.map((merge, rank) => {
    const pair = merge.split(' ');
    if (pair.length !== 2 || pair.some((part) => part === ''))
      throw badMetadata(file, key('merges'), `holds "${merge}" at ${rank}, not two tokens`);
    if (!pair.every((part) => tokens.has(part)) || !tokens.has(pair.join(''))) {
      throw badMetadata(file, key('merges'), `holds "${merge}" at ${rank}, which are not tokens that make a token`);
    }
    return pair;
  });
}

/** SentencePiece's BPE. */
function scoredJson(metadata: Metadata, model: string, { tokens, kinds }: Vocabulary): Record<string, unknown> {
  const { file } = metadata;
  if (model !== 'llama') throw unsupportedTokenizer(file, key('model'), model, ['gpt2 (byte-level BPE)', 'llama (SentencePiece BPE)']);
  const scores = perToken(metadata, 'scores', tokens.length);
  if (scores === undefined) throw metadata.missing(key('scores'));
  const pieces = tokens.map((text, id): Piece => ({ text, score: scores[id]!, kind: kinds[id]! }));
  const bosId = beginningId(metadata, tokens, true);
  return sentencePieceJson(pieces, {
    unkId: metadata.tokenId(key('unknown_token_id'), tokens.length) ?? 0,
    ...(bosId === undefined ? {} : { bosId }),
    addSpacePrefix: metadata.flag(key('add_space_prefix')) ?? true,
  });
}

/** The token that begins every text, if any. */
function beginningId(metadata: Metadata, tokens: readonly string[], otherwise: boolean): number | undefined {
  const wanted = metadata.flag(key('add_bos_token')) ?? otherwise;
  return wanted ? metadata.tokenId(key('bos_token_id'), tokens.length) : undefined;
}

function configOf(metadata: Metadata, tokens: readonly string[]): Record<string, unknown> {
  const special = (name: string): Record<string, string> => {
    const id = metadata.tokenId(key(`${name === 'unk' ? 'unknown' : name}_token_id`), tokens.length);
    return id === undefined ? {} : { [`${name}_token`]: tokens[id]! };
  };
  const template = metadata.text('tokenizer.chat_template');
  return {
    tokenizer_class: 'PreTrainedTokenizerFast',
    ...special('bos'),
    ...special('eos'),
    ...special('unk'),
    clean_up_tokenization_spaces: false,
    ...(template === undefined ? {} : { chat_template: template }),
  };
}

function perToken(metadata: Metadata, name: string, count: number): readonly number[] | undefined {
  const values = metadata.numbers(key(name));
  if (values !== undefined && values.length !== count) {
    throw badMetadata(metadata.file, key(name), `has ${values.length} elements, but there are ${count} tokens`);
  }
  return values;
}

function refuseRepeated(file: string, tokens: readonly string[]): void {
  const ids = new Map<string, number>();
  tokens.forEach((token, id) => {
    const before = ids.get(token);
    if (before !== undefined) throw badMetadata(file, key('tokens'), `holds "${token}" twice, at ${before} and ${id}`);
    ids.set(token, id);
  });
}

function unsupportedTokenizer(file: string, where: string, name: string, supported: readonly string[]): NacreError {
  return new NacreError(
    'unsupported-tokenizer',
    `${file}: metadata ${where} is "${name}", which is not supported.`,
    `Supported: ${supported.join(', ')}.`,
  );
}
