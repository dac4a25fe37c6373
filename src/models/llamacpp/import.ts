import { NacreError } from '../../core/errors.ts';
import { freeStorage, storageFull } from '../download.ts';
import { type GgufAccess, isGguf, notGguf, partsOf, storeGguf, titleOf } from './gguf-store.ts';

/**
 * Copies a GGUF file from this device, or all parts of a split one, into the store of downloaded ones.
 * @param base address under which they are kept; no host has it
 * @returns the address that `openGguf` finds them by
 * @throws {NacreError} `not-gguf`, `file-missing` for a part that lacks, `storage-full`, `no-file-storage`
 */
export async function importGguf(
  base: string,
  files: readonly { readonly path: string; readonly blob: Blob }[],
  access: GgufAccess = {},
): Promise<string> {
  const named = new Map(files.map(({ path, blob }) => [`${base}${encodeURIComponent(path.replace(/^.*[/\\]/, ''))}`, blob]));
  const first = [...named.keys()].sort()[0] ?? '';
  const parts = partsOf(first);
  const blobs = parts.map((url) => {
    const blob = named.get(url);
    if (!blob) {
      throw new NacreError(
        'file-missing',
        `${titleOf(first)} was split into ${parts.length} files, and ${decodeURIComponent(url.slice(base.length))} is not among those chosen.`,
        'Choose all of its files together.',
      );
    }
    return blob;
  });
  for (const blob of blobs) if (!(await isGguf(blob))) throw notGguf(titleOf(first));
  const bytes = blobs.reduce((sum, { size }) => sum + size, 0);
  const free = await freeStorage();
  if (free !== undefined && bytes > free) throw storageFull(titleOf(first), bytes, free);
  for (const [i, url] of parts.entries()) await storeGguf(url, first, blobs[i]!, access);
  return first;
}
