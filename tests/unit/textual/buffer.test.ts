import { describe, expect, it } from 'vitest';
import { type JudgedPatch, polarity, sameCombination, sameFamily, screenPatch } from '../../../src/textual/buffer.ts';
import { sequenceRatio, similarity, tokenJaccard } from '../../../src/textual/similarity.ts';
import type { Edit } from '../../../src/textual/types.ts';
import { append, insertAfter, remove, replace } from './builders.ts';

const rejected = (...edits: Edit[]): JudgedPatch => ({ edits, accepted: false });
const accepted = (...edits: Edit[]): JudgedPatch => ({ edits, accepted: true });

describe('similarity', () => {
  // Reference: Python's difflib.SequenceMatcher(None, a, b, autojunk=False).ratio().
  it.each([
    ['abcd', 'bcde', 0.75],
    ['always verify the total', 'never verify the total', 0.7555556],
    ['abxcd', 'abcd', 0.8888889],
    ['', '', 1],
    ['a', '', 0],
  ])('sequence ratio of %s and %s', (a, b, ratio) => {
    expect(sequenceRatio(a, b)).toBeCloseTo(ratio, 6);
  });

  it('counts words once, without punctuation', () => {
    expect(tokenJaccard('- Open the door!', 'open the window')).toBeCloseTo(2 / 4);
    expect(similarity('open the door', 'the door: open')).toBe(1);
  });
});

describe('sameCombination', () => {
  const a = append('Open every closed receptacle you come to.');
  const b = append('Heat the object before placing it.');

  it('matches edits one to one, in any order', () => {
    expect(sameCombination([a, b], [b, a])).toBe(true);
    expect(sameCombination([a, a], [a, b])).toBe(false);
    expect(sameCombination([a], [a, b])).toBe(false);
  });

  it('asks for the same operation and target', () => {
    expect(sameCombination([a], [insertAfter('x', a.content ?? '')])).toBe(false);
    expect(sameCombination([replace('the first line', 'new text')], [replace('quite another place', 'new text')])).toBe(false);
    expect(sameCombination([remove('the first line')], [remove('the first line.')])).toBe(true);
  });

  it('does not take a text for its opposite', () => {
    expect(sameCombination([append('Always verify the total amount first.')], [append('Never verify the total amount first.')])).toBe(
      false,
    );
  });
});

describe('polarity', () => {
  it.each([
    ['always verify', '+'],
    ['never verify', '-'],
    ["don't verify", '-'],
    ['never forget to verify', '+'],
    ['do not skip the check', '+'],
  ])('%s', (text, sign) => {
    expect(polarity(text)).toBe(sign);
  });
});

describe('sameFamily', () => {
  it('ignores operation and target', () => {
    expect(sameFamily(append('Open every closed receptacle.'), replace('x', 'Open every closed receptacle'))).toBe(true);
  });

  it('keeps opposites apart', () => {
    expect(sameFamily(append('Always verify the total.'), append('Never verify the total.'))).toBe(false);
  });
});

describe('screenPatch', () => {
  const open = append('Open every closed receptacle you find.');
  const other = (n: number) =>
    append(['Heat it before placing it down.', 'Take two objects when asked.', 'Walk to new places only.'][n] ?? '');

  it('lets new patches through', () => {
    expect(screenPatch([open], [])).toBeUndefined();
    expect(screenPatch([open], [rejected(other(0))])).toBeUndefined();
  });

  it('blocks a rejected combination, near-equal wording included', () => {
    const again = append('Open every closed receptacle you find!');
    expect(screenPatch([again], [rejected(open)])?.reason).toBe('repeated-combination');
    expect(screenPatch([again, other(0)], [rejected(open)])).toBeUndefined();
  });

  it('does not block a repeated combination that was accepted', () => {
    expect(screenPatch([open], [accepted(open)])).toBeUndefined();
  });

  it('blocks a family after three distinct rejected candidates', () => {
    const strikes = [0, 1, 2].map((n) => rejected(open, other(n)));
    expect(screenPatch([open], strikes.slice(0, 2))).toBeUndefined();
    expect(screenPatch([open], strikes)).toEqual({ reason: 'exhausted-family', edits: [open] });
  });

  it('gives no strike for a duplicate', () => {
    const twice = [rejected(open, other(0)), rejected(other(0), open), rejected(open, other(1))];
    expect(screenPatch([open], twice)).toBeUndefined();
  });

  it('forgives a family that was accepted once', () => {
    const strikes = [0, 1, 2].map((n) => rejected(open, other(n)));
    expect(screenPatch([open], [...strikes, accepted(open)])).toBeUndefined();
  });
});
