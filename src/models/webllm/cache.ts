import { md5 } from 'js-md5';
import * as v from 'valibot';
import { NacreError } from '../../core/errors.ts';
import { parseJson, validate } from '../../transformer/json.ts';
import { CONFIG_FILE } from '../../transformer/mlc/config.ts';
import { filesUrl } from '../own/webllm-cache.ts';
import { WEBLLM_RECORDS } from './catalogue.generated.ts';
import { folderName, type WebLlmRecord } from './catalogue.ts';
import {
  cacheStorage,
  type FilesAccess,
  fileName,
  filesOf,
  MANIFEST_FILE,
  type ModelFile,
  NOTE_FILE,
  STORES,
  type StoreName,
} from './files.ts';

/** A model in this browser's storage, whole or in part. */
export interface CachedWebLlmModel {
  /** Address of its folder: what names it for `deleteCached` and `verifyCached`. */
  readonly url: string;
  readonly title: string;
  /** Stored bytes, its library included. */
  readonly bytes: number;
  /** Whether every file of its manifest is there. */
  readonly complete: boolean;
  /** How to load it; undefined for files that something else has left here. */
  readonly record: WebLlmRecord | undefined;
}

export interface Verification {
  /** Files that were read and are right. */
  readonly good: number;
  readonly missing: readonly string[];
  /** Files of a wrong size, with a wrong checksum, or that cannot be read. */
  readonly damaged: readonly string[];
}

interface Stored {
  readonly url: string;
  readonly store: StoreName;
}

const RECORD = v.looseObject({ model: v.string(), model_id: v.string(), model_lib: v.string() });

/** Every model of which something is stored. */
export async function cachedModels(access: FilesAccess = {}): Promise<CachedWebLlmModel[]> {
  const storage = cacheStorage(access);
  const models: CachedWebLlmModel[] = [];
  for (const [url, stored] of await storedFolders(storage)) {
    const record = await recordOf(url, storage);
    const expected = record && (await expectedFiles(record, storage));
    const library: Stored[] = record ? [{ url: record.model_lib, store: STORES.library }] : [];
    let bytes = 0;
    for (const file of [...stored, ...library]) bytes += await sizeOf(file, storage);
    let complete = expected !== undefined;
    for (const file of expected ?? []) complete &&= (await storage.match(file.url, { cacheName: file.store })) !== undefined;
    models.push({ url, title: record?.model_id ?? folderName(url), bytes, complete, record });
  }
  return models.sort((a, b) => a.title.localeCompare(b.title));
}

/**
 * Deletes all files of a model, the manifest and the library included; a library that another stored model uses stays.
 * @returns the bytes set free, 0 when nothing was stored
 */
export async function deleteCached(url: string, access: FilesAccess = {}): Promise<number> {
  const storage = cacheStorage(access);
  const folders = await storedFolders(storage);
  const own = folders.get(filesUrl(url)) ?? [];
  const record = await recordOf(filesUrl(url), storage);
  const doomed: Stored[] = [...own];
  if (record && own.length > 0) {
    const others = [...folders.keys()].filter((folder) => folder !== filesUrl(url));
    const shared = await Promise.all(others.map(async (folder) => (await recordOf(folder, storage))?.model_lib === record.model_lib));
    if (!shared.includes(true)) doomed.push({ url: record.model_lib, store: STORES.library });
  }
  let freed = 0;
  for (const file of doomed) {
    const bytes = await sizeOf(file, storage);
    if (await (await storage.open(file.store)).delete(file.url)) freed += bytes;
  }
  return freed;
}

/**
 * Reads every file of a stored model and checks its size and, where the manifest gives one, its checksum.
 * @param repair deletes what is damaged, so that loading the model gets it again
 * @throws {NacreError} `model-not-stored`; the signal's reason when it is aborted
 */
