import { beforeEach, describe, expect, it } from 'vitest';
import type { TransferProgress } from '../../../../src/models/download.ts';
import { cachedModels, deleteCached, verifyCached } from '../../../../src/models/webllm/cache.ts';
import { downloadModel, downloadPlan } from '../../../../src/models/webllm/files.ts';
import { importFolder } from '../../../../src/models/webllm/import.ts';
import { BASE_URL, FakeCaches, fakeHost, LIBRARY_URL, MODEL_URL, RECORD, tinyModel, WASM } from './fake-caches.ts';

let caches: FakeCaches;
let files: Map<string, Uint8Array>;
let host: ReturnType<typeof fakeHost>;
const access = () => ({ storage: caches.storage, fetch: host.fetch });

beforeEach(() => {
  caches = new FakeCaches();
  files = tinyModel();
  host = fakeHost(files);
});

describe('downloading a WebLLM model', () => {
  it('tells the size first and stores nothing by that', async () => {
    expect(await downloadPlan(RECORD, access())).toMatchObject({ totalBytes: 8, missingBytes: 8 });
    expect(caches.urls('webllm/model')).toEqual([]);
  });

  it('stores every file where WebLLM looks for it, and reports bytes', async () => {
    const seen: TransferProgress[] = [];
    await downloadModel(RECORD, (progress) => seen.push(progress), access());
    const names = ['params_shard_0.bin', 'params_shard_1.bin', 'tensor-cache.json', 'tokenizer.json'];
    expect(caches.urls('webllm/model')).toEqual(names.map((name) => BASE_URL + name));
    expect(caches.urls('webllm/config')).toEqual([`${BASE_URL}mlc-chat-config.json`, `${BASE_URL}nacre-record.json`]);
    expect(caches.urls('webllm/wasm')).toEqual([LIBRARY_URL]);
    expect(seen[0]).toEqual({ phase: 'download', loadedBytes: 0, totalBytes: 8 });
    expect(seen.at(-1)).toEqual({ phase: 'download', loadedBytes: 8, totalBytes: 8 });
  });

  it('goes on with what is missing', async () => {
    files.delete(`${BASE_URL}params_shard_1.bin`);
    await expect(downloadModel(RECORD, undefined, access())).rejects.toMatchObject({
      code: 'file-missing',
      message: expect.stringContaining('params_shard_1.bin'),
    });
    expect(await cachedModels(access())).toMatchObject([{ complete: false }]);
    files.set(`${BASE_URL}params_shard_1.bin`, Uint8Array.of(1, 2, 3, 4, 5));
    host.asked.length = 0;
    expect(await downloadPlan(RECORD, access())).toMatchObject({ totalBytes: 8, missingBytes: 5 });
    await downloadModel(RECORD, undefined, access());
    expect(host.asked).toEqual(['params_shard_1.bin']);
    expect(await cachedModels(access())).toMatchObject([{ complete: true }]);
    host.asked.length = 0;
    await downloadModel(RECORD, undefined, access());
    expect(host.asked).toEqual([]);
  });

  it.each([
    ['with a wrong checksum', Uint8Array.of(1, 2, 4)],
    ['of a wrong size', Uint8Array.of(1, 2)],
  ])('keeps no file %s', async (_, bytes) => {
    files.set(`${BASE_URL}params_shard_0.bin`, bytes);
    await expect(downloadModel(RECORD, undefined, access())).rejects.toMatchObject({ code: 'download-damaged' });
    expect(caches.urls('webllm/model')).not.toContain(`${BASE_URL}params_shard_0.bin`);
  });

  it('names what stands in the way', async () => {
    caches.refuse = { url: `${BASE_URL}tokenizer.json`, error: new DOMException('full', 'QuotaExceededError') };
    await expect(downloadModel(RECORD, undefined, access())).rejects.toMatchObject({ code: 'storage-full' });
    const answer =
      (status: number, type = '') =>
      async () =>
        new Response('', { status, headers: { 'content-type': type } });
    for (const [status, code] of [
      [401, 'model-gated'],
      [429, 'host-busy'],
      [503, 'host-failed'],
      [404, 'file-missing'],
    ] as const) {
      caches = new FakeCaches();
      await expect(downloadModel(RECORD, undefined, { storage: caches.storage, fetch: answer(status) })).rejects.toMatchObject({ code });
    }
    await expect(downloadPlan(RECORD, { storage: caches.storage, fetch: answer(200, 'text/html') })).rejects.toMatchObject({
      code: 'file-missing',
    });
    const offline = async (): Promise<Response> => Promise.reject(new TypeError('Failed to fetch'));
    await expect(downloadPlan(RECORD, { storage: caches.storage, fetch: offline })).rejects.toMatchObject({ code: 'host-unreachable' });
  });

  it('ends with the reason it was aborted for', async () => {
    const abort = new AbortController();
    const fetch = async (url: string, init?: RequestInit): Promise<Response> => {
      if (url.endsWith('.bin')) abort.abort(new Error('enough'));
      return host.fetch(url, init);
    };
    await expect(downloadModel(RECORD, undefined, { storage: caches.storage, fetch, signal: abort.signal })).rejects.toThrow('enough');
  });
});

