import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FileJournal } from '../../../scripts/cli/file-journal.ts';
import { RunFolder } from '../../../scripts/cli/run-folder.ts';
import { parseConfig } from '../../../src/lab/config.ts';

const config = (seed: number) =>
  parseConfig({ schema: 'nacre.experiment/1', kind: 'textual', name: 'A study', seed, suite: { id: 'household' } });

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'nacre-folder-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A folder in which some work was finished. */
async function worked(name: string): Promise<string> {
  const path = join(root, name);
  const folder = await RunFolder.open(path, config(1));
  await folder.journal.put('step e1/b1', { seconds: 1 });
  await folder.journal.put('seconds', 1);
  folder.close();
  return path;
}

describe('a run folder', () => {
  it('opens again for the same experiment and keeps its date', async () => {
    const path = await worked('again');
    const first = JSON.parse(readFileSync(join(path, 'run.json'), 'utf8')) as { createdAt: number };
    const folder = await RunFolder.open(path, config(1));
    expect(folder.createdAt).toBe(first.createdAt);
    expect(await folder.journal.peek('step e1/b1')).toEqual({ seconds: 1 });
    folder.close();
  });

  it('is refused to another experiment once work was finished in it, and not before', async () => {
    await expect(RunFolder.open(await worked('taken'), config(2))).rejects.toMatchObject({ code: 'run-folder-taken' });
    const fresh = join(root, 'fresh');
    const first = await RunFolder.open(fresh, config(1));
    await first.journal.put('seconds', 1);
    first.close();
    const second = await RunFolder.open(fresh, config(2));
    second.close();
    expect(JSON.parse(readFileSync(join(fresh, 'run.json'), 'utf8'))).toMatchObject({ config: { seed: 2 } });
  });

  it.each([
    ['is missing', (path: string) => rmSync(path)],
    ['is torn', (path: string) => writeFileSync(path, '{"config": {')],
    ['is empty', (path: string) => writeFileSync(path, '')],
    ['is another thing', (path: string) => writeFileSync(path, '{}')],
  ])('is not guessed at when run.json %s', async (name, damage) => {
    const path = await worked(name.replaceAll(' ', '-'));
    damage(join(path, 'run.json'));
    await expect(RunFolder.open(path, config(1))).rejects.toMatchObject({
      code: 'run-folder-damaged',
      message: expect.stringContaining('run.json'),
    });
  });

  it('is made with those above it, and refused where it cannot be', async () => {
    const deep = join(root, 'a/b/c');
    (await RunFolder.open(deep, config(1))).close();
    expect(existsSync(join(deep, 'run.json'))).toBe(true);
    writeFileSync(join(root, 'file'), '');
    for (const path of [join(root, 'file'), join(root, 'file/below')]) {
      await expect(RunFolder.open(path, config(1))).rejects.toMatchObject({
        code: 'out-unusable',
        message: expect.stringContaining('--out'),
      });
    }
  });

  it('is held by one command at a time', async () => {
    const path = join(root, 'held');
    const first = await RunFolder.open(path, config(1));
    await expect(RunFolder.open(path, config(1))).rejects.toMatchObject({ code: 'run-folder-busy' });
    first.close();
    (await RunFolder.open(path, config(1))).close();
  });
});

describe('the journal in a file', () => {
  const line = (key: string, value: unknown): string => `${JSON.stringify({ key, value })}\n`;

  it('cuts off a torn last line, in the middle of a character too', async () => {
    const path = join(root, 'torn.jsonl');
    writeFileSync(path, line('a', 'é'));
    appendFileSync(path, Buffer.from(line('b', 'é')).subarray(0, -4));
    const journal = new FileJournal(path);
    expect([...journal.entries().keys()]).toEqual(['a']);
    await journal.put('c', 1);
    expect(readFileSync(path, 'utf8')).toBe(line('a', 'é') + line('c', 1));
  });

  it.each([
    ['garbage', Buffer.from('garbage\n')],
    ['another shape', Buffer.from('{"key": 3}\n')],
    ['bytes that are no text', Buffer.from([0x22, 0xff, 0x22, 0x0a])],
    ['a damaged unit', Buffer.from(line('step e1/b1', { seconds: 'x' }))],
  ])('names the line that holds %s', (_, bytes) => {
    const path = join(root, 'broken.jsonl');
    writeFileSync(path, Buffer.concat([Buffer.from(line('a', 1)), bytes, Buffer.from(line('b', 2))]));
    const problem = (_key: string, value: unknown) => (typeof value === 'object' ? 'seconds' : undefined);
    expect(() => new FileJournal(path, problem)).toThrow(
      expect.objectContaining({ code: 'journal-invalid', message: expect.stringContaining('line 2') }) as Error,
    );
  });
});
