import { expect, it } from 'vitest';
import { openGguf } from '../../../src/models/llamacpp/gguf-store.ts';
import { deleteStored, storedModels, verifyStored } from '../../../src/models/stored.ts';
import { downloadModel } from '../../../src/models/webllm/files.ts';
import { webLlmMachine } from '../../../src/models/webllm/machine.ts';
import { FakeFolder } from './llamacpp/fake-opfs.ts';
import { BASE_URL, FakeCaches, fakeHost, RECORD, tinyModel } from './webllm/fake-caches.ts';

it('lists, checks and deletes the models of every runtime', async () => {
  const caches = new FakeCaches();
  const gguf = { root: new FakeFolder().root, fetch: async () => new Response('GGUF') };
  const access = { webllm: { storage: caches.storage, fetch: fakeHost(tinyModel()).fetch }, gguf };
  await downloadModel(RECORD, undefined, access.webllm);
  await openGguf('https://models.example/tiny.gguf', undefined, gguf);

  const [folder, file] = await storedModels(access);
  expect(folder).toMatchObject({ kind: 'webllm', url: BASE_URL, title: RECORD.model_id, complete: true });
  expect(file).toEqual({ kind: 'gguf', url: 'https://models.example/tiny.gguf', title: 'tiny', bytes: 4, complete: true });

  caches.stores.get('webllm/model')!.delete(`${BASE_URL}params_shard_0.bin`);
  expect(await verifyStored(folder!, false, access)).toEqual(['params_shard_0.bin']);
  expect(await verifyStored(file!, false, access)).toEqual([]);
  expect(await deleteStored(folder!, access)).toBe((folder?.bytes ?? 0) - 3);
  expect(await deleteStored(file!, access)).toBe(4);
  expect(await storedModels(access)).toEqual([]);
});

it('reads what the GPU offers, or that there is none', async () => {
  expect(await webLlmMachine()).toMatchObject({ webgpu: false, f16: false, bufferBytes: 0 });
  const adapter = {
    info: { vendor: 'acme', architecture: 'fast', device: '', description: '' },
    features: new Set(['shader-f16']),
    limits: { maxStorageBufferBindingSize: 2 ** 30 },
  };
  const gpu = { requestAdapter: async () => adapter } as unknown as GPU;
  expect(await webLlmMachine(gpu)).toMatchObject({ webgpu: true, software: false, f16: true, bufferBytes: 2 ** 30 });
});
