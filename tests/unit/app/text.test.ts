import { describe, expect, it } from 'vitest';
import { toCsv, toTsv } from '../../../src/app/files.ts';
import {
  formatAgo,
  formatBytes,
  formatDelta,
  formatP,
  formatRate,
  formatScore,
  formatSeconds,
  formatShort,
  plural,
  scoreOfRate,
} from '../../../src/app/format.ts';
import { shadeOf, showProbability, showToken } from '../../../src/app/probe/token-text.ts';
import { contextParts } from '../../../src/app/run/context-parts.ts';
import { diffCounts, lineDiff } from '../../../src/app/run/diff-lines.ts';
import { cutAt } from '../../../src/app/run/highlight.ts';
import { improvementSentence, typeRows } from '../../../src/app/run/result-text.ts';

describe('numbers in words', () => {
  it('writes a claim with n and interval', () => {
    expect(formatScore({ n: 160, rate: 0.831, wilson: [0.766, 0.881] })).toBe('0.83 · 160 tasks · 0.77–0.88');
    expect(formatScore({ n: 1, rate: 1, wilson: [0.2, 1] })).toBe('1.00 · 1 task · 0.20–1.00');
    expect(formatScore({ n: 0, rate: Number.NaN, wilson: [0, 1] })).toBe('–');
  });

  it('has a sign for what is absent', () => {
    expect(formatRate(undefined)).toBe('–');
    expect(formatRate(Number.NaN)).toBe('–');
    expect(formatSeconds(Number.POSITIVE_INFINITY)).toBe('–');
  });

  it('signs differences and hides none behind a minus zero', () => {
    expect(formatDelta(0.171)).toBe('+0.17');
    expect(formatDelta(-0.04)).toBe('−0.04');
    expect(formatDelta(-0.001)).toBe('±0.00');
  });

  it('rounds p without false precision', () => {
    expect([0.00004, 0.0312, 0.5811].map(formatP)).toEqual(['p < 0.001', 'p = 0.031', 'p = 0.58']);
  });

  it('shortens counts, bytes and times at their borders', () => {
    expect([999, 1000, 12_340, 999_499, 999_500, 4_100_000].map(formatShort)).toEqual(['999', '1 k', '12.3 k', '999 k', '1 M', '4.1 M']);
    expect([0, 1023, 1024, 3_400_000].map(formatBytes)).toEqual(['0 B', '1023 B', '1 KiB', '3.2 MiB']);
    expect([8, 59.6, 65, 7800].map(formatSeconds)).toEqual(['8 s', '1 min 00 s', '1 min 05 s', '2 h 10 min']);
    expect(formatAgo(0, 59_000)).toBe('just now');
    expect(formatAgo(0, 3_600_000)).toBe('1 h ago');
    expect(formatAgo(0, 90_000_000)).toBe('1970-01-01');
    expect([plural(1, 'task'), plural(1200, 'task')]).toEqual(['1 task', '1,200 tasks']);
  });

  it('finds the interval of a rate from its n', () => {
    const { wilson } = scoreOfRate(0.5, 10);
    expect(wilson[0]).toBeCloseTo(0.2366, 3);
    expect(wilson[1]).toBeCloseTo(0.7634, 3);
  });
});

describe('tables as text', () => {
  const rows = [
    ['a', 1, null],
    ['say "hi", x', -2, '=1+1'],
  ];

  it('quotes CSV and defuses formulas, not numbers', () => {
    expect(toCsv(rows)).toBe('a,1,\r\n"say ""hi"", x",-2,\'=1+1\r\n');
  });

  it('keeps TSV cells in one cell', () => {
    expect(toTsv([['a\tb\nc', 2]])).toBe('a b c\t2');
  });
});

