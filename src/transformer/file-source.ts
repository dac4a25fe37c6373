import { NacreError } from '../core/errors.ts';
import { blobFile, bytesFile, type RandomAccessFile } from './random-access.ts';

export interface ReadOptions {
  readonly signal?: AbortSignal;
  /** Bytes of this file received so far. */
  readonly onBytes?: (received: number) => void;
}

/** A place that holds a model's files: a folder, an address, memory. Paths are relative, with forward slashes. */
export interface FileSource {
  /** How messages call it. */
  readonly name: string;
  /** @throws {NacreError} `file-missing` when there is no such file. */
  read(path: string, options?: ReadOptions): Promise<Uint8Array>;
  list?(): Promise<string[]>;
  /** Opens the one GGUF file that is the whole model, for sources that are one. */
  openGguf?(options?: ReadOptions): Promise<RandomAccessFile>;
}

export function isGgufName(path: string): boolean {
  return path.toLowerCase().endsWith('.gguf');
}

/** A source that is one GGUF file in memory, picked by a person, or at an address (which is downloaded as a whole). */
export function ggufSource(name: string, from: Uint8Array | Blob | URL): FileSource {
  return {
    name,
    read: async (path) => {
      throw fileMissing(name, path);
    },
    async openGguf(options) {
      if (from instanceof Uint8Array) return bytesFile(name, from);
      if (from instanceof Blob) return blobFile(name, from);
      const file = from.pathname.split('/').at(-1) ?? '';
      return bytesFile(name, await urlSource(new URL('.', from)).read(decodeURIComponent(file), options));
    },
  };
}

export function fileMissing(source: string, path: string): NacreError {
  return new NacreError('file-missing', `${source} has no file "${path}".`, 'Choose the folder that holds all files of the model.');
}

export function isFileMissing(error: unknown): boolean {
  return error instanceof NacreError && error.code === 'file-missing';
}

/** A path that stays below its folder. @throws {NacreError} `bad-path` otherwise. */
export function safePath(path: string): string {
  const parts = path.split('/');
  const bad =
    path === '' || path.includes('\\') || path.includes(':') || parts.some((part) => part === '' || part === '.' || part === '..');
  if (bad)
    throw new NacreError(
      'bad-path',
      `"${path}" is not a path inside the model's folder.`,
      'The model refers to files outside its folder: do not use it.',
    );
  return path;
}

/** Reads the text of a file. */
export async function readText(source: FileSource, path: string, options?: ReadOptions): Promise<string> {
  return new TextDecoder().decode(await source.read(path, options));
}

/** The text of a file, or undefined where the source has no such file. */
export async function readTextIfPresent(source: FileSource, path: string, options?: ReadOptions): Promise<string | undefined> {
  try {
    return await readText(source, path, options);
  } catch (error) {
    if (isFileMissing(error)) return undefined;
    throw error;
  }
}

export function memorySource(name: string, files: ReadonlyMap<string, Uint8Array>): FileSource {
  return {
    name,
    async read(path, options) {
      const bytes = files.get(safePath(path));
      if (bytes === undefined) throw fileMissing(name, path);
      options?.onBytes?.(bytes.length);
      return bytes;
    },
    list: async () => [...files.keys()],
  };
}

/**
 * Files below an address. A page of HTML in place of a file counts as missing: servers of single-page applications answer
 * so to any unknown path.
 */
export function urlSource(base: string | URL): FileSource {
  const root = rootUrl(String(base));
  return {
    name: root.href,
    async read(path, options) {
      const url = new URL(safePath(path).split('/').map(encodeURIComponent).join('/'), root);
      const response = await request(url, options?.signal);
      const type = response.headers.get('content-type') ?? '';
      if (response.status === 404 || (response.ok && type.startsWith('text/html'))) throw fileMissing(root.href, path);
      if (!response.ok) {
        throw new NacreError(
          'download-failed',
          `${url.href} answered ${response.status} ${response.statusText}.`,
          'Check the address, or try again later.',
        );
      }
      return collect(response, options?.onBytes);
    },
  };
}

function rootUrl(base: string): URL {
  // A page and its workers resolve relative addresses against their own.
  const own = globalThis.location?.href;
  try {
    return new URL(`${base.replace(/\/+$/, '')}/`, own);
  } catch (cause) {
    throw new NacreError('bad-address', `"${base}" is not an address.`, 'Give the address of the model folder, beginning with https://.', {
      cause,
    });
  }
}

async function request(url: URL, signal: AbortSignal | undefined): Promise<Response> {
  try {
    return await fetch(url, signal === undefined ? {} : { signal });
  } catch (cause) {
    if (signal?.aborted === true) throw cause;
    throw new NacreError(
      'download-failed',
      `${url.href} cannot be reached.`,
      'Check the address and the connection; the server must also allow other sites (CORS).',
      {
        cause,
      },
    );
  }
}

async function collect(response: Response, onBytes: ((received: number) => void) | undefined): Promise<Uint8Array> {
  if (response.body === null || onBytes === undefined) return new Uint8Array(await response.arrayBuffer());
  const chunks: Uint8Array[] = [];
  let received = 0;
  const reader = response.body.getReader();
  for (let step = await reader.read(); !step.done; step = await reader.read()) {
    chunks.push(step.value);
    received += step.value.length;
    onBytes(received);
  }
  const whole = new Uint8Array(received);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

/** Files a person picked or dropped. A common first folder of their relative paths is left out. */
export function pickedFilesSource(files: readonly File[]): FileSource {
  // Empty for single files, and absent where files were not picked by a page (Node, some workers).
  const paths = files.map((file) => file.webkitRelativePath || file.name);
  const first = paths[0]?.split('/')[0];
  const folder = paths.length > 0 && paths.every((path) => path.startsWith(`${first}/`)) ? `${first}/` : '';
  const byPath = new Map(files.map((file, index) => [paths[index].slice(folder.length), file]));
  const name = folder === '' ? 'the chosen files' : `the folder ${folder.slice(0, -1)}`;
  return {
    name,
    async read(path, options) {
      const file = byPath.get(safePath(path));
      if (file === undefined) throw fileMissing(name, path);
      const bytes = new Uint8Array(await file.arrayBuffer());
      options?.onBytes?.(bytes.length);
      return bytes;
    },
    list: async () => [...byPath.keys()],
  };
}

/** A folder opened through the File System Access API or the origin-private file system. */
export function directorySource(handle: FileSystemDirectoryHandle): FileSource {
  const name = `the folder ${handle.name}`;
  return {
    name,
    async read(path, options) {
      const parts = safePath(path).split('/');
      try {
        let folder = handle;
        for (const part of parts.slice(0, -1)) folder = await folder.getDirectoryHandle(part);
        const file = await (await folder.getFileHandle(parts[parts.length - 1])).getFile();
        const bytes = new Uint8Array(await file.arrayBuffer());
        options?.onBytes?.(bytes.length);
        return bytes;
      } catch (cause) {
        if (cause instanceof DOMException && cause.name === 'NotFoundError') throw fileMissing(name, path);
        throw cause;
      }
    },
  };
}
