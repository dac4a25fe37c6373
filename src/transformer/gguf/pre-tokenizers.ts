/**
 * How byte-level vocabularies cut a text before merging, by the names that GGUF files give (`tokenizer.ggml.pre`). The
 * patterns are those the models were trained with; in JavaScript's syntax, where `(?i:…)` is written out.
 */
interface PreTokenizer {
  readonly normalizer: object | null;
  readonly preTokenizer: object;
  /** Words that are in the vocabulary are not cut, whatever the merges. */
  readonly ignoreMerges: boolean;
  /** Whether texts begin with BOS where the file does not say. */
  readonly addBos: boolean;
}

/** Byte-level alphabet; `cut` is GPT-2's own pattern. */
const byteLevel = (cut: boolean): object => ({ type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: cut });
const split = (pattern: string): object => ({ type: 'Split', pattern: { Regex: pattern }, behavior: 'Isolated', invert: false });
const sequence = (...pretokenizers: readonly object[]): object => ({ type: 'Sequence', pretokenizers });

const CONTRACTIONS = "'(?:[sS]|[tT]|[rR][eE]|[vV][eE]|[mM]|[lL][lL]|[dD])";
/** The pattern of OpenAI's cl100k and its followers; they differ in how many digits stay together. */
const cl100k = (digits: string): string =>
  `${CONTRACTIONS}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`;

const GPT2: PreTokenizer = { normalizer: null, preTokenizer: byteLevel(true), ignoreMerges: false, addBos: false };

/** Digits one by one, then GPT-2's pattern. */
const SINGLE_DIGITS: PreTokenizer = { ...GPT2, preTokenizer: sequence({ type: 'Digits', individual_digits: true }, byteLevel(true)) };

const LLAMA3: PreTokenizer = {
  normalizer: null,
  preTokenizer: sequence(split(cl100k('\\p{N}{1,3}')), byteLevel(false)),
  ignoreMerges: true,
  addBos: true,
};

const QWEN2: PreTokenizer = {
  normalizer: { type: 'NFC' },
  preTokenizer: sequence(split(cl100k('\\p{N}')), byteLevel(false)),
  ignoreMerges: false,
  addBos: false,
};

/** What llama.cpp does for files that name no other: punctuation apart, then GPT-2's pattern, then digits apart and in threes. */
const DEFAULT: PreTokenizer = {
  ...GPT2,
  preTokenizer: sequence(
    split('[\\p{P}\\$\\+<=>\\^~\\|]+'),
    split("'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)"),
    split('\\p{N}+'),
    split('[0-9][0-9][0-9]'),
    byteLevel(false),
  ),
};

const BY_NAME: Readonly<Record<string, PreTokenizer>> = {
  default: DEFAULT,
  'gpt-2': GPT2,
  smollm: SINGLE_DIGITS,
  'llama-bpe': LLAMA3,
  llama3: LLAMA3,
  'llama-v3': LLAMA3,
  qwen2: QWEN2,
  'deepseek-r1-qwen': QWEN2,
};

export const PRE_TOKENIZERS: readonly string[] = Object.keys(BY_NAME);

export function preTokenizer(name: string): PreTokenizer | undefined {
  return Object.hasOwn(BY_NAME, name) ? BY_NAME[name] : undefined;
}
