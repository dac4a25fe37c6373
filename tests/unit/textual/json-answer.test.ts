import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { readJsonAnswer, stripThinking } from '../../../src/textual/json-answer.ts';

const schema = v.object({ edits: v.array(v.string()) });
const read = (text: string) => {
  const answer = readJsonAnswer(text, schema);
  return answer.ok ? answer.value.edits : answer.problem;
};

describe('readJsonAnswer', () => {
  it.each([
    ['plain JSON', '{"edits": ["a"]}', ['a']],
    ['a fenced block in prose', 'Sure!\n```json\n{"edits": ["a"]}\n```\nHope it helps.', ['a']],
    ['the last of several values', '{"edits": ["draft"]} better: {"edits": ["final"]}', ['final']],
    ['the last that fits', '{"edits": ["a"]} and {"note": 1}', ['a']],
    ['a value inside a wrapper', '{"answer": {"edits": ["a"]}}', ['a']],
    ['JSON behind reasoning', '<think>{"edits": ["no"]}</think>{"edits": ["a"]}', ['a']],
    ['JSON behind a block the template opened', '{"edits": ["no"]}</think>{"edits": ["a"]}', ['a']],
    ['braces in strings', '{"edits": ["a } b { c"]}', ['a } b { c']],
    ['escaped quotes', '{"edits": ["say \\"hi\\" }"]}', ['say "hi" }']],
    ['a trailing comma', '{"edits": ["a",],}', ['a']],
    ['single quotes', "{'edits': ['a']}", ['a']],
    ['missing quotes at keys', '{edits: ["a"]}', ['a']],
    ['a line break in a string', '{"edits": ["a\nb"]}', ['a\nb']],
    ['a stray brace and quote in prose before', 'Use { or "\nthen {"edits": ["a"]}', ['a']],
    ['unmatched braces before', `${'{'.repeat(50)} {"edits": ["a"]}`, ['a']],
    ['unmatched braces behind', `{"edits": ["a"]} ${'}'.repeat(50)}`, ['a']],
  ])('reads %s', (_, text, edits) => {
    expect(read(text)).toEqual(edits);
  });

  it.each([
    ['nothing', '', /empty/],
    ['reasoning that never ends', '<think>{"edits": ["a"]}', /empty/],
    ['reasoning that never ends behind JSON', '{"edits": []} <think> hm', /empty/],
    ['prose', 'I would open drawers.', /no complete JSON/],
    ['a cut answer', '{"edits": ["a", "b', /no complete JSON/],
    ['another shape', '{"edits": "a"}', /edits: /],
  ])('refuses %s', (_, text, problem) => {
    expect(read(text)).toMatch(problem);
  });

  it('repairs no more than white space, commas and quotes', () => {
    expect(readJsonAnswer('{"edits": ["a" + "b"]}', schema).ok).toBe(false);
    expect(readJsonAnswer('{"edits": ["a"] /* "b" */}', schema).ok).toBe(false);
  });

  it('round-trips any value inside any prose', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), fc.string(), fc.string({ maxLength: 30 }), (edits, before, after) => {
        fc.pre(!/[{}[\]"\\]|think>/i.test(before + after) && !edits.some((edit) => /think>/i.test(edit)));
        expect(read(`${before}${JSON.stringify({ edits })}${after}`)).toEqual(edits);
      }),
    );
  });

  it('never throws on anything', () => {
    const piece = fc.constantFrom('{', '}', '[', ']', '"', '\\', ',', ':', 'edits', '<think>', '</think>', '\n', "'", '1e400', 'null');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        expect(typeof readJsonAnswer(pieces.join(''), schema).ok).toBe('boolean');
      }),
    );
  });

  it.each([
    ['opening braces', (n: number) => '{'.repeat(n)],
    ['closing braces', (n: number) => '}'.repeat(n)],
    ['nested pairs', (n: number) => '{'.repeat(n) + '}'.repeat(n)],
    ['pairs in a row', (n: number) => '{}'.repeat(n)],
    ['nested lists of text', (n: number) => `${'["a",'.repeat(n)}1${']'.repeat(n)}`],
    ['quotes and braces', (n: number) => '{"'.repeat(n)],
    ['think blocks', (n: number) => '<think>{</think>'.repeat(n)],
  ])('does linear work on thousands of %s', (_, make) => {
    const work = (n: number) => {
      const count = { chars: 0 };
      readJsonAnswer(make(n), schema, count);
      return count.chars;
    };
    const text = make(4000);
    expect(work(4000)).toBeLessThanOrEqual(12 * text.length + 8192);
    expect(work(8000)).toBeLessThanOrEqual(2.5 * work(4000) + 8192);
  });
});

describe('stripThinking', () => {
  it.each([
    ['a <think>b</think> c', 'a  c'],
    ['<THINK>b</THINK>c', 'c'],
    ['<think>a</think>b<think>c', ''],
    ['no thoughts', 'no thoughts'],
  ])('%s', (text, visible) => {
    expect(stripThinking(text)).toBe(visible);
  });
});
