import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { folderSource } from '../../../scripts/cli/node-files.ts';
import {
  directorySource,
  type FileSource,
  memorySource,
  pickedFilesSource,
  readText,
  readTextIfPresent,
  safePath,
  urlSource,
} from '../../../src/transformer/file-source.ts';

const FILES: Readonly<Record<string, string>> = { 'a.json': '{"a": 1}', 'b c.txt': 'second' };

let server: Server;
let base = '';
let folder = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'nacre-'));
  for (const [path, text] of Object.entries(FILES)) writeFileSync(join(folder, path), text);
  server = createServer((request, response) => {
    const path = decodeURIComponent((request.url ?? '').replace('/models/m/', ''));
    if (path === 'page') response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>');
    else if (path === 'broken') response.writeHead(503).end();
    else if (Object.hasOwn(FILES, path)) response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(FILES[path]);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as { port: number }).port}/models/m`;
});

afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

function picked(): File[] {
  return Object.entries(FILES).map(([path, text]) => {
    const file = new File([text], path);
    Object.defineProperty(file, 'webkitRelativePath', { value: `my-model/${path}` });
    return file;
  });
}

/** Just enough of the File System Access API: a folder of flat files. */
function handle(): FileSystemDirectoryHandle {
  const missing = (): never => {
    throw new DOMException('no such entry', 'NotFoundError');
  };
  const fake = {
    name: 'my-model',
    getFileHandle: async (path: string) =>
      Object.hasOwn(FILES, path) ? { getFile: async () => new File([FILES[path]], path) } : missing(),
    getDirectoryHandle: async () => missing(),
  };
  return fake as unknown as FileSystemDirectoryHandle;
}

const SOURCES: [string, () => FileSource][] = [
  ['memory', () => memorySource('memory', new Map(Object.entries(FILES).map(([path, text]) => [path, new TextEncoder().encode(text)])))],
  ['an address', () => urlSource(base)],
  ['an address with a slash', () => urlSource(`${base}/`)],
  ['picked files', () => pickedFilesSource(picked())],
  ['a directory handle', () => directorySource(handle())],
  ['a folder on disk', () => folderSource(folder)],
];

describe.each(SOURCES)('%s', (_, make) => {
  it('reads files and reports the bytes', async () => {
    const received: number[] = [];
    expect(await readText(make(), 'a.json', { onBytes: (count) => received.push(count) })).toBe(FILES['a.json']);
    expect(received.at(-1)).toBe(8);
    expect(await readText(make(), 'b c.txt')).toBe('second');
  });

  it('says which file is missing', async () => {
    await expect(make().read('tokenizer.json')).rejects.toMatchObject({
      code: 'file-missing',
      message: expect.stringContaining('"tokenizer.json"'),
    });
    await expect(make().read('sub/x.bin')).rejects.toMatchObject({ code: 'file-missing' });
    expect(await readTextIfPresent(make(), 'nothing.txt')).toBeUndefined();
  });

  it('does not leave its folder', async () => {
    await expect(make().read('../secret')).rejects.toMatchObject({ code: 'bad-path' });
  });
});

describe('an address', () => {
  it('takes a page of HTML for a missing file', async () => {
    await expect(urlSource(base).read('page')).rejects.toMatchObject({ code: 'file-missing' });
  });

  it('reports a server that fails or cannot be reached, and stops when cancelled', async () => {
    await expect(urlSource(base).read('broken')).rejects.toMatchObject({
      code: 'download-failed',
      message: expect.stringContaining('503'),
    });
    await expect(urlSource('http://127.0.0.1:1/x').read('a.json')).rejects.toMatchObject({ code: 'download-failed' });
    await expect(urlSource(base).read('a.json', { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
    expect(() => urlSource('not an address')).toThrow(expect.objectContaining({ code: 'bad-address' }) as Error);
  });
});

it.each(['', '/etc/passwd', 'a//b', 'a/../b', './a', 'c:\\x', 'http://x/y', 'a\\b'])('the path "%s" is refused', (path) => {
  expect(() => safePath(path)).toThrow(expect.objectContaining({ code: 'bad-path' }) as Error);
});

it('picked files without a folder keep their names', async () => {
  expect(await pickedFilesSource([new File(['x'], 'a.bin')]).list?.()).toEqual(['a.bin']);
});
