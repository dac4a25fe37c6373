import { cachedGguf, deleteCachedGguf, type GgufAccess, verifyCachedGguf } from './llamacpp/gguf-store.ts';
import { cachedModels, deleteCached, verifyCached } from './webllm/cache.ts';
import type { FilesAccess } from './webllm/files.ts';

/** A model in this browser's storage, whichever runtime it was downloaded for. */
export interface StoredModel {
  readonly kind: 'webllm' | 'gguf';
  /** What names it for `deleteStored` and `verifyStored`. */
  readonly url: string;
  readonly title: string;
  readonly bytes: number;
  /** Whether it loads without a download. */
  readonly complete: boolean;
}

export interface StoredAccess {
  readonly webllm?: FilesAccess;
  readonly gguf?: GgufAccess;
}

/** Everything that is stored, the largest first. */
export async function storedModels({ webllm, gguf }: StoredAccess = {}): Promise<StoredModel[]> {
  const [folders, files] = await Promise.all([cachedModels(webllm), cachedGguf(gguf)]);
  const listed = (kind: StoredModel['kind'], { url, title, bytes, complete }: Omit<StoredModel, 'kind'>): StoredModel => ({
    kind,
    url,
    title,
    bytes,
    complete,
  });
  const all = [...folders.map((model) => listed('webllm', model)), ...files.map((model) => listed('gguf', model))];
  return all.sort((a, b) => b.bytes - a.bytes);
}

/** Deletes a model with all that belongs to it. @returns the bytes set free */
export function deleteStored({ kind, url }: Pick<StoredModel, 'kind' | 'url'>, { webllm, gguf }: StoredAccess = {}): Promise<number> {
  return kind === 'webllm' ? deleteCached(url, webllm) : deleteCachedGguf(url, gguf);
}

/**
 * Reads a stored model and names the files that are damaged or missing; none when it is right.
 * @param repair deletes damaged files, so that loading the model gets them again
 */
export async function verifyStored(
  { kind, url }: Pick<StoredModel, 'kind' | 'url'>,
  repair = false,
  { webllm, gguf }: StoredAccess = {},
): Promise<readonly string[]> {
  if (kind === 'gguf') return verifyCachedGguf(url, { ...gguf, repair });
  const { missing, damaged } = await verifyCached(url, { ...webllm, repair });
  return [...damaged, ...missing];
}
