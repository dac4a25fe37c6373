import 'fake-indexeddb/auto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { FileJournal } from '../../../scripts/cli/file-journal.ts';
import { type Journal, MemoryJournal } from '../../../src/core/journal.ts';
import { type NacreDatabase, openDatabase } from '../../../src/storage/database.ts';
import { DexieJournal } from '../../../src/storage/dexie-journal.ts';

const folders: string[] = [];
const databases: NacreDatabase[] = [];
let databaseCount = 0;

afterEach(async () => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  for (const database of databases.splice(0)) await database.delete();
});

/** Each kind gives a function that opens the same journal again, as after a reload. */
const kinds: Record<string, () => Promise<() => Promise<Journal>>> = {
  memory: async () => {
    const journal = new MemoryJournal();
    return async () => journal;
  },
  dexie: async () => {
    const database = await openDatabase(`journal-test-${databaseCount++}`);
    databases.push(database);
    return () => DexieJournal.open(database, 'run-1');
  },
  file: async () => {
    const folder = mkdtempSync(join(tmpdir(), 'nacre-'));
    folders.push(folder);
    return async () => new FileJournal(join(folder, 'journal.jsonl'));
  },
};

describe.each(Object.entries(kinds))('%s journal', (_, start) => {
  it('computes a unit once and returns it after reopening', async () => {
    const open = await start();
    const first = await open();
    expect(await first.once('validate a', async () => ({ score: 0.5 }))).toEqual({ score: 0.5 });
    const again = await open();
    const value = await again.once('validate a', async () => {
      throw new Error('must not be computed again');
    });
    expect(value).toEqual({ score: 0.5 });
  });

  it('keeps the finished members of a batch that was interrupted', async () => {
    const open = await start();
    const journal = await open();
    await expect(
      journal.onceEach<number>(['k0', 'k1', 'k2'], async (_missing, store) => {
        store('k0', 10);
        store('k2', 12);
        throw new Error('killed');
      }),
    ).rejects.toThrow('killed');
    const reopened = await open();
    const asked: string[] = [];
    const values = await reopened.onceEach<number>(['k0', 'k1', 'k2'], async (missing, store) => {
      asked.push(...missing);
      for (const key of missing) store(key, 99);
    });
    expect(asked).toEqual(['k1']);
    expect(values).toEqual([10, 99, 12]);
  });

  it('names a unit that a batch did not compute', async () => {
    const journal = await (await start())();
    await expect(journal.onceEach(['a', 'b'], async (_missing, store) => store('a', 1))).rejects.toMatchObject({ code: 'unit-missing' });
  });

  it('does not let callers change what is stored', async () => {
    const journal = await (await start())();
    const value = await journal.once('x', async () => ({ list: [1] }));
    value.list.push(2);
    expect(await journal.peek('x')).toEqual({ list: [1] });
  });

  it('replaces state with put', async () => {
    const open = await start();
    const journal = await open();
    await journal.put('status', 'running');
    await journal.put('status', 'paused');
    expect(await (await open()).peek('status')).toBe('paused');
  });
});

describe('file journal', () => {
  it('cuts off a torn last line and keeps the rest', () => {
    const folder = mkdtempSync(join(tmpdir(), 'nacre-'));
    folders.push(folder);
    const path = join(folder, 'journal.jsonl');
    writeFileSync(path, '{"key":"a","value":1}\n{"key":"b","val');
    const journal = new FileJournal(path);
    expect([...journal.entries()]).toEqual([['a', 1]]);
    expect(readFileSync(path, 'utf8')).toBe('{"key":"a","value":1}\n');
  });

  it('names the line of a damaged file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'nacre-'));
    folders.push(folder);
    const path = join(folder, 'journal.jsonl');
    writeFileSync(path, '{"key":"a","value":1}\nnonsense\n');
    expect(() => new FileJournal(path)).toThrow(/line 2/);
  });
});
