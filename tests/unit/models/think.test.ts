import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { divideThinking } from '../../../src/models/think.ts';

describe('divideThinking', () => {
  it.each([
    ['plain', 'plain', ''],
    ['<think>a</think>b', 'b', 'a'],
    ['x<THINK>a</Think>b<think>c</think>d', 'xbd', 'ac'],
    ['a</think>b', 'b', 'a'],
    ['b<think>a', '', 'a'],
    ['<think>a</think>b<think>c', '', 'ac'],
    ['<think>a<think>b</think>c', 'c', 'a<think>b'],
    // Lower-casing this letter makes it longer: offsets must not be taken from a lower-cased copy.
    ['İİİ<think>a</think>b', 'İİİb', 'a'],
  ])('%j', (text, visible, thinking) => {
    expect(divideThinking(text)).toEqual({ visible, thinking });
  });

  it('never shows a word of a block', () => {
    const part = fc.constantFrom('<think>', '</think>', 'yes', 'İ', '<', '\n');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const text = parts.join('');
        const { visible, thinking } = divideThinking(`<think>secret${text}`);
        expect(visible).not.toContain('secret');
        expect(thinking).toContain('secret');
      }),
    );
  });
});
