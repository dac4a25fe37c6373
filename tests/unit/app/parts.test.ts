import { describe, expect, it } from 'vitest';
import { linear, niceDomain, ticks } from '../../../src/app/chart/scale.ts';
import { searchCommands } from '../../../src/app/commands.ts';
import { settingsOf } from '../../../src/app/config-diff.ts';
import { matchesKeys, showKeys } from '../../../src/app/keys.ts';
import { checkDraft, readNumber, readPath, writePath } from '../../../src/app/new/draft.ts';
import { FIELD_GROUPS } from '../../../src/app/new/fields.ts';
import { moveInGrid } from '../../../src/app/run/grid-keys.ts';
import { beforeAfter } from '../../../src/app/run-status.tsx';
import { parseConfig } from '../../../src/lab/config.ts';
import type { RunSummary } from '../../../src/lab/service.ts';

const defaults = parseConfig({ schema: 'nacre.experiment/1', kind: 'textual', name: 'Defaults', suite: { id: 'household' } });

describe('scales', () => {
  it('puts ticks on round numbers inside the domain', () => {
    expect(ticks(0, 1, 5)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect(ticks(0, 0.3, 3)).toEqual([0, 0.1, 0.2, 0.3]);
    expect(ticks(-3, 7, 4)).toEqual([0, 5]);
    expect(ticks(2, 2, 4)).toEqual([2]);
  });

  it('widens a domain to ticks, and copes with none and one', () => {
    expect(niceDomain([0.3, 9.2], 4)).toEqual([0, 10]);
    expect(niceDomain([], 4)).toEqual([0, 1]);
    expect(niceDomain([5], 4)).toEqual([0, 5]);
    expect(niceDomain([0], 4)).toEqual([0, 1]);
  });

  it('maps linearly, and an empty domain to the middle', () => {
    expect(linear([0, 10], [100, 200]).at(2.5)).toBe(125);
    expect(linear([3, 3], [0, 10]).at(3)).toBe(5);
  });
});

describe('keys', () => {
  const press = (key: string, more = {}) => ({ key, ctrlKey: false, metaKey: false, altKey: false, ...more });

  it('tells shortcuts apart by their modifiers', () => {
    expect(matchesKeys('Mod+K', press('k', { ctrlKey: true }))).toBe(true);
    expect(matchesKeys('Mod+K', press('K', { metaKey: true }))).toBe(true);
    expect(matchesKeys('Mod+K', press('k'))).toBe(false);
    expect(matchesKeys('p', press('p', { ctrlKey: true }))).toBe(false);
    expect(matchesKeys('Space', press(' '))).toBe(true);
    expect(matchesKeys('?', press('?'))).toBe(true);
    expect(matchesKeys('p', press('p', { altKey: true }))).toBe(false);
  });

  it('shows them as the keyboard does', () => {
    expect(showKeys('Mod+K', false)).toBe('Ctrl + K');
    expect(showKeys('Mod+K', true)).toBe('⌘ K');
  });

  it('finds commands by every word, titles that begin with it first', () => {
    const list = ['Export: Bundle', 'Import a bundle', 'Bundle up'].map((title, i) => ({
      id: String(i),
      title,
      group: 'File' as const,
      run: () => undefined,
    }));
    expect(searchCommands(list, 'bundle').map(({ title }) => title)[0]).toBe('Bundle up');
    expect(searchCommands(list, 'file bundle import').map(({ title }) => title)).toEqual(['Import a bundle']);
    expect(searchCommands(list, 'nothing')).toEqual([]);
  });
});

describe('moving in a grid', () => {
  const lengths = [4, 4, 2];

  it('stays inside, row by row', () => {
    expect(moveInGrid(lengths, { row: 0, column: 0 }, 'ArrowLeft', false)).toEqual({ row: 0, column: 0 });
    expect(moveInGrid(lengths, { row: 0, column: 3 }, 'ArrowRight', false)).toEqual({ row: 0, column: 3 });
    expect(moveInGrid(lengths, { row: 1, column: 3 }, 'ArrowDown', false)).toEqual({ row: 2, column: 1 });
    expect(moveInGrid(lengths, { row: 2, column: 1 }, 'PageUp', false)).toEqual({ row: 0, column: 1 });
    expect(moveInGrid(lengths, { row: 0, column: 1 }, 'End', true)).toEqual({ row: 2, column: 1 });
    expect(moveInGrid(lengths, { row: 1, column: 1 }, 'End', false)).toEqual({ row: 1, column: 3 });
    expect(moveInGrid(lengths, { row: 1, column: 1 }, 'Home', true)).toEqual({ row: 0, column: 0 });
  });

  it('leaves other keys and empty grids alone', () => {
    expect(moveInGrid(lengths, { row: 0, column: 0 }, 'a', false)).toBeUndefined();
    expect(moveInGrid([], { row: 0, column: 0 }, 'ArrowDown', false)).toBeUndefined();
  });
});

describe('a configuration in the form', () => {
  it('shows only fields that the schema has', () => {
    for (const { path } of FIELD_GROUPS.flatMap(({ fields }) => fields)) expect(readPath(defaults, path), path.join('.')).toBeDefined();
  });

  it('says what is wrong at the field, in words', () => {
    const draft = writePath(writePath(defaults, ['seed'], readNumber('seven')), ['suite', 'val'], readNumber('0'));
    const { config, errors } = checkDraft(draft);
    expect(config).toBeUndefined();
    expect(errors.get('seed')).toBe('This must be a number.');
    expect(errors.get('suite.val')).toBe('The least is 1.');
    expect(errors.size).toBe(2);
  });

  it('keeps what was typed until it is a number', () => {
    expect(readNumber(' 12 ')).toBe(12);
    expect(readNumber('')).toBe('');
    expect(readNumber('1e')).toBe('1e');
    expect(readNumber('1e999')).toBe('1e999');
  });

  it('writes a path without touching the original or its siblings', () => {
    const draft = { a: { b: 1, c: 2 } };
    expect(writePath(draft, ['a', 'b'], 5)).toEqual({ a: { b: 5, c: 2 } });
    expect(writePath(draft, ['x', 'y'], 5)).toEqual({ a: { b: 1, c: 2 }, x: { y: 5 } });
    expect(draft).toEqual({ a: { b: 1, c: 2 } });
    expect(readPath({}, ['__proto__', 'toString'])).toBeUndefined();
  });

  it('lists settings with those that differ marked', () => {
    const settings = settingsOf({ ...defaults, seed: 9, initialContext: 'abc' }, defaults);
    expect(settings.filter(({ differs }) => differs).map(({ path, value }) => [path, value])).toEqual([
      ['seed', '9'],
      ['initialContext', '3 characters'],
    ]);
    expect(settings.find(({ path }) => path === 'textual.stopAtPerfect')?.value).toBe('off');
  });
});

describe('before and after in the list of runs', () => {
  const summary = (extra: Partial<RunSummary>) => ({ config: defaults, ...extra }) as RunSummary;

  it('prefers the test, falls back to validation, and claims nothing without either', () => {
    expect(beforeAfter(summary({ initialRate: 0.2, bestRate: 0.8, testInitial: 0.3, testBest: 0.7 }))).toEqual({
      split: 'test',
      n: 160,
      before: 0.3,
      after: 0.7,
    });
    expect(beforeAfter(summary({ initialRate: 0.2, bestRate: 0.8 }))).toEqual({ split: 'val', n: 32, before: 0.2, after: 0.8 });
    expect(beforeAfter(summary({ initialRate: 0.2 }))).toBeUndefined();
  });
});
