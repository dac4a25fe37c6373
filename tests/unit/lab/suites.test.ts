import 'fake-indexeddb/auto';
import { describe, expect, it } from 'vitest';
import type { Journal } from '../../../src/core/journal.ts';
import { parseConfig } from '../../../src/lab/config.ts';
import { previewImport } from '../../../src/lab/suite-preview.ts';
import { SuiteStore } from '../../../src/lab/suite-store.ts';
import { openRunSuite, pinSuite, type SuiteShelf } from '../../../src/lab/suites.ts';
import { openDatabase } from '../../../src/storage/database.ts';
import { checkSuite, type ImportedSuite, suiteHash } from '../../../src/suites/import/suite-file.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function sums(n: number, answer = (i: number) => String(i + i)): ImportedSuite {
  const splits = ['train', 'val', 'test', 'unseen'] as const;
  const tasks = Array.from({ length: n }, (_, i) => ({
    id: `t${i}`,
    split: splits[i % 4]!,
    type: 'sum',
    input: `${i} + ${i}?`,
    answers: [answer(i)],
  }));
  return checkSuite('sums', { schema: 'nacre.suite/1', id: 'sums', title: 'Sums', scorer: { kind: 'exact' }, tasks });
}

const config = (suite: object) =>
  parseConfig({
    schema: 'nacre.experiment/1',
    kind: 'textual',
    name: 'Sums',
    suite: { id: 'imported', name: 'sums', ...suite },
    critic: { kind: 'model', model: 'm' },
  });

const shelf = (suite: ImportedSuite | undefined): SuiteShelf => ({
  find: async () => suite,
  openSandbox: () => Promise.reject(new Error('not needed here')),
});

function memoryJournal(): Journal & { readonly units: Map<string, unknown> } {
  const units = new Map<string, unknown>();
  const once = async <T>(key: string, compute: () => Promise<T>): Promise<T> => {
    if (!units.has(key)) units.set(key, structuredClone(await compute()));
    return structuredClone(units.get(key)) as T;
  };
  return { units, once } as unknown as Journal & { readonly units: Map<string, unknown> };
}

describe('an imported suite in a run', () => {
  it('is pinned: its hash, and sizes no larger than it has', async () => {
    const pinned = await pinSuite(config({ train: 2, test: 0 }), shelf(sums(12)));
    expect(pinned.suite).toMatchObject({ hash: suiteHash(sums(12)), train: 2, val: 3, test: 0, unseen: 3 });
    await expect(pinSuite(config({}), shelf(undefined))).rejects.toMatchObject({ code: 'suite-missing' });
    await expect(pinSuite(pinned, shelf(sums(12, () => '1')))).rejects.toMatchObject({ code: 'suite-differs' });
    await expect(pinSuite(config({}), shelf(sums(1)))).rejects.toMatchObject({ code: 'tasks-missing' });
  });

  it('lives in the journal with the tasks that were taken, and needs nothing else from then on', async () => {
    const journal = memoryJournal();
    const pinned = await pinSuite(config({ train: 2, test: 0, answerTokens: 9 }), shelf(sums(12)));
    const first = await openRunSuite(pinned, journal, shelf(sums(12)));
    expect(first.suite).toMatchObject({ id: 'sums', maxTurns: 1, maxTokensPerTurn: 9 });
    expect((journal.units.get('suite') as ImportedSuite).tasks).toHaveLength(8);
    const later = await openRunSuite(pinned, journal, shelf(undefined));
    expect(later.tasks).toEqual(first.tasks);
    const episode = later.suite.open(later.tasks.train[1]!, 1);
    expect(await episode.act('8')).toMatchObject({ done: true, success: true });
  });
});

describe('SuiteStore', () => {
  it('keeps, lists, exports and deletes suites, and does not replace one unasked', async () => {
    const store = new SuiteStore(openDatabase('suite-store'));
    expect(await store.put(sums(8), false)).toMatchObject({
      id: 'sums',
      counts: { train: 2, val: 2, test: 2, unseen: 2 },
      scorer: 'exact',
    });
    await store.put(sums(8), false);
    await expect(store.put(sums(9), false)).rejects.toMatchObject({ code: 'suite-exists' });
    expect(await store.put(sums(9), true)).toMatchObject({ counts: { train: 3 } });
    await expect(store.put({ id: 'x' }, false)).rejects.toMatchObject({ code: 'suite-invalid' });
    const file = await store.export('sums');
    expect(previewImport(file.name, file.bytes).suite).toEqual(sums(9));
    expect(await store.list()).toHaveLength(1);
    expect(await store.delete('sums')).toBeGreaterThan(100);
    expect(await store.find('sums')).toBeUndefined();
    await expect(store.delete('sums')).rejects.toMatchObject({ code: 'suite-missing' });
  });
});

describe('previewImport', () => {
  const table = bytes('question,answer,split\n1 + 1?,2,train\n2 + 2?,4,val\n3 + 3?,6,test\n');

  it('guesses a mapping for a table, and shows what it makes of it', () => {
    const preview = previewImport('my sums.csv', table);
    expect(preview).toMatchObject({ form: 'table', rows: 3, columns: ['question', 'answer', 'split'], errors: 0 });
    expect(preview.mapping).toMatchObject({ input: '{{question}}', answers: ['answer'], split: { by: 'column' } });
    expect(preview.counts).toEqual({ train: 1, val: 1, test: 1, unseen: 0 });
    expect(preview.suite).toMatchObject({ id: 'my-sums', title: 'my sums' });
    expect(checkSuite('preview', preview.suite)).toEqual(preview.suite);
  });

  it('lists what is wrong with a given mapping and makes no suite of it', () => {
    const preview = previewImport('sums.csv', table, { input: '{{question}}', answers: ['solution'] });
    expect(preview.errors).toBe(1);
    expect(preview.problems[0]?.message).toContain('solution');
    expect(preview.suite).toBeUndefined();
    expect(() => previewImport('sums.csv', table, { input: 3 })).toThrow(expect.objectContaining({ code: 'mapping-invalid' }));
  });

  it('knows word problems without a mapping', () => {
    const lines = Array.from({ length: 4 }, (_, i) =>
      JSON.stringify({ question: `What is ${i} and ${i}?`, answer: `It is.\n#### ${2 * i}` }),
    );
    const preview = previewImport('gsm.jsonl', bytes(lines.join('\n')));
    expect(preview).toMatchObject({ form: 'word-problems', rows: 4, errors: 0, suite: { scorer: { kind: 'numeric' } } });
  });
});
