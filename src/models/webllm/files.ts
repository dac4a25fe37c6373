import { md5 } from 'js-md5';
import * as v from 'valibot';
import { NacreError } from '../../core/errors.ts';
import { parseJson, validate } from '../../transformer/json.ts';
import { CONFIG_FILE } from '../../transformer/mlc/config.ts';
import { type Fetch, fetchFile, freeStorage, isQuotaError, type OnTransfer, storageFull, unreachable } from '../download.ts';
import { filesUrl } from '../own/webllm-cache.ts';
import type { WebLlmRecord } from './catalogue.ts';

/** The stores that WebLLM keeps in the Cache API, and finds again by address. */
export const STORES = { model: 'webllm/model', config: 'webllm/config', library: 'webllm/wasm' } as const;
export type StoreName = (typeof STORES)[keyof typeof STORES];

export const MANIFEST_FILE = 'tensor-cache.json';
/** Nacre's own note beside a model's files: its record, so that models from other addresses can be loaded again. */
export const NOTE_FILE = 'nacre-record.json';
const PARALLEL = 4;

const CHAT_CONFIG = v.looseObject({ tokenizer_files: v.optional(v.array(v.string()), ['tokenizer.json']) });
const MANIFEST = v.looseObject({
  metadata: v.optional(v.looseObject({})),
  records: v.array(
    v.looseObject({ dataPath: v.string(), nbytes: v.pipe(v.number(), v.safeInteger(), v.minValue(0)), md5sum: v.nullish(v.string()) }),
  ),
});

/** One file of a model: where it comes from, where it is kept, and what is known of it beforehand. */
export interface ModelFile {
  readonly url: string;
  readonly store: StoreName;
  readonly bytes?: number;
  /** Hexadecimal, of the whole file. */
  readonly md5?: string;
}

export interface DownloadPlan {
  readonly files: readonly ModelFile[];
  /** Weights in bytes; tokenizer and library, some MB, come on top. */
  readonly totalBytes: number;
  /** What is not yet stored, in bytes: the size to ask consent for. */
  readonly missingBytes: number;
}

export interface FilesAccess {
  readonly storage?: CacheStorage;
  readonly fetch?: Fetch;
  readonly signal?: AbortSignal;
}

/** The files that belong to a configuration and a manifest, given as their texts. */
export function filesOf(record: WebLlmRecord, config: string, manifest: string): readonly ModelFile[] {
  const base = filesUrl(record.model);
  const at = (path: string): string => new URL(path, base).href;
  const { tokenizer_files } = validate(CONFIG_FILE, CHAT_CONFIG, parseJson(CONFIG_FILE, config));
  const { records } = validate(MANIFEST_FILE, MANIFEST, parseJson(MANIFEST_FILE, manifest));
  const tokenizer = ['tokenizer.json', 'tokenizer.model'].find((name) => tokenizer_files.includes(name));
  return [
    { url: at(CONFIG_FILE), store: STORES.config },
    { url: at(MANIFEST_FILE), store: STORES.model },
    ...(tokenizer === undefined ? [] : [{ url: at(tokenizer), store: STORES.model }]),
    { url: record.model_lib, store: STORES.library },
    ...records.map(({ dataPath, nbytes, md5sum }) => ({
      url: at(dataPath),
      store: STORES.model,
      bytes: nbytes,
      ...(md5sum == null ? {} : { md5: md5sum.toLowerCase() }),
    })),
  ];
}

/**
 * What loading a model would download. Asks the server for the manifest where it is not stored, and stores nothing.
 * @throws {NacreError} what `fetchFile` says
 */
export async function downloadPlan(record: WebLlmRecord, access: FilesAccess = {}): Promise<DownloadPlan> {
  const base = filesUrl(record.model);
  const storage = cacheStorage(access);
  const text = async (path: string, store: StoreName): Promise<string> => {
    const url = new URL(path, base).href;
    const stored = await storage.match(url, { cacheName: store });
    return (stored ?? (await fetchFile(url, signalOf(access), access.fetch))).text();
  };
  const files = filesOf(record, await text(CONFIG_FILE, STORES.config), await text(MANIFEST_FILE, STORES.model));
  let totalBytes = 0;
  let missingBytes = 0;
  for (const file of files) {
    const { bytes = 0 } = file;
    totalBytes += bytes;
    if (bytes > 0 && !(await storage.match(file.url, { cacheName: file.store }))) missingBytes += bytes;
  }
  return { files, totalBytes, missingBytes };
}