describe('stored WebLLM models', () => {
  beforeEach(async () => {
    await downloadModel(RECORD, undefined, access());
  });

  it('are listed with their size and how to load them', async () => {
    const [model] = await cachedModels(access());
    const bytes = [...files.values()].reduce((sum, { length }) => sum + length, 0);
    expect(model).toMatchObject({ url: BASE_URL, title: RECORD.model_id, complete: true, record: RECORD });
    expect(model!.bytes).toBe(bytes + JSON.stringify(RECORD).length);
  });

  it('are deleted with manifest and library', async () => {
    const { bytes } = (await cachedModels(access()))[0]!;
    expect(await deleteCached(MODEL_URL, access())).toBe(bytes);
    expect([...caches.stores.values()].flatMap((store) => [...store.keys()])).toEqual([]);
    expect(await deleteCached(MODEL_URL, access())).toBe(0);
  });

  it('keep a library that another model uses', async () => {
    const other = { ...RECORD, model: 'https://models.example/org/Other', model_id: 'Other' };
    for (const [url, bytes] of tinyModel()) files.set(url.replace(MODEL_URL, other.model), bytes);
    await downloadModel(other, undefined, access());
    await deleteCached(MODEL_URL, access());
    expect(caches.urls('webllm/wasm')).toEqual([LIBRARY_URL]);
    expect(await cachedModels(access())).toMatchObject([{ title: 'Other', complete: true }]);
    await deleteCached(other.model, access());
    expect(caches.urls('webllm/wasm')).toEqual([]);
  });

  it('are checked file by file, and repaired by deleting what is damaged', async () => {
    expect(await verifyCached(MODEL_URL, access())).toEqual({ good: 6, missing: [], damaged: [] });
    const model = caches.stores.get('webllm/model')!;
    model.get(`${BASE_URL}params_shard_0.bin`)!.bytes = Uint8Array.of(3, 2, 1);
    model.get(`${BASE_URL}tokenizer.json`)!.bytes = Uint8Array.of(123);
    model.delete(`${BASE_URL}params_shard_1.bin`);
    caches.stores.get('webllm/wasm')!.get(LIBRARY_URL)!.bytes = Uint8Array.of(0, 97);
    const found = { good: 2, missing: ['params_shard_1.bin'], damaged: ['tokenizer.json', 'tiny.wasm', 'params_shard_0.bin'] };
    expect(await verifyCached(MODEL_URL, access())).toEqual(found);
    expect(await verifyCached(MODEL_URL, { ...access(), repair: true })).toEqual(found);
    await downloadModel(RECORD, undefined, access());
    expect(await verifyCached(MODEL_URL, access())).toMatchObject({ missing: [], damaged: [] });
  });

  it('are damaged without a readable manifest, and nothing where there are none', async () => {
    caches.stores.get('webllm/model')!.get(`${BASE_URL}tensor-cache.json`)!.bytes = new TextEncoder().encode('{"records": 1}');
    expect((await verifyCached(MODEL_URL, access())).damaged).toContain('tensor-cache.json');
    await expect(verifyCached('https://models.example/none', access())).rejects.toMatchObject({ code: 'model-not-stored' });
  });
});

describe('a WebLLM model from a folder', () => {
  const folder = (without: string, extra: [string, Uint8Array][] = []) =>
    [...[...files].map(([url, bytes]): [string, Uint8Array] => [url.slice(url.lastIndexOf('/') + 1), bytes]), ...extra]
      .filter(([path]) => path !== without)
      .map(([path, bytes]) => ({ path, blob: new Blob([bytes as BlobPart]) }));

  it('loads from the stores alone', async () => {
    const record = await importFolder('my model', folder(''), undefined, access());
    expect(record).toMatchObject({
      model: 'https://local.invalid/my%20model',
      model_lib: 'https://local.invalid/my%20model/resolve/main/tiny.wasm',
    });
    await downloadModel(record, undefined, access());
    expect(host.asked).toEqual([]);
    expect(await cachedModels(access())).toMatchObject([{ complete: true, record }]);
    expect(await verifyCached(record.model, access())).toMatchObject({ good: 6, missing: [], damaged: [] });
  });

  it('needs its files and a library', async () => {
    await expect(importFolder('mine', folder('tiny.wasm'), undefined, access())).rejects.toMatchObject({ code: 'library-missing' });
    await expect(importFolder('mine', folder('params_shard_1.bin'), undefined, access())).rejects.toMatchObject({ code: 'file-missing' });
    const listed = await importFolder('Qwen3-0.6B-q4f32_1-MLC', folder('tiny.wasm'), undefined, access());
    expect(listed.model_lib).toMatch(/^https:.*Qwen3-0.6B-q4f32_1.*\.wasm$/);
    const given = await importFolder('mine', folder('tiny.wasm', [['other.bin', WASM]]), LIBRARY_URL, access());
    expect(given.model_lib).toBe(LIBRARY_URL);
  });
});
