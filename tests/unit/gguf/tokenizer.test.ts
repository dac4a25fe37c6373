import { describe, expect, it } from 'vitest';
import { Metadata } from '../../../src/transformer/gguf/metadata.ts';
import { preTokenizer } from '../../../src/transformer/gguf/pre-tokenizers.ts';
import { tokenizerOf } from '../../../src/transformer/gguf/tokenizer.ts';
import { Tokenizer } from '../../../src/transformer/tokenizer.ts';
import { pieceList, referenceEncode } from '../weights/llama2c-files.ts';

type Entries = Record<string, number | boolean | string | string[] | number[]>;

function tokenizer(entries: Entries): Tokenizer {
  const keyed = Object.entries(entries).map(([key, value]) => [key.includes('.') ? key : `tokenizer.ggml.${key}`, value] as const);
  const { tokenizerJson, tokenizerConfig } = tokenizerOf(new Metadata('m.gguf', new Map(keyed)));
  return Tokenizer.fromJson(tokenizerJson, tokenizerConfig);
}

/** GPT-2's stand-ins for bytes: printable ones stand for themselves, the rest follow from U+0100. */
function byteLetters(): string[] {
  const printable = (byte: number): boolean => (byte > 32 && byte < 127) || (byte > 160 && byte < 173) || byte > 173;
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(printable(byte) ? byte : next++));
}

/** Every pair of neighbours of these words can be merged, letter by letter from the left, so that a whole cut-out part becomes one token. */
function vocabulary(words: readonly string[]): { tokens: string[]; merges: string[] } {
  const letters = byteLetters();
  const bytes = new TextEncoder();
  const tokens = ['<|end|>', '<|begin|>', '<tool>', ...letters];
  const merges: string[] = [];
  for (const word of words) {
    const parts = Array.from(bytes.encode(word), (byte) => letters[byte]!);
    for (let length = 2; length <= parts.length; length++) {
      const token = parts.slice(0, length).join('');
      if (tokens.includes(token)) continue;
      tokens.push(token);
      merges.push(`${parts.slice(0, length - 1).join('')} ${parts[length - 1]}`);
    }
  }
  return { tokens, merges };
}

function byteLevel(pre: string | undefined, words: readonly string[], more: Entries = {}): Tokenizer {
  const { tokens, merges } = vocabulary(words);
  const kinds = tokens.map((_, id) => (id < 2 ? 3 : id === 2 ? 4 : 1));
  return tokenizer({
    model: 'gpt2',
    ...(pre === undefined ? {} : { pre }),
    tokens,
    merges,
    token_type: kinds,
    bos_token_id: 1,
    eos_token_id: 0,
    ...more,
  });
}

/** The parts a text is cut into, seen through a vocabulary in which each part and any longer one is a token. */
function parts(pre: string | undefined, text: string, words: readonly string[]): string[] {
  const model = byteLevel(pre, words);
  const ids = model.encode(text, { addSpecial: false });
  expect(model.decode(ids)).toBe(text);
  return ids.map((id) => model.decode([id]));
}