describe('differences', () => {
  it('marks the words that changed in a changed line', () => {
    const lines = lineDiff('one\nalways check twice\n', 'one\nalways check once\n');
    expect(lines.map(({ kind }) => kind)).toEqual(['same', 'removed', 'added']);
    expect(lines[1]?.words.find(({ changed }) => changed)?.text).toBe('twice');
    expect(lines[2]?.words.find(({ changed }) => changed)?.text).toBe('once');
    expect(diffCounts(lines)).toEqual({ added: 1, removed: 1 });
  });

  it('folds long unchanged stretches into a count', () => {
    const before = `${Array.from({ length: 20 }, (_, i) => `line ${i}`).join('\n')}\n`;
    const lines = lineDiff(before, `${before}new\n`);
    expect(lines.map(({ kind }) => kind)).toEqual(['gap', 'same', 'same', 'added']);
    expect(lines[0]?.words[0]?.text).toBe('18');
  });

  it('has nothing to say about equal texts', () => {
    expect(diffCounts(lineDiff('a\nb', 'a\nb'))).toEqual({ added: 0, removed: 0 });
    expect(lineDiff('', '')).toEqual([]);
  });
});

describe('texts with places in them', () => {
  it('cuts at ranges, in order, and ignores what lies outside or overlaps', () => {
    const pieces = cutAt('abcdef', [
      { start: 3, end: 5, id: 'b' },
      { start: 1, end: 2, id: 'a' },
      { start: 4, end: 99, id: 'c' },
      { start: 50, end: 60, id: 'd' },
      { start: -3, end: 0, id: 'e' },
    ]);
    expect(pieces).toEqual([{ text: 'a' }, { text: 'b', id: 'a' }, { text: 'c' }, { text: 'de', id: 'b' }, { text: 'f', id: 'c' }]);
    expect(cutAt('', [{ start: 0, end: 4, id: 'a' }])).toEqual([]);
  });

  it('finds protected regions with their names', () => {
    const parts = contextParts('# A\n<!-- protected:start rules -->\nkeep\n<!-- protected:end rules -->\n- b\n');
    expect(parts.map(({ protectedName }) => protectedName)).toEqual([undefined, 'rules', undefined]);
    expect(parts[1]?.text.trim()).toBe('keep');
    expect(contextParts('')).toEqual([]);
    expect(contextParts('<!-- protected:start open -->\nnever closed')).toEqual([{ text: '<!-- protected:start open -->\nnever closed' }]);
  });

  it('shows tokens that are only space', () => {
    expect([' go', '\n', ''].map(showToken)).toEqual(['␣go', '↵', '∅']);
    expect([undefined, 0.01, 0.05, 0.2, 0.5, 0.8].map(shadeOf)).toEqual([0, 0, 1, 2, 3, 4]);
    expect([undefined, 0.83, 0.004, 0.0001].map(showProbability)).toEqual(['–', '0.83', '.004', '<.001']);
  });
});

describe('the result in a sentence', () => {
  const score = (rate: number, low: number, high: number, n = 160) => ({ n, rate, wilson: [low, high] as const });

  it('says how many times better where the intervals are apart', () => {
    expect(improvementSentence(score(0.25, 0.19, 0.32), score(0.93, 0.88, 0.96), 'test')).toBe(
      'Success rose from 0.25 to 0.93 on 160 tasks that played no part in learning (× 3.7).',
    );
  });

  it('warns where they overlap, and does not divide by zero', () => {
    expect(improvementSentence(score(0, 0, 0.1), score(0.05, 0.01, 0.2), 'test')).toBe(
      'Success rose from 0.00 to 0.05 on 160 tasks that played no part in learning; the intervals overlap, so this can be chance.',
    );
  });

  it('says a fall and a standstill as they are', () => {
    expect(improvementSentence(score(0.9, 0.8, 0.95), score(0.3, 0.2, 0.4), 'val')).toBe(
      'Success fell from 0.90 to 0.30 on 160 validation tasks.',
    );
    expect(improvementSentence(score(0.3, 0.2, 0.4), score(0.3, 0.2, 0.4), 'val')).toBe('Success stayed at 0.30 on 160 validation tasks.');
  });

  it('orders types of task by their gain', () => {
    const full = (byType: Record<string, { n: number; success: number }>) => ({
      split: 'test' as const,
      n: 4,
      success: 2,
      rate: 0.5,
      wilson: [0, 1] as const,
      outcomes: {},
      byType,
      errors: 0,
    });
    const rows = typeRows(
      full({ heat: { n: 2, success: 1 }, cool: { n: 2, success: 0 } }),
      full({ heat: { n: 2, success: 1 }, cool: { n: 2, success: 2 } }),
    );
    expect(rows.map(({ type }) => type)).toEqual(['cool', 'heat']);
    expect(typeRows(undefined, undefined)).toEqual([]);
  });
});
