import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { NacreError } from '../../../src/core/errors.ts';
import { Tokenizer } from '../../../src/transformer/tokenizer.ts';
import { sharedPath } from '../../shared.ts';

/** A toy BPE over the letters of "low lower", with one special token. */
function toyTokenizerJson(): Record<string, unknown> {
  const vocab: Record<string, number> = { '<s>': 0, l: 1, o: 2, w: 3, e: 4, r: 5, lo: 6, low: 7, er: 8, '▁': 9, '▁low': 10 };
  return {
    added_tokens: [{ id: 0, content: '<s>', special: true, normalized: false, lstrip: false, rstrip: false, single_word: false }],
    normalizer: { type: 'Replace', pattern: { String: ' ' }, content: '▁' },
    pre_tokenizer: null,
    post_processor: {
      type: 'TemplateProcessing',
      single: [{ SpecialToken: { id: '<s>', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
      pair: [],
      special_tokens: { '<s>': { id: '<s>', ids: [0], tokens: ['<s>'] } },
    },
    decoder: { type: 'Sequence', decoders: [{ type: 'Replace', pattern: { String: '▁' }, content: ' ' }, { type: 'Fuse' }] },
    model: { type: 'BPE', vocab, merges: ['l o', 'lo w', 'e r', '▁ low'], unk_token: null, byte_fallback: false },
  };
}

const smol = sharedPath('data/models/smollm2-135m-instruct/tokenizer.json');

describe('Tokenizer', () => {
  const tokenizer = Tokenizer.fromJson(JSON.stringify(toyTokenizerJson()), { bos_token: { content: '<s>' }, eos_token: '<s>' });

  it('adds special tokens only when asked', () => {
    expect(tokenizer.encode('low lower')).toEqual([0, 7, 10, 8]);
    expect(tokenizer.encode('low lower', { addSpecial: false })).toEqual([7, 10, 8]);
    expect(tokenizer.encode('', { addSpecial: false })).toEqual([]);
    expect(tokenizer.encode('')).toEqual([0]);
  });

  it('reads special tokens in the text itself', () => {
    expect(tokenizer.encode('<s>low', { addSpecial: false })).toEqual([0, 7]);
  });

  it('decodes to the same text, with and without special tokens', () => {
    expect(tokenizer.decode([0, 7, 10, 8])).toBe('low lower');
    expect(tokenizer.decode([0, 7, 10, 8], { skipSpecial: false })).toBe('<s>low lower');
    expect(tokenizer.decode([])).toBe('');
  });

  it('gives text for padding rows of the embedding nowhere, and refuses ids that are none', () => {
    expect(tokenizer.decode([7, 4000])).toBe('low');
    expect(tokenizer.tokenText(4000)).toBe('[4000]');
    expect(() => tokenizer.decode([-1])).toThrow(NacreError);
    expect(() => tokenizer.decode([1.5])).toThrow(/1\.5 is not a token id/);
  });

  it('knows words that are also names of object members', () => {
    const vocab = '{"constructor": 0, "prototype": 1, "__proto__": 2, "toString": 3}';
    const odd = Tokenizer.fromJson(
      `{"pre_tokenizer": {"type": "WhitespaceSplit"}, "model": {"type": "BPE", "vocab": ${vocab}, "merges": [], "ignore_merges": true}}`,
    );
    expect(odd.encode('toString constructor __proto__ prototype')).toEqual([3, 0, 2, 1]);
    expect([0, 1, 2, 3].map((id) => odd.tokenText(id))).toEqual(['constructor', 'prototype', '__proto__', 'toString']);
  });

  it('knows names, ids and its size', () => {
    expect(tokenizer.tokenText(10)).toBe('▁low');
    expect(tokenizer.idOf('▁low')).toBe(10);
    expect(tokenizer.idOf('nowhere')).toBeUndefined();
    expect(tokenizer.vocabSize).toBe(11);
    expect([tokenizer.bosId, tokenizer.eosId]).toEqual([0, 0]);
  });

  it.each([
    ['not JSON', '{"model": ', 'bad-json', 'tokenizer.json'],
    ['no model', '{"added_tokens": []}', 'bad-field', 'model'],
    ['a model without vocabulary', '{"model": {"type": "BPE"}}', 'bad-field', 'model.vocab'],
    ['a negative id', '{"added_tokens": [{"id": -1, "content": "x"}], "model": {"vocab": {}}}', 'bad-field', 'added_tokens.0.id'],
    ['an unknown kind', '{"model": {"type": "Nonsense", "vocab": {"a": "b"}}}', 'bad-field', 'model.vocab'],
    [
      'an unknown decoder',
      '{"decoder": {"type": "Nope"}, "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}}',
      'bad-tokenizer',
      'Nope',
    ],
  ])('names the fault: %s', (_, json, code, part) => {
    expect.assertions(2);
    try {
      Tokenizer.fromJson(json);
    } catch (error) {
      expect((error as NacreError).code).toBe(code);
      expect((error as NacreError).message).toContain(part);
    }
  });

  it.skipIf(smol === undefined)('gives the reference ids of a published tokenizer', () => {
    const real = Tokenizer.fromJson(readFileSync(smol as string, 'utf8'));
    const reference = JSON.parse(readFileSync(sharedPath('data/models/smollm2-135m-instruct/reference.json') as string, 'utf8')) as {
      cases: { prompt: string; ids: number[] }[];
    };
    for (const { prompt, ids } of reference.cases) {
      expect(real.encode(prompt, { addSpecial: false })).toEqual(ids);
      expect(real.decode(ids, { skipSpecial: false })).toBe(prompt);
    }
  });
});
