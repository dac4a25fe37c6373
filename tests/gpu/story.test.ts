import { expect, it } from 'vitest';
import { generateCommand } from '../../src/models/own/commands.ts';
import { loadModel } from '../../src/models/own/source.ts';
import { createBackend } from '../../src/tensor/index.ts';
import { memorySource, readText, urlSource } from '../../src/transformer/file-source.ts';
import { mlcFiles } from '../../src/transformer/mlc/write.ts';

const source = urlSource(new URL('/tests/fixtures/stories260K', location.origin));
/** Enough for several sentences; the software adapter takes its time. */
const TOKENS = 60;

it('tells the published story on WebGPU, token for token', async () => {
  const published = JSON.parse(await readText(source, 'greedy.json')) as { ids: number[] };
  const progress: number[] = [];
  const model = await loadModel(source, 'stories260K', { onProgress: ({ loadedBytes }) => progress.push(loadedBytes) });
  const { backend } = await createBackend('webgpu');
  const story = await generateCommand(backend, model, { prompt: { ids: [1] }, maxTokens: TOKENS, temperature: 0, topP: 1, seed: 0 });
  backend.destroy();
  expect(story.ids).toEqual(published.ids.slice(0, TOKENS));
  expect(progress.at(-1)).toBe(model.bytes);
});

it('agrees with the CPU backend on int4 weights', async () => {
  const original = await loadModel(source, 'stories260K');
  const files = mlcFiles(original.weights, { quantisation: 'q4f16_1', tokenizerJson: original.tokenizerJson });
  const model = await loadModel(memorySource('memory', files), 'stories260K-q4');
  const request = { prompt: { text: 'Lily found a' }, maxTokens: 12, temperature: 0, topP: 1, seed: 0 };
  const tell = async (kind: 'cpu' | 'webgpu'): Promise<{ ids: readonly number[]; logprobs: readonly number[] }> => {
    const { backend } = await createBackend(kind);
    const story = await generateCommand(backend, model, request);
    backend.destroy();
    return story;
  };
  const [cpu, gpu] = [await tell('cpu'), await tell('webgpu')];
  expect(gpu.ids).toEqual(cpu.ids);
  gpu.logprobs.forEach((logprob, i) => {
    expect(logprob).toBeCloseTo(cpu.logprobs[i], 3);
  });
});

it('names a file that the server does not have', async () => {
  const elsewhere = urlSource(new URL('/tests/fixtures/nowhere', location.origin));
  await expect(loadModel(elsewhere, 'nowhere')).rejects.toMatchObject({
    code: 'file-missing',
    message: expect.stringContaining('mlc-chat-config.json'),
  });
});
