import { existsSync, statSync } from 'node:fs';
import { mkdir, open, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NacreError } from '../../src/core/errors.ts';
import { isShipped, SHIPPED_MODELS } from '../../src/models/own/source.ts';
import { type FileSource, fileMissing, isGgufName, safePath } from '../../src/transformer/file-source.ts';
import type { RandomAccessFile } from '../../src/transformer/random-access.ts';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

/** A path as the person who typed it meant it: relative to where the command was started. */
export function userPath(path: string): string {
  return resolve(process.env.NACRE_CWD ?? process.cwd(), path);
}

/** The files of a folder on disk. */
export function folderSource(folder: string): FileSource {
  return {
    name: folder,
    async read(path, options) {
      try {
        const bytes = await readFile(join(folder, safePath(path)), options?.signal === undefined ? {} : { signal: options.signal });
        options?.onBytes?.(bytes.length);
        return bytes;
      } catch (cause) {
        if (hasCode(cause, 'ENOENT') || hasCode(cause, 'ENOTDIR')) throw fileMissing(folder, path);
        throw cause;
      }
    },
    list: async () => readdir(folder),
  };
}

/**
 * @param option the option that names the file; none where it is an argument
 * @throws {NacreError} `file-missing` naming the option and the file.
 */
export async function readUserFile(option: string | undefined, path: string): Promise<Uint8Array> {
  const where = option === undefined ? '' : `--${option}: `;
  try {
    return await readFile(userPath(path));
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) throw new NacreError('file-missing', `${where}there is no file "${path}".`, 'Check the path.', { cause });
    if (hasCode(cause, 'EISDIR')) throw new NacreError('file-missing', `${where}"${path}" is a folder.`, 'Give a file.', { cause });
    throw cause;
  }
}

/** A text file in UTF-8. @throws {NacreError} `file-missing`; `not-utf8` naming the option and the file. */
export async function readUserText(option: string | undefined, path: string): Promise<string> {
  const bytes = await readUserFile(option, path);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    const where = option === undefined ? '' : `--${option}: `;
    throw new NacreError('not-utf8', `${where}"${path}" is not text in UTF-8.`, 'Save it again with the encoding UTF-8.', { cause });
  }
}

/** A GGUF file on disk, read in parts; it is also a file of its folder. */
export function ggufFileSource(path: string): FileSource {
  const name = basename(path);
  return {
    ...folderSource(dirname(path)),
    async openGguf(): Promise<RandomAccessFile> {
      return { name, size: (await stat(path)).size, read: (from, to) => readPart(path, from, to) };
    },
  };
}

async function readPart(path: string, from: number, to: number): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const bytes = new Uint8Array(to - from);
    for (let done = 0; done < bytes.length; ) {
      const { bytesRead } = await file.read(bytes, done, bytes.length - done, from + done);
      if (bytesRead === 0)
        throw new NacreError('file-changed', `${path} became shorter while it was read.`, 'Try again when it is complete.');
      done += bytesRead;
    }
    return bytes;
  } finally {
    await file.close();
  }
}

/** A model on disk: a folder in MLC format, or one GGUF file in it. */
export interface ModelFolder {
  readonly id: string;
  readonly source: FileSource;
  readonly folder: string;
  /** Name of the GGUF file, where the model is one. */
  readonly gguf?: string;
}

/**
 * Finds the model that `--model` or `--from` names: one that comes with the program, a folder in MLC format, or a GGUF file.
 * @throws {NacreError} `unknown-model` or `unsupported-file`.
 */
export function findModel(option: string, name: string): ModelFolder {
  const path = userPath(name);
  if (existsSync(path)) {
    if (statSync(path).isDirectory()) return { id: basename(path), source: folderSource(path), folder: path };
    if (isGgufName(path)) return { id: basename(path), source: ggufFileSource(path), folder: dirname(path), gguf: basename(path) };
    throw new NacreError(
      'unsupported-file',
      `--${option}: "${name}" is a file of an unknown kind.`,
      'Give the folder of a model in MLC format, or a .gguf file.',
    );
  }
  if (isShipped(name)) {
    const folder = join(ROOT, 'public/models', name);
    return { id: name, source: folderSource(folder), folder };
  }
  throw new NacreError(
    'unknown-model',
    `--${option}: "${name}" is neither a shipped model nor a folder or file.`,
    `Shipped: ${SHIPPED_MODELS.join(', ')}; otherwise give the folder of a model in MLC format, or a .gguf file.`,
  );
}

/** Writes one file below a folder, making the folder if need be; returns its size. */
export async function writeInto(folder: string, path: string, bytes: Uint8Array): Promise<number> {
  const target = join(folder, safePath(path));
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, bytes);
  return bytes.length;
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
