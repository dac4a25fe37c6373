/** The Cache API in memory, as far as models use it. */
export class FakeCaches {
  readonly stores = new Map<string, Map<string, { bytes: Uint8Array; headers: [string, string][] }>>();
  /** Storing this address fails with the given error. */
  refuse: { readonly url: string; readonly error: Error } | undefined;

  get storage(): CacheStorage {
    return {
      open: async (name: string) => this.cache(name),
      has: async (name: string) => this.stores.has(name),
      match: async (url: string, { cacheName }: { cacheName: string }) =>
        this.stores.has(cacheName) ? this.cache(cacheName).match(url) : undefined,
    } as unknown as CacheStorage;
  }

  urls(store: string): string[] {
    return [...(this.stores.get(store)?.keys() ?? [])].sort();
  }

  private cache(name: string): Cache {
    const entries = this.stores.get(name) ?? new Map();
    this.stores.set(name, entries);
    return {
      match: async (url: string) => {
        const found = entries.get(url);
        return found && new Response(found.bytes, { headers: found.headers });
      },
      put: async (url: string, response: Response) => {
        if (this.refuse?.url === url) throw this.refuse.error;
        const bytes = new Uint8Array(await response.arrayBuffer());
        entries.set(url, { bytes, headers: [...response.headers] });
      },
      delete: async (url: string) => entries.delete(url),
      keys: async () => [...entries.keys()].map((url) => ({ url })),
    } as unknown as Cache;
  }
}

export const MODEL_URL = 'https://models.example/org/Tiny-0.1B-q4f32_1-MLC';
export const BASE_URL = `${MODEL_URL}/resolve/main/`;
export const LIBRARY_URL = 'https://libraries.example/tiny.wasm';
export const RECORD = { model: MODEL_URL, model_id: 'Tiny-0.1B-q4f32_1-MLC', model_lib: LIBRARY_URL };

/** The smallest module WebAssembly accepts. */
export const WASM = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0);

/** Files of a model with two shards, by address. `md5` belongs to the bytes 1, 2, 3. */
export function tinyModel(): Map<string, Uint8Array> {
  const text = (value: object): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
  const shard = (dataPath: string, nbytes: number, md5sum?: string): object => ({
    dataPath,
    nbytes,
    records: [],
    ...(md5sum ? { md5sum } : {}),
  });
  return new Map([
    [`${BASE_URL}mlc-chat-config.json`, text({ tokenizer_files: ['tokenizer.json', 'tokenizer_config.json'] })],
    [
      `${BASE_URL}tensor-cache.json`,
      text({ records: [shard('params_shard_0.bin', 3, '5289df737df57326fcdd22597afb1fac'), shard('params_shard_1.bin', 5)] }),
    ],
    [`${BASE_URL}tokenizer.json`, text({ model: {} })],
    [`${BASE_URL}params_shard_0.bin`, Uint8Array.of(1, 2, 3)],
    [`${BASE_URL}params_shard_1.bin`, Uint8Array.of(1, 2, 3, 4, 5)],
    [LIBRARY_URL, WASM],
  ]);
}

/** A server of the given files that remembers what was asked. */
export function fakeHost(files: ReadonlyMap<string, Uint8Array>) {
  const asked: string[] = [];
  const fetch = async (url: string, init: RequestInit = {}): Promise<Response> => {
    init.signal?.throwIfAborted();
    asked.push(url.slice(url.lastIndexOf('/') + 1));
    const bytes = files.get(url);
    return bytes ? new Response(bytes as BodyInit) : new Response('', { status: 404 });
  };
  return { asked, fetch };
}