/**
 * Downloads what is not yet stored, four files at a time, so that WebLLM finds all of it. A file is stored when it is whole and
 * its checksum is right, so an interrupted download goes on with the first missing file.
 * @throws {NacreError} what `fetchFile` says, `storage-full`, `download-damaged`; the signal's reason when it is aborted
 */
export async function downloadModel(record: WebLlmRecord, onTransfer?: OnTransfer, access: FilesAccess = {}): Promise<DownloadPlan> {
  const plan = await downloadPlan(record, access);
  const free = await freeStorage();
  if (free !== undefined && plan.missingBytes > free) throw storageFull(record.model_id, plan.missingBytes, free);
  const storage = cacheStorage(access);
  const failed = new AbortController();
  const signal = access.signal ? AbortSignal.any([access.signal, failed.signal]) : failed.signal;
  let loadedBytes = plan.totalBytes - plan.missingBytes;
  const report = (): void => onTransfer?.({ phase: 'download', loadedBytes, totalBytes: plan.totalBytes });
  report();

  const pending = [...plan.files];
  const worker = async (): Promise<void> => {
    for (let file = pending.shift(); file; file = pending.shift()) {
      const { bytes = 0 } = file;
      let received = 0;
      await store(file, storage, { ...access, signal }, (count) => {
        if (bytes === 0) return;
        loadedBytes += count;
        received += count;
        report();
      }).catch((thrown: unknown) => {
        loadedBytes -= received;
        failed.abort(thrown);
        throw thrown;
      });
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: PARALLEL }, worker));
  access.signal?.throwIfAborted();
  if (failed.signal.aborted) throw failed.signal.reason;
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  const note = new Response(JSON.stringify(record), { headers: { 'content-type': 'application/json' } });
  await (await storage.open(STORES.config)).put(new URL(NOTE_FILE, filesUrl(record.model)).href, note);
  return plan;
}

/** Gets one file into its store, unless it is there. */
async function store(file: ModelFile, storage: CacheStorage, access: FilesAccess, onBytes: (count: number) => void): Promise<void> {
  const cache = await storage.open(file.store);
  if (await cache.match(file.url)) return;
  const response = await fetchFile(file.url, signalOf(access), access.fetch);
  const hash = file.md5 === undefined ? undefined : md5.create();
  let received = 0;
  let fault: NacreError | undefined;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      received += chunk.byteLength;
      hash?.update(chunk);
      onBytes(chunk.byteLength);
      controller.enqueue(chunk);
    },
    flush() {
      if (file.bytes !== undefined && received !== file.bytes) fault = damagedDownload(file.url, `${received} of ${file.bytes} bytes came`);
      else if (hash && hash.hex() !== file.md5) fault = damagedDownload(file.url, 'its checksum is wrong');
      // An error here keeps the file out of the store, which reports an error of its own.
      if (fault) throw fault;
    },
  });
  const headers = new Headers({ 'content-type': response.headers.get('content-type') ?? 'application/octet-stream' });
  if (file.bytes !== undefined) headers.set('content-length', String(file.bytes));
  try {
    await cache.put(file.url, new Response(response.body?.pipeThrough(counter) ?? null, { headers }));
  } catch (thrown) {
    if (fault) throw fault;
    access.signal?.throwIfAborted();
    if (isQuotaError(thrown)) throw storageFull(fileName(file.url), file.bytes ?? received, await freeStorage());
    throw unreachable(file.url, thrown);
  }
}

export function cacheStorage({ storage }: FilesAccess): CacheStorage {
  if (storage) return storage;
  if (typeof caches === 'undefined') {
    throw new NacreError('no-cache-storage', 'This page cannot use the browser cache.', 'Open it over https or from 127.0.0.1.');
  }
  return caches;
}

export function fileName(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1);
}

function signalOf({ signal }: FilesAccess): RequestInit {
  return signal === undefined ? {} : { signal };
}

function damagedDownload(url: string, how: string): NacreError {
  return new NacreError(
    'download-damaged',
    `${fileName(url)} did not arrive whole: ${how}.`,
    'Load the model again; if it happens again, the file on the server is damaged.',
  );
}
