import { NacreError } from '../../core/errors.ts';
import { sha256Hex } from '../../core/hash.ts';
import { type Fetch, fetchFile, freeStorage, isQuotaError, type OnTransfer, storageFull, unreachable } from '../download.ts';

/** Folder of the origin private file system that holds downloaded GGUF files. */
const FOLDER = 'nacre-gguf';
const MAGIC = 'GGUF';

/** What is known of a downloaded file, beside it as JSON. */
interface Note {
  readonly url: string;
  /** Address of the model's first file: files of a split model belong together. */
  readonly model: string;
  /** Size of the whole file; 0 where the server did not say. */
  readonly bytes: number;
  readonly complete: boolean;
}

export interface CachedGguf {
  /** Address of the (first) file: what names it for `deleteCachedGguf` and `verifyCachedGguf`. */
  readonly url: string;
  readonly title: string;
  /** Stored so far. */
  readonly bytes: number;
  readonly totalBytes: number;
  readonly complete: boolean;
}

export interface GgufAccess {
  /** Stands in for the origin private file system. */
  readonly root?: FileSystemDirectoryHandle;
  readonly fetch?: Fetch;
  readonly signal?: AbortSignal;
}

/** The addresses of all files of a model that was split by `llama-gguf-split` (`…-00001-of-00003.gguf`), or its only one. */
export function partsOf(url: string): readonly string[] {
  const found = /-\d{5}-of-(\d{5})(\.gguf(?:[?#].*)?)$/.exec(url);
  if (!found) return [url];
  const base = url.slice(0, found.index);
  return Array.from({ length: Number(found[1]) }, (_, i) => `${base}-${String(i + 1).padStart(5, '0')}-of-${found[1]}${found[2]}`);
}

/** The address of the file itself for the address of its page on Hugging Face. */
export function ggufUrl(url: string): string {
  return url.replace(/^(https:\/\/huggingface\.co\/[^/]+\/[^/]+)\/blob\//, '$1/resolve/');
}

/** What a download would bring, in bytes; 0 where the server does not say. @throws {NacreError} what `fetchFile` says */
export async function ggufSize(url: string, access: GgufAccess = {}): Promise<number> {
  let bytes = 0;
  for (const part of partsOf(ggufUrl(url))) {
    const response = await fetchFile(part, { method: 'HEAD', ...signalOf(access) }, access.fetch);
    bytes += Number(response.headers.get('content-length') ?? 0);
  }
  return bytes;
}

/**
 * The files of a GGUF model at an address, from the store or downloaded into it. What an interrupted download has brought is kept, and
 * the next one goes on there. Runs in workers only: pages may not write files in place.
 * @throws {NacreError} what `fetchFile` says, `storage-full`, `not-gguf`, `no-file-storage`; the signal's reason when it is aborted
 */
export async function openGguf(address: string, onTransfer?: OnTransfer, access: GgufAccess = {}): Promise<File[]> {
  const folder = await openFolder(access);
  const model = ggufUrl(address);
  const parts = partsOf(model);
  const sizes = new Map<string, { loaded: number; total: number }>();
  const files: File[] = [];
  for (const url of parts) {
    const report = (loaded: number, total: number): void => {
      sizes.set(url, { loaded, total });
      const all = [...sizes.values()];
      const sum = (of: (size: { loaded: number; total: number }) => number): number => all.reduce((before, size) => before + of(size), 0);
      // Parts are split to one size, so those to come are about as large as the first.
      const ahead = (parts.length - all.length) * (all[0]?.total ?? 0);
      onTransfer?.({ phase: 'download', loadedBytes: sum((size) => size.loaded), totalBytes: sum((size) => size.total) + ahead });
    };
    await download(folder, url, model, report, access);
    files.push(await (await folder.getFileHandle(`${keyOf(url)}.gguf`)).getFile());
  }
  return files;
}

/** Keeps a file as if it had been downloaded from `url`; `model` is the address of the model's first file. */
export async function storeGguf(url: string, model: string, blob: Blob, access: GgufAccess = {}): Promise<void> {
  const folder = await openFolder(access);
  const key = keyOf(url);
  await writeNote(folder, `${key}.json`, { url, model, bytes: blob.size, complete: false });
  const received = await append(folder, `${key}.gguf`, new Response(blob), 0, () => undefined, access, url);
  await writeNote(folder, `${key}.json`, { url, model, bytes: received, complete: received === blob.size });
}

/** Every model of which something is stored. */
export async function cachedGguf(access: GgufAccess = {}): Promise<CachedGguf[]> {
  const folder = await openFolder(access);
  const models = new Map<string, CachedGguf & { parts: number }>();
  for (const { note, stored } of await storedNotes(folder)) {
    const before = models.get(note.model);
    models.set(note.model, {
      url: note.model,
      title: titleOf(note.model),
      bytes: (before?.bytes ?? 0) + stored,
      totalBytes: (before?.totalBytes ?? 0) + Math.max(note.bytes, stored),
      complete: (before?.complete ?? true) && note.complete,
      parts: (before?.parts ?? 0) + 1,
    });
  }
  return [...models.values()]
    .map(({ parts, ...model }) => ({ ...model, complete: model.complete && parts === partsOf(model.url).length }))
    .sort((a, b) => a.title.localeCompare(b.title));
}

/** Deletes a model. @returns the bytes set free, 0 when nothing was stored */
export async function deleteCachedGguf(url: string, access: GgufAccess = {}): Promise<number> {
  const folder = await openFolder(access);
  let freed = 0;
  for (const { note, stored } of await storedNotes(folder)) {
    if (note.model !== ggufUrl(url)) continue;
    const key = keyOf(note.url);
    await removeIfThere(folder, `${key}.gguf`);
    await removeIfThere(folder, `${key}.json`);
    freed += stored;
  }
  return freed;
}

/** Names of a stored model's files that are cut off or no GGUF files; GGUF has no checksums. `repair` deletes them. */
export async function verifyCachedGguf(url: string, options: GgufAccess & { readonly repair?: boolean } = {}): Promise<readonly string[]> {
  const folder = await openFolder(options);
  const damaged: string[] = [];
  for (const { note, stored } of await storedNotes(folder)) {
    if (note.model !== ggufUrl(url)) continue;
    const key = keyOf(note.url);
    const right = stored > 0 && (note.bytes === 0 || stored === note.bytes) && (await isGguf(await fileAt(folder, `${key}.gguf`)));
    if (right && note.complete) continue;
    damaged.push(titleOf(note.url));
    if (!options.repair) continue;
    await removeIfThere(folder, `${key}.gguf`);
    await removeIfThere(folder, `${key}.json`);
  }
  return damaged;
}

export async function isGguf(file: Blob | undefined): Promise<boolean> {
  return file !== undefined && (await file.slice(0, 4).text()) === MAGIC;
}

export function notGguf(name: string): NacreError {
  return new NacreError(
    'not-gguf',
    `${name} is not a GGUF file.`,
    'Choose a file whose name ends in .gguf; on Hugging Face, take the address behind "download".',
  );
}

/** The last part of an address, without the numbers of a split file. */
export function titleOf(url: string): string {
  const path = url.replace(/[?#].*$/, '');
  return decodeURIComponent(path.slice(path.lastIndexOf('/') + 1)).replace(/(?:-00001-of-\d{5})?\.gguf$/, '');
}

/** Gets one file, from where an earlier download stopped. */
async function download(
  folder: FileSystemDirectoryHandle,
  url: string,
  model: string,
  report: (loaded: number, total: number) => void,
  access: GgufAccess,
): Promise<void> {
  const key = keyOf(url);
  const note = await readNote(folder, `${key}.json`);
  const stored = (await fileAt(folder, `${key}.gguf`))?.size ?? 0;
  if (note?.complete && stored === note.bytes) {
    report(stored, stored);
    return;
  }
  const init = { ...signalOf(access), ...(stored > 0 ? { headers: { Range: `bytes=${stored}-` } } : {}) };
  const response = await fetchFile(url, init, access.fetch);
  // A server that cannot go on in the middle sends the whole file.
  const begin = response.status === 206 ? stored : 0;
  const length = Number(response.headers.get('content-length') ?? 0);
  const bytes = length === 0 ? 0 : begin + length;
  if (begin > 0 && note && note.bytes > 0 && bytes > 0 && bytes !== note.bytes) {
    // The file on the server is another one than before.
    await response.body?.cancel();
    await removeIfThere(folder, `${key}.gguf`);
    return download(folder, url, model, report, access);
  }
  const free = await freeStorage();
  if (free !== undefined && length > free) throw storageFull(titleOf(url), length, free);
  await writeNote(folder, `${key}.json`, { url, model, bytes, complete: false });
  const received = await append(folder, `${key}.gguf`, response, begin, (loaded) => report(loaded, bytes), access, url);
  if (bytes > 0 && received !== bytes) throw unreachable(url, new Error(`${received} of ${bytes} bytes came`));
  if (!(await isGguf(await fileAt(folder, `${key}.gguf`)))) {
    await removeIfThere(folder, `${key}.gguf`);
    await removeIfThere(folder, `${key}.json`);
    throw notGguf(url);
  }
  await writeNote(folder, `${key}.json`, { url, model, bytes: received, complete: true });
}

/** Writes a response behind the first `begin` bytes of a file. @returns the file's size then */
async function append(
  folder: FileSystemDirectoryHandle,
  name: string,
  response: Response,
  begin: number,
  report: (loaded: number) => void,
  access: GgufAccess,
  url: string,
): Promise<number> {
  const handle = await openForWriting(folder, name);
  let at = begin;
  try {
    handle.truncate(begin);
    const reader = response.body?.getReader();
    for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
      at += handle.write(read.value, { at });
      report(at);
    }
    return at;
  } catch (thrown) {
    access.signal?.throwIfAborted();
    if (isQuotaError(thrown)) throw storageFull(titleOf(url), at, await freeStorage());
    throw unreachable(url, thrown);
  } finally {
    handle.flush();
    handle.close();
  }
}

async function openForWriting(folder: FileSystemDirectoryHandle, name: string): Promise<FileSystemSyncAccessHandle> {
  const file = await folder.getFileHandle(name, { create: true });
  if (!('createSyncAccessHandle' in file)) throw noStorage();
  try {
    return await file.createSyncAccessHandle();
  } catch (thrown) {
    if (!(thrown instanceof DOMException) || thrown.name !== 'NoModificationAllowedError') throw thrown;
    throw new NacreError(
      'model-in-use',
      'Another page of Nacre is downloading or using this model.',
      'Wait until it has finished, or close the other page.',
      { cause: thrown },
    );
  }
}

async function openFolder({ root }: GgufAccess): Promise<FileSystemDirectoryHandle> {
  if (!root && (typeof navigator === 'undefined' || !navigator.storage?.getDirectory)) throw noStorage();
  return (root ?? (await navigator.storage.getDirectory())).getDirectoryHandle(FOLDER, { create: true });
}

async function storedNotes(folder: FileSystemDirectoryHandle): Promise<{ note: Note; stored: number }[]> {
  const found: { note: Note; stored: number }[] = [];
  const names: string[] = [];
  for await (const [name] of folder as unknown as AsyncIterable<[string, FileSystemHandle]>) names.push(name);
  for (const name of names.filter((each) => each.endsWith('.json'))) {
    const note = await readNote(folder, name);
    if (note) found.push({ note, stored: (await fileAt(folder, name.replace(/json$/, 'gguf')))?.size ?? 0 });
  }
  return found;
}

async function readNote(folder: FileSystemDirectoryHandle, name: string): Promise<Note | undefined> {
  const text = await (await fileAt(folder, name))?.text();
  // A crash while a note was written leaves it empty: the file is then as good as absent.
  return text ? (JSON.parse(text) as Note) : undefined;
}

async function writeNote(folder: FileSystemDirectoryHandle, name: string, note: Note): Promise<void> {
  const handle = await openForWriting(folder, name);
  try {
    const bytes = new TextEncoder().encode(JSON.stringify(note));
    handle.truncate(0);
    handle.write(bytes, { at: 0 });
  } finally {
    handle.flush();
    handle.close();
  }
}

async function fileAt(folder: FileSystemDirectoryHandle, name: string): Promise<File | undefined> {
  try {
    return await (await folder.getFileHandle(name)).getFile();
  } catch (thrown) {
    if (thrown instanceof DOMException && thrown.name === 'NotFoundError') return undefined;
    throw thrown;
  }
}

async function removeIfThere(folder: FileSystemDirectoryHandle, name: string): Promise<void> {
  if (await fileAt(folder, name)) await folder.removeEntry(name);
}

function keyOf(url: string): string {
  return sha256Hex(url).slice(0, 32);
}

function signalOf({ signal }: GgufAccess): RequestInit {
  return signal === undefined ? {} : { signal };
}

function noStorage(): NacreError {
  return new NacreError(
    'no-file-storage',
    'This browser does not let the page keep files (origin private file system).',
    'Use a recent browser outside private mode, or open the GGUF file from this device: that needs no storage.',
  );
}
