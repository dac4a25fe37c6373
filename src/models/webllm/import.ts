import { NacreError } from '../../core/errors.ts';
import { CONFIG_FILE } from '../../transformer/mlc/config.ts';
import { freeStorage, isQuotaError, storageFull } from '../download.ts';
import { filesUrl } from '../own/webllm-cache.ts';
import { customRecord, type WebLlmRecord } from './catalogue.ts';
import { cacheStorage, type FilesAccess, fileName, filesOf, MANIFEST_FILE, NOTE_FILE, STORES, type StoreName } from './files.ts';

/** No host has this name: what is stored under it came from a folder and is never looked for on the network. */
const LOCAL_HOST = 'https://local.invalid/';

/** One file of a picked folder. `path` is relative to the folder. */
export interface LocalFile {
  readonly path: string;
  readonly blob: Blob;
}

/**
 * Copies a model in MLC format from a folder on this device into WebLLM's stores, so that it loads like a downloaded one.
 * @param name what to call it; the name of a listed model supplies the library where the folder has none
 * @param library address of the compiled library, where the folder holds no `.wasm` file
 * @throws {NacreError} `file-missing`, `library-missing`, `bad-json`, `bad-field`, `storage-full`
 */
export async function importFolder(
  name: string,
  files: readonly LocalFile[],
  library?: string,
  access: FilesAccess = {},
): Promise<WebLlmRecord> {
  const storage = cacheStorage(access);
  const model = `${LOCAL_HOST}${encodeURIComponent(name)}`;
  const base = filesUrl(model);
  const wasm = files.find(({ path }) => path.endsWith('.wasm'));
  const record = customRecord(model, library ?? (wasm && new URL(encodeURI(wasm.path), base).href));
  if (!record) {
    throw new NacreError(
      'library-missing',
      `The folder of ${name} holds no compiled library (a .wasm file), and no listed model has this name.`,
      'Add the library to the folder, give its address, or name the folder as the model is named in the list.',
    );
  }
  const find = (path: string): Blob => {
    const found = files.find((file) => file.path === path);
    if (!found)
      throw new NacreError(
        'file-missing',
        `The folder of ${name} has no file "${path}".`,
        'Choose the folder that holds all files of the model.',
      );
    return found.blob;
  };
  const manifest = files.some(({ path }) => path === MANIFEST_FILE) ? MANIFEST_FILE : 'ndarray-cache.json';
  const expected = filesOf(record, await find(CONFIG_FILE).text(), await find(manifest).text());
  const copies: { url: string; store: StoreName; blob: Blob }[] = [];
  for (const file of expected) {
    const path = fileName(file.url);
    if (file.store === STORES.library) {
      if (wasm && file.url.startsWith(base)) copies.push({ ...file, blob: wasm.blob });
      continue;
    }
    const blob = find(path === MANIFEST_FILE ? manifest : path);
    if (file.bytes !== undefined && blob.size !== file.bytes) {
      throw new NacreError(
        'file-missing',
        `${path} has ${blob.size} bytes; the manifest says ${file.bytes}.`,
        'Copy the file again: it is cut off or from another model.',
      );
    }
    copies.push({ ...file, blob });
  }
  const bytes = copies.reduce((sum, { blob }) => sum + blob.size, 0);
  const free = await freeStorage();
  if (free !== undefined && bytes > free) throw storageFull(name, bytes, free);
  try {
    for (const { url, store, blob } of copies) {
      await (await storage.open(store)).put(url, new Response(blob, { headers: { 'content-length': String(blob.size) } }));
    }
    await (await storage.open(STORES.config)).put(`${base}${NOTE_FILE}`, new Response(JSON.stringify(record)));
  } catch (thrown) {
    if (isQuotaError(thrown)) throw storageFull(name, bytes, await freeStorage());
    throw thrown;
  }
  return record;
}
