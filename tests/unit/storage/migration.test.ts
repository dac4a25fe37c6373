import 'fake-indexeddb/auto';
import { Dexie } from 'dexie';
import { expect, it } from 'vitest';
import { RunStore } from '../../../src/lab/runs.ts';
import { openDatabase } from '../../../src/storage/database.ts';

it('keeps the runs, journals and settings of version 1, and holds suites beside them', async () => {
  const old = new Dexie('migration');
  old.version(1).stores({ runs: 'id, createdAt', journal: '[runId+key], runId, [runId+bytes]', settings: 'key' });
  const config = { seed: 3, target: { model: 'nacre-tiny', backend: 'auto' } };
  const record = {
    id: 'r1',
    name: 'Old',
    kind: 'textual',
    config,
    createdAt: 7,
    status: 'finished',
    seconds: 1,
    longestTaskMs: 0,
    recorded: false,
  };
  await old.table('runs').put({ id: 'r1', createdAt: 7, record });
  await old.table('journal').bulkPut([
    { runId: 'r1', key: 'a', value: { n: [1, 2] }, bytes: 10 },
    { runId: 'r1', key: 'b', value: 'x', bytes: 3 },
  ]);
  await old.table('settings').put({ key: 'theme', value: 'dark' });
  old.close();

  const database = await openDatabase('migration');
  expect(database.verno).toBe(2);
  const runs = new RunStore(Promise.resolve(database));
  expect(await runs.list()).toMatchObject([{ id: 'r1', name: 'Old', bytes: 13, seed: 3 }]);
  expect(Object.fromEntries((await runs.journal('r1')).entries())).toEqual({ a: { n: [1, 2] }, b: 'x' });
  expect(await database.settings.get('theme')).toEqual({ key: 'theme', value: 'dark' });
  await database.suites.put({ id: 's', title: 'S', createdAt: 1, bytes: 2, hash: '0', suite: {} });
  expect(await database.suites.count()).toBe(1);
  database.close();
});
