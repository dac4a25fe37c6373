import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findFolded, foldKey, foldText } from '../../../src/core/fold.ts';

describe('foldText', () => {
  it.each([
    ['curly quotes', '“It’s” ‘here’', "\"It's\" 'here'"],
    ['dashes', 'a–b—c−d', 'a-b-c-d'],
    ['compatibility characters', 'ﬁve ①  ＡＢ', 'five 1  AB'],
    ['combining marks', 'cafe\u0301', 'caf\u00e9'],
    ['half-width kana with its mark', 'ｶ\uff9e', 'ガ'],
    ['line ends', 'a\r\nb\rc', 'a\nb\nc'],
    ['an ellipsis', 'a…b', 'a...b'],
  ])('folds %s', (_, text, folded) => {
    expect(foldText(text, 'typography').text).toBe(folded);
  });

  it('collapses white space of every kind at the spacing level', () => {
    expect(foldText('a \t\r\n\u00a0 b', 'spacing').text).toBe('a b');
    expect(foldKey('  a\n\nb ')).toBe('a b');
  });

  it('equals NFKC of the whole text where no quotes, dashes or line ends are involved', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => {
        fc.pre(
          !/[\r\u2010-\u2015\u2212\ufe58\ufe63\uff0d\u2018-\u201f\u2032\u2033\u02bc\uff07\uff02]/u.test(text.normalize('NFKC') + text),
        );
        expect(foldText(text, 'typography').text).toBe(text.normalize('NFKC'));
      }),
    );
  });

  it('maps every folded unit to a range of the original, in order', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 80 }),
        fc.constantFrom('typography' as const, 'spacing' as const),
        (text, level) => {
          const folded = foldText(text, level);
          expect(folded.starts).toHaveLength(folded.text.length);
          for (let i = 0; i < folded.text.length; i++) {
            expect(folded.starts[i]).toBeLessThan(folded.ends[i] as number);
            if (i > 0) expect(folded.starts[i]).toBeGreaterThanOrEqual(folded.starts[i - 1] as number);
          }
          if (text.length > 0) expect(folded.ends.at(-1)).toBe(text.length);
        },
      ),
    );
  });
});

describe('findFolded', () => {
  it('gives ranges of the original', () => {
    const text = 'He said “stop —  now”.';
    const [range] = findFolded(foldText(text, 'spacing'), '"stop - now"');
    expect(range && text.slice(range.start, range.end)).toBe('“stop —  now”');
  });

  it('finds overlapping occurrences', () => {
    expect(findFolded(foldText('aaa', 'typography'), 'aa')).toHaveLength(2);
  });

  it('refuses half of a ligature', () => {
    expect(findFolded(foldText('ﬁne', 'typography'), 'ine')).toEqual([]);
    expect(findFolded(foldText('ﬁne', 'typography'), 'fine')).toEqual([{ start: 0, end: 3 }]);
  });
});