describe('byte-level vocabularies', () => {
  const text = "it's 12345 km (DON'T)\n\n go";
  const words = ["it's", "'s", ' 12345', '12345', ' km', ' (', '(', 'DON', "'T", ')', '))', ')\n\n', '\n\n', '\n', ' go', ' '];

  it.each<[string | undefined, string[]]>([
    ['gpt-2', ['it', "'s", ' 12345', ' km', ' (', 'D', 'O', 'N', "'", 'T', ')', '\n', '\n', ' go']],
    ['smollm', ['it', "'s", ' ', '1', '2', '3', '4', '5', ' km', ' (', 'DON', "'", 'T', ')', '\n\n', ' go']],
    ['llama-bpe', ['it', "'s", ' ', '123', '45', ' km', ' (', 'DON', "'T", ')\n\n', ' go']],
    ['qwen2', ['it', "'s", ' ', '1', '2', '3', '4', '5', ' km', ' (', 'DON', "'T", ')\n\n', ' go']],
    ['default', ['it', "'", 's', ' ', '123', '45', ' km', ' ', '(', 'DON', "'", 'T', ')', '\n\n', ' go']],
    [undefined, ['it', "'", 's', ' ', '123', '45', ' km', ' ', '(', 'DON', "'", 'T', ')', '\n\n', ' go']],
  ])('cut as %s', (pre, wanted) => {
    const complete = pre === 'gpt-2' ? ["'s", ' 12345', ' km', ' (', ' go', 'it'] : [...words, 'it', '123', '45'];
    expect(parts(pre, text, complete)).toEqual(wanted);
  });

  it('follow the merges within a part', () => {
    const model = byteLevel('smollm', ['abc']);
    expect(model.encode('abcab', { addSpecial: false }).map((id) => model.tokenText(id))).toEqual(['abc', 'ab']);
  });

  it('leave words whole that are tokens, where the kind says so', () => {
    const { tokens, merges } = vocabulary(['ab']);
    const entries = (pre: string): Entries => ({ model: 'gpt2', pre, tokens: [...tokens, 'xyz'], merges, bos_token_id: 1 });
    expect(tokenizer(entries('llama-bpe')).encode('xyz', { addSpecial: false })).toEqual([tokens.length]);
    expect(tokenizer(entries('qwen2')).encode('xyz', { addSpecial: false })).toHaveLength(3);
  });

  it('keep any bytes', () => {
    const model = byteLevel('qwen2', []);
    const odd = 'naïve 漢字 🦜\u0000\t|';
    expect(model.decode(model.encode(odd))).toBe(odd);
  });

  it('find control tokens in a text, and tokens of users wherever they stand', () => {
    const model = byteLevel('smollm', []);
    expect(model.encode('a<|end|><tool>', { addSpecial: false })).toEqual([3 + 97, 0, 2]);
    expect(model.specialIds).toEqual(new Set([0, 1]));
    expect(model.decode([0, 2])).toBe('<tool>');
    expect([model.bosId, model.eosId]).toEqual([1, 0]);
  });

  it.each<[string, Entries, number[]]>([
    ['smollm', {}, [100]],
    ['smollm', { add_bos_token: true }, [1, 100]],
    ['llama-bpe', {}, [1, 100]],
    ['llama-bpe', { add_bos_token: false }, [100]],
    ['qwen2', { add_bos_token: true, bos_token_id: -1 }, [100]],
  ])('begin texts with BOS as the file says (%s, %j)', (pre, more, wanted) => {
    expect(byteLevel(pre, [], more).encode('a')).toEqual(wanted);
  });

  it('have other names for the same cutting', () => {
    expect(preTokenizer('llama3')).toBe(preTokenizer('llama-bpe'));
    expect(preTokenizer('constructor')).toBeUndefined();
  });
});

describe("SentencePiece's vocabularies", () => {
  const pieces = pieceList(['▁', 'a', 'b', 'ab', '▁a', '▁ab', 'ba', 'c', 'abc']);
  const scored = (more: Entries = {}): Tokenizer =>
    tokenizer({
      model: 'llama',
      tokens: pieces.map(([piece], id) => (id < 3 ? piece.trim() : piece)),
      scores: pieces.map(([, score]) => score),
      token_type: pieces.map((_, id) => (id === 0 ? 2 : id < 3 ? 3 : id < 259 ? 6 : 1)),
      bos_token_id: 1,
      eos_token_id: 2,
      unknown_token_id: 0,
      ...more,
    });
  const spaced = pieces.map(([piece, score]) => [piece.replaceAll('▁', ' '), score] as const);

  it.each(['a', 'ab', 'abba ab', 'cab abc', 'z é', 'aab  b'])('join the best-scored pair first: %s', (text) => {
    expect(scored().encode(text)).toEqual([1, ...referenceEncode(spaced, text)]);
    expect(scored().decode(scored().encode(text))).toBe(text);
  });

  it('may begin without BOS or without a space', () => {
    expect(scored({ add_bos_token: false }).encode('ab')[0]).not.toBe(1);
    const bare = scored({ add_space_prefix: false, add_bos_token: false });
    expect(bare.encode('ab').map((id) => bare.tokenText(id))).toEqual(['ab']);
    expect(bare.decode(bare.encode(' ab'))).toBe(' ab');
  });

  it('never build control tokens from letters', () => {
    const tokens = ['<unk>', '<s>', '</s>', '<', 's', '>', '<s'];
    const model = tokenizer({
      model: 'llama',
      tokens,
      scores: tokens.map(() => 0),
      token_type: [2, 3, 3, 1, 1, 1, 3],
      bos_token_id: 1,
      add_bos_token: false,
      add_space_prefix: false,
    });
    expect(model.encode('s<')).toEqual([4, 3]);
  });
});
