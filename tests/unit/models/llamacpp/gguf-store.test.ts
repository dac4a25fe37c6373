import { beforeEach, describe, expect, it } from 'vitest';
import type { TransferProgress } from '../../../../src/models/download.ts';
import {
  cachedGguf,
  deleteCachedGguf,
  ggufSize,
  ggufUrl,
  openGguf,
  partsOf,
  titleOf,
  verifyCachedGguf,
} from '../../../../src/models/llamacpp/gguf-store.ts';
import { FakeFolder } from './fake-opfs.ts';

const URL_ = 'https://models.example/tiny.gguf';
const BYTES = new TextEncoder().encode('GGUF0123456789');

interface Host {
  bytes: Uint8Array;
  /** Whether it can go on in the middle. */
  ranges: boolean;
  /** Sends so many bytes and breaks off. */
  cutAt?: number;
  readonly asked: string[];
}

let opfs: FakeFolder;
let host: Host;

const fetch = async (url: string, { headers, method }: RequestInit = {}): Promise<Response> => {
  const range = (headers as { Range?: string } | undefined)?.Range;
  host.asked.push(range ? `${url} ${range}` : url);
  const begin = range && host.ranges ? Number(/\d+/.exec(range)![0]) : 0;
  const whole = host.bytes.subarray(begin);
  const sent = host.cutAt === undefined ? whole : whole.subarray(0, host.cutAt);
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (sent.length > 0) controller.enqueue(sent);
        if (host.cutAt === undefined) controller.close();
        else controller.error(new TypeError('network error'));
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(method === 'HEAD' ? null : body, {
    status: begin > 0 ? 206 : 200,
    headers: { 'content-length': String(whole.length) },
  });
};
const access = () => ({ root: opfs.root, fetch });

beforeEach(() => {
  opfs = new FakeFolder();
  host = { bytes: BYTES, ranges: true, asked: [] };
});

describe('GGUF files', () => {
  it('are downloaded once', async () => {
    const seen: TransferProgress[] = [];
    const [file] = await openGguf(URL_, (progress) => seen.push(progress), access());
    expect(await file!.text()).toBe('GGUF0123456789');
    expect(seen.at(-1)).toEqual({ phase: 'download', loadedBytes: 14, totalBytes: 14 });
    await openGguf(URL_, undefined, access());
    expect(host.asked).toEqual([URL_]);
    expect(await ggufSize(URL_, access())).toBe(14);
  });

  it.each([true, false])('are completed after a break, ranges understood: %s', async (ranges) => {
    Object.assign(host, { cutAt: 6, ranges });
    await expect(openGguf(URL_, undefined, access())).rejects.toMatchObject({ code: 'host-unreachable' });
    delete host.cutAt;
    expect(await cachedGguf(access())).toEqual([{ url: URL_, title: 'tiny', bytes: 6, totalBytes: 14, complete: false }]);
    expect(await verifyCachedGguf(URL_, access())).toEqual(['tiny']);
    const [file] = await openGguf(URL_, undefined, access());
    expect(host.asked.at(-1)).toBe(`${URL_} bytes=6-`);
    expect(await file!.text()).toBe('GGUF0123456789');
    expect(await verifyCachedGguf(URL_, access())).toEqual([]);
  });

  it('begin anew when the file on the server has changed meanwhile', async () => {
    host.cutAt = 6;
    await expect(openGguf(URL_, undefined, access())).rejects.toMatchObject({ code: 'host-unreachable' });
    delete host.cutAt;
    host.bytes = new TextEncoder().encode('GGUFnew and longer');
    const [file] = await openGguf(URL_, undefined, access());
    expect(await file!.text()).toBe('GGUFnew and longer');
  });

  it('are refused and forgotten when they are something else', async () => {
    host.bytes = new TextEncoder().encode('<html>');
    await expect(openGguf(URL_, undefined, access())).rejects.toMatchObject({ code: 'not-gguf' });
    expect(await cachedGguf(access())).toEqual([]);
  });

  it('say when the disk is full and when they were called off', async () => {
    // Room for the note, and not for the file.
    opfs.room = 200;
    host.bytes = new Uint8Array(400);
    await expect(openGguf(URL_, undefined, access())).rejects.toMatchObject({ code: 'storage-full' });
    opfs.room = 1e6;
    const abort = new AbortController();
    host.cutAt = 3;
    const stop = (): void => abort.abort(new Error('enough'));
    await expect(openGguf(URL_, stop, { ...access(), signal: abort.signal })).rejects.toThrow('enough');
    await expect(openGguf(URL_)).rejects.toMatchObject({ code: 'no-file-storage' });
  });

  it('of a split model belong together', async () => {
    const first = 'https://models.example/big-00001-of-00003.gguf?download=true';
    expect(partsOf(first).map((part) => part.slice(26))).toEqual([1, 2, 3].map((i) => `-0000${i}-of-00003.gguf?download=true`));
    const seen: TransferProgress[] = [];
    expect(await openGguf(first, (progress) => seen.push(progress), access())).toHaveLength(3);
    expect(seen[0]!.totalBytes).toBe(42);
    expect(seen.at(-1)).toMatchObject({ loadedBytes: 42, totalBytes: 42 });
    const stored = { url: first, title: 'big', bytes: 42, totalBytes: 42, complete: true };
    expect(await cachedGguf(access())).toEqual([stored]);
    expect(await deleteCachedGguf(first, access())).toBe(42);
    expect(opfs.files.size).toBe(0);
    expect(await deleteCachedGguf(first, access())).toBe(0);
  });

  it('that are damaged are found, and deleted on request', async () => {
    await openGguf(URL_, undefined, access());
    const name = [...opfs.files.keys()].find((each) => each.endsWith('.gguf'))!;
    opfs.files.set(name, new TextEncoder().encode('JUNK0123456789'));
    expect(await verifyCachedGguf(URL_, { ...access(), repair: true })).toEqual(['tiny']);
    expect(opfs.files.size).toBe(0);
  });

  it('survive a note that a crash left empty', async () => {
    await openGguf(URL_, undefined, access());
    const note = [...opfs.files.keys()].find((each) => each.endsWith('.json'))!;
    opfs.files.set(note, new Uint8Array());
    expect(await cachedGguf(access())).toEqual([]);
    const [file] = await openGguf(URL_, undefined, access());
    expect(file!.size).toBe(14);
  });

  it('are known by their page on Hugging Face, and named by their file', () => {
    expect(ggufUrl('https://huggingface.co/org/model/blob/main/a.gguf')).toBe('https://huggingface.co/org/model/resolve/main/a.gguf');
    expect(ggufUrl('https://example.org/blob/main/a.gguf')).toBe('https://example.org/blob/main/a.gguf');
    expect(titleOf('https://x/y/Qwen3%200.6B-Q8_0.gguf?download=true')).toBe('Qwen3 0.6B-Q8_0');
  });
});
