import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Message } from '../../src/core/types.ts';
import type { TransferProgress } from '../../src/models/download.ts';
import type { CachedGguf } from '../../src/models/llamacpp/gguf-store.ts';
import type { Generation, ModelInfo } from '../../src/models/types.ts';
import { sharedPath } from '../shared.ts';
import { type FileServer, type ModelsPage, openModelsPage, serveFiles } from './models-page/site.ts';

const MODEL = sharedPath('data/models/smollm2-135m-instruct');
const FILE = 'SmolLM2-135M-Instruct.Q4_1.gguf';
const GREEDY = { temperature: 0, topP: 1, seed: 1 };

interface Case {
  readonly name: string;
  readonly messages: readonly Message[];
  readonly ids: readonly number[];
  readonly greedy_ids: readonly number[];
  readonly greedy_text: string;
}

describe.skipIf(!MODEL)('a GGUF model on llama.cpp, in Chromium', () => {
  const folder = mkdtempSync(join(tmpdir(), 'nacre-gguf-'));
  const faults = new Map<string, { status?: number; cutAt?: number }>();
  let site: ModelsPage;
  let host: FileServer;
  let url: string;
  let cases: readonly Case[];

  const ask = (messages: readonly Message[], options: object, ...rest: unknown[]): Promise<Generation> =>
    site.call<Generation>('ask', messages, { ...GREEDY, maxTokens: 12, ...options }, ...(rest.length === 0 ? [undefined] : rest));

  beforeAll(async () => {
    cases = (JSON.parse(readFileSync(join(MODEL!, 'reference.json'), 'utf8')) as { cases: Case[] }).cases;
    const cut = join(folder, 'cut.gguf');
    writeFileSync(cut, readFileSync(join(MODEL!, FILE)).subarray(0, 1_000_000));
    host = await serveFiles(
      new Map([
        [FILE, join(MODEL!, FILE)],
        ['notes.gguf', join(MODEL!, 'README.md')],
        ['cut.gguf', cut],
      ]),
      faults,
    );
    url = `${host.url}${FILE}`;
    site = await openModelsPage();
  });

  afterAll(async () => {
    await site?.close();
    await host?.close();
    rmSync(folder, { recursive: true });
  });

  it('downloads, breaks off and goes on where it stopped', async () => {
    faults.set(FILE, { cutAt: 30_000_000 });
    await expect(site.call('loadGguf', { kind: 'url', url }, {})).rejects.toMatchObject({ code: 'host-unreachable' });
    expect(await site.call<CachedGguf[]>('stored', 'gguf')).toMatchObject([{ url, complete: false, bytes: 30_000_000 }]);
    faults.clear();
    await site.seen();
    const info = await site.call<ModelInfo>('loadGguf', { kind: 'url', url }, { contextLength: 512, probabilities: true });
    expect(host.asked.at(-1)).toBe(`${FILE} bytes=30000000-`);
    const progress = await site.seen<TransferProgress>();
    expect(progress[0]!.loadedBytes).toBeGreaterThan(30_000_000);
    expect(progress.at(-1)).toMatchObject({ phase: 'load', loadedBytes: 98_362_432, totalBytes: 98_362_432 });
    expect(info).toMatchObject({ backend: 'llamacpp', contextLength: 512, parameters: 135e6, capabilities: { json: true } });
    expect(info.adapter).toMatch(/^CPU/);
  });

  it('says what the reference says, with the template of the file', async () => {
    const { messages, ids, greedy_ids, greedy_text } = cases.find(({ name }) => name === 'sum')!;
    const answer = await ask(messages, { maxTokens: 6 });
    expect(answer.text.length).toBeGreaterThan(10);
    expect(greedy_text.startsWith(answer.text)).toBe(true);
    expect(answer).toMatchObject({ finish: 'length', usage: { inputTokens: ids.length, outputTokens: 6, textVolume: ids.length + 6 } });
    expect(answer.probabilities!.map(({ id }) => id)).toEqual(greedy_ids.slice(0, 6));
    for (const { logprob } of answer.probabilities!) expect(logprob).toBeLessThan(0);
    const texts = await site.seen<string>();
    expect(texts.at(-1)).toBe(answer.text);
    expect(texts.length).toBeGreaterThan(2);
  });

  it('draws the same from the same seed, whatever was asked before, and stops before a stop text', async () => {
    const { messages } = cases.find(({ name }) => name === 'capital')!;
    const drawn = { temperature: 1, topP: 0.95, topK: 40, maxTokens: 5 };
    const first = await ask(messages, { ...drawn, seed: 7 });
    const other = await ask(messages, { ...drawn, seed: 8 });
    const again = await ask(messages, { ...drawn, seed: 7 });
    expect(again.text).toBe(first.text);
    expect(other.text).not.toBe(first.text);
    // The prompt is still known from the call before: only its end is read anew.
    expect(again.usage.inputTokens).toBeLessThan(first.usage.textVolume - 5);
    const sum = cases.find(({ name }) => name === 'sum')!;
    const stopped = await ask(sum.messages, { stop: [' apples'] });
    expect(stopped).toMatchObject({ text: 'Tom has 3', finish: 'stop' });
  });

  it('keeps to a JSON schema', async () => {
    const schema = { type: 'object', properties: { city: { enum: ['Paris', 'Rome'] } }, required: ['city'], additionalProperties: false };
    const { messages } = cases.find(({ name }) => name === 'capital')!;
    const answer = await ask(messages, { schema, maxTokens: 24 });
    expect(['Paris', 'Rome']).toContain((JSON.parse(answer.text) as { city: string }).city);
  });

  it('can be cancelled and asked again, and says when a text does not fit', async () => {
    const { messages } = cases.find(({ name }) => name === 'sum')!;
    await expect(ask(messages, { maxTokens: 200 }, 5)).rejects.toMatchObject({ message: 'enough' });
    expect((await ask(messages, { maxTokens: 2 })).usage.outputTokens).toBe(2);
    const long = [{ role: 'user' as const, content: 'word '.repeat(800) }];
    await expect(ask(long, {})).rejects.toMatchObject({ code: 'context-length' });
  });

  it('lists what is stored, checks it and deletes it', async () => {
    const [stored] = await site.call<CachedGguf[]>('stored', 'gguf');
    expect(stored).toEqual({ url, title: FILE.replace('.gguf', ''), bytes: 98_362_432, totalBytes: 98_362_432, complete: true });
    expect(await site.call('verify', 'gguf', url, false)).toEqual([]);
    await site.call('close');
    expect(await site.call('remove', 'gguf', url)).toBe(98_362_432);
    expect(await site.call('stored', 'gguf')).toEqual([]);
  });

  it('refuses what is no GGUF file, what is damaged and what is not there', async () => {
    const load = (name: string): Promise<unknown> => site.call('loadGguf', { kind: 'url', url: host.url + name }, {});
    await expect(load('notes.gguf')).rejects.toMatchObject({ code: 'not-gguf' });
    await expect(load('cut.gguf')).rejects.toMatchObject({ code: 'model-files-damaged' });
    await expect(load('absent.gguf')).rejects.toMatchObject({ code: 'file-missing' });
    expect(site.complaints.filter((text) => /Content Security Policy|refused/i.test(text))).toEqual([]);
  });
});