export async function verifyCached(
  url: string,
  options: FilesAccess & { readonly repair?: boolean; readonly onProgress?: (done: number, files: number) => void } = {},
): Promise<Verification> {
  const storage = cacheStorage(options);
  const folder = filesUrl(url);
  const record = await recordOf(folder, storage);
  if (!record || !(await storedFolders(storage)).has(folder)) {
    throw new NacreError(
      'model-not-stored',
      `No files of ${folderName(folder)} are stored in this browser.`,
      'Load the model to download it.',
    );
  }
  const missing: string[] = [];
  const damaged: string[] = [];
  let good = 0;
  const expected = await expectedFiles(record, storage);
  const lists = [
    { url: `${folder}${CONFIG_FILE}`, store: STORES.config },
    { url: `${folder}${MANIFEST_FILE}`, store: STORES.model },
  ];
  const files: readonly ModelFile[] = expected ?? lists;
  for (const [index, file] of files.entries()) {
    options.signal?.throwIfAborted();
    const found = await inspect(file, storage);
    // A list that parses and still lists nothing is damaged too.
    const state = found === 'good' && !expected ? 'damaged' : found;
    if (state === 'good') good++;
    else if (state === 'missing') missing.push(fileName(file.url));
    else {
      damaged.push(fileName(file.url));
      if (options.repair) await (await storage.open(file.store)).delete(file.url);
    }
    options.onProgress?.(index + 1, files.length);
  }
  return { good, missing, damaged };
}

async function inspect(file: ModelFile, storage: CacheStorage): Promise<'good' | 'missing' | 'damaged'> {
  const response = await storage.match(file.url, { cacheName: file.store });
  if (!response) return 'missing';
  let bytes: Uint8Array;
  try {
    bytes = new Uint8Array(await response.arrayBuffer());
  } catch (thrown) {
    // A store whose file on disk is gone or cut: the browser says so only when it is read.
    if (thrown instanceof TypeError || thrown instanceof DOMException) return 'damaged';
    throw thrown;
  }
  if (file.bytes !== undefined && bytes.length !== file.bytes) return 'damaged';
  if (file.md5 !== undefined && md5(bytes) !== file.md5) return 'damaged';
  const name = fileName(file.url);
  if (name.endsWith('.json') && !isJson(bytes)) return 'damaged';
  if (name.endsWith('.wasm') && !WebAssembly.validate(bytes as BufferSource)) return 'damaged';
  return 'good';
}

function isJson(bytes: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder().decode(bytes));
    return true;
  } catch {
    // The question asked here is only whether it parses.
    return false;
  }
}

/** The stored files by the address of their folder. */
async function storedFolders(storage: CacheStorage): Promise<Map<string, Stored[]>> {
  const folders = new Map<string, Stored[]>();
  for (const store of [STORES.model, STORES.config]) {
    if (!(await storage.has(store))) continue;
    for (const { url } of await (await storage.open(store)).keys()) {
      const folder = url.slice(0, url.lastIndexOf('/') + 1);
      folders.set(folder, [...(folders.get(folder) ?? []), { url, store }]);
    }
  }
  return folders;
}

/** Nacre's note beside the files, or the package's own list. */
async function recordOf(folder: string, storage: CacheStorage): Promise<WebLlmRecord | undefined> {
  const note = await storage.match(`${folder}${NOTE_FILE}`, { cacheName: STORES.config });
  if (note) return validate(NOTE_FILE, RECORD, parseJson(NOTE_FILE, await note.text()));
  return WEBLLM_RECORDS.find(({ model }) => filesUrl(model) === folder);
}

/** What the stored manifest says there should be; undefined without a manifest or a configuration. */
async function expectedFiles(record: WebLlmRecord, storage: CacheStorage): Promise<readonly ModelFile[] | undefined> {
  const folder = filesUrl(record.model);
  const config = await storage.match(`${folder}${CONFIG_FILE}`, { cacheName: STORES.config });
  const manifest = await storage.match(`${folder}${MANIFEST_FILE}`, { cacheName: STORES.model });
  if (!config || !manifest) return undefined;
  try {
    return filesOf(record, await config.text(), await manifest.text());
  } catch (thrown) {
    if (thrown instanceof NacreError) return undefined;
    throw thrown;
  }
}

async function sizeOf(file: Stored, storage: CacheStorage): Promise<number> {
  const response = await storage.match(file.url, { cacheName: file.store });
  if (!response) return 0;
  const told = Number(response.headers.get('content-length') ?? Number.NaN);
  return Number.isFinite(told) && !response.headers.has('content-encoding') ? told : (await response.blob()).size;
}
