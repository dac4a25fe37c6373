import { afterEach, expect, it } from 'vitest';
import { loadModel } from '../../src/models/own/source.ts';
import { webllmCachedModels, webllmCacheSource } from '../../src/models/own/webllm-cache.ts';
import { urlSource } from '../../src/transformer/file-source.ts';

const fixture = urlSource(new URL('/tests/fixtures/stories260K', location.origin));
const MODEL = 'https://huggingface.co/example/stories260K-q0f16-MLC';

afterEach(async () => {
  await caches.delete('webllm/model');
  await caches.delete('webllm/config');
});

it('reads a model where WebLLM keeps it', async () => {
  expect(await webllmCachedModels()).toEqual([]);
  const store = async (cache: string, paths: string[]): Promise<void> => {
    for (const path of paths) {
      await (await caches.open(cache)).put(`${MODEL}/resolve/main/${path}`, new Response((await fixture.read(path)) as BufferSource));
    }
  };
  await store('webllm/config', ['mlc-chat-config.json']);
  await store('webllm/model', ['tensor-cache.json', 'params_shard_0.bin', 'tokenizer.json']);
  expect(await webllmCachedModels()).toEqual([MODEL]);
  const model = await loadModel(webllmCacheSource(MODEL), 'cached');
  expect(model.parameters).toBe(260032);
  // WebLLM does not keep tokenizer_config.json.
  expect(model.tokenizerConfig).toBeUndefined();
  await caches.delete('webllm/model');
  await expect(loadModel(webllmCacheSource(`${MODEL}/resolve/main/`), 'cached')).rejects.toMatchObject({ code: 'file-missing' });
});
