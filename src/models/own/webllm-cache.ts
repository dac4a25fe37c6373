import { NacreError } from '../../core/errors.ts';
import { type FileSource, fileMissing, safePath } from '../../transformer/file-source.ts';
import { CONFIG_FILE } from '../../transformer/mlc/config.ts';

/** Names that WebLLM gives its stores in the Cache API: weights, manifest and tokenizer in one, configurations in the other. */
const MODEL_CACHE = 'webllm/model';
const CONFIG_CACHE = 'webllm/config';

/**
 * The files of a model that WebLLM has already downloaded into this browser's Cache API (its default store), so that the
 * own runtime need not download them again.
 * @param modelUrl the model's address, e.g. `https://huggingface.co/mlc-ai/Qwen3-0.6B-q4f16_1-MLC`.
 */
export function webllmCacheSource(modelUrl: string, storage: CacheStorage = browserCaches()): FileSource {
  const base = filesUrl(modelUrl);
  const name = `WebLLM's cache of ${modelUrl}`;
  return {
    name,
    async read(path, options) {
      const url = new URL(safePath(path), base).href;
      // `match` with a name that does not exist finds nothing; `open` would create an empty store.
      const response = await storage.match(url, { cacheName: path === CONFIG_FILE ? CONFIG_CACHE : MODEL_CACHE });
      if (response === undefined) throw fileMissing(name, path);
      const bytes = new Uint8Array(await response.arrayBuffer());
      options?.onBytes?.(bytes.length);
      return bytes;
    },
  };
}

/** Addresses of the models whose configuration WebLLM has stored; their weights may have been deleted since. */
export async function webllmCachedModels(storage: CacheStorage = browserCaches()): Promise<string[]> {
  if (!(await storage.has(CONFIG_CACHE))) return [];
  const requests = await (await storage.open(CONFIG_CACHE)).keys();
  const ending = `/${CONFIG_FILE}`;
  const urls = requests.map(({ url }) => url).filter((url) => url.endsWith(ending));
  return urls.map((url) => url.slice(0, -ending.length).replace(/\/resolve\/main$/, ''));
}

/** The address of a model's folder. Files on Hugging Face lie below `resolve/<revision>/`; addresses that name a revision are used as they are. */
export function filesUrl(modelUrl: string): string {
  const clean = modelUrl.replace(/\/+$/, '');
  return clean.includes('/resolve/') ? `${clean}/` : `${clean}/resolve/main/`;
}

function browserCaches(): CacheStorage {
  if (typeof caches === 'undefined') {
    throw new NacreError('no-cache-storage', 'This page cannot use the browser cache.', 'Open it over https or from localhost.');
  }
  return caches;
}
