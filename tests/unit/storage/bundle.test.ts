import { strToU8, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { packBundle, unpackBundle } from '../../../src/storage/bundle.ts';

const files = new Map([
  ['run.json', strToU8('{"a":1}')],
  ['deep/weights.bin', new Uint8Array([0, 255, 7])],
]);

describe('bundle', () => {
  it('gives back what was packed, and equal bytes for equal input', async () => {
    const zip = await packBundle({ kind: 'run', files });
    const opened = await unpackBundle(zip);
    expect(opened.kind).toBe('run');
    expect([...opened.files].map(([path, bytes]) => [path, [...bytes]])).toEqual([...files].map(([path, bytes]) => [path, [...bytes]]));
    expect(await packBundle({ kind: 'run', files })).toEqual(zip);
  });

  const manifest = (entries: object[]) => strToU8(JSON.stringify({ schema: 'nacre.bundle/1', kind: 'run', files: entries }));
  const cases: [string, Uint8Array, RegExp][] = [
    ['bytes that are no zip', strToU8('hello'), /not a readable zip/],
    ['no manifest', zipSync({ 'run.json': strToU8('{}') }), /manifest.json is missing/],
    ['a manifest of another schema', zipSync({ 'manifest.json': strToU8('{"schema":"x","kind":"run","files":[]}') }), /schema/],
    ['a path that leads out', zipSync({ '../evil': strToU8('x'), 'manifest.json': manifest([]) }), /leads out/],
    ['an absolute path', zipSync({ '/etc/passwd': strToU8('x'), 'manifest.json': manifest([]) }), /leads out/],
    ['a missing file', zipSync({ 'manifest.json': manifest([{ path: 'a', bytes: 1, sha256: '0'.repeat(64) }]) }), /a is listed/],
    [
      'a wrong size',
      zipSync({ a: strToU8('xy'), 'manifest.json': manifest([{ path: 'a', bytes: 1, sha256: '0'.repeat(64) }]) }),
      /holds 2 bytes/,
    ],
    [
      'a wrong hash',
      zipSync({ a: strToU8('x'), 'manifest.json': manifest([{ path: 'a', bytes: 1, sha256: '0'.repeat(64) }]) }),
      /does not match its hash/,
    ],
    ['an unlisted file', zipSync({ b: strToU8('x'), 'manifest.json': manifest([]) }), /b is not listed/],
    [
      'a prototype key',
      zipSync({ 'manifest.json': strToU8('{"__proto__":{},"schema":"nacre.bundle/1","kind":"run","files":[]}') }),
      /forbidden key/,
    ],
    [
      'an infinite number',
      zipSync({ 'manifest.json': strToU8('{"schema":"nacre.bundle/1","kind":"run","files":[],"x":1e400}') }),
      /not finite/,
    ],
  ];
  it.each(cases)('refuses %s', async (_, zip, message) => {
    await expect(unpackBundle(zip)).rejects.toThrow(message);
  });
});
