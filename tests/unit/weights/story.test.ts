import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { folderSource } from '../../../scripts/cli/node-files.ts';
import { generateCommand } from '../../../src/models/own/commands.ts';
import { type LoadedModel, loadModel } from '../../../src/models/own/source.ts';
import { createCpuBackend } from '../../../src/tensor/cpu/backend.ts';
import { memorySource } from '../../../src/transformer/file-source.ts';
import { readLlama2c } from '../../../src/transformer/llama2c/checkpoint.ts';
import { llama2cTokenizer, llama2cTokenizerConfig } from '../../../src/transformer/llama2c/tokenizer.ts';
import type { Quantisation } from '../../../src/transformer/mlc/config.ts';
import { mlcFiles } from '../../../src/transformer/mlc/write.ts';
import { sharedPath } from '../../shared.ts';

const FIXTURE = fileURLToPath(new URL('../../fixtures/stories260K', import.meta.url));
const published = JSON.parse(readFileSync(`${FIXTURE}/greedy.json`, 'utf8')) as { ids: number[]; text: string };

async function tell(model: LoadedModel): Promise<{ ids: readonly number[]; text: string }> {
  const backend = await createCpuBackend();
  const story = await generateCommand(backend, model, { prompt: { ids: [1] }, maxTokens: 256, temperature: 0, topP: 1, seed: 0 });
  backend.destroy();
  expect(story).toMatchObject({ promptIds: [1], finish: 'length' });
  expect(story.logprobs.every((logprob) => logprob <= 0)).toBe(true);
  return story;
}

describe('a published model', () => {
  it('tells its story token for token from float16 weights', async () => {
    const story = await tell(await loadModel(folderSource(FIXTURE), 'stories260K'));
    expect(story.ids).toEqual(published.ids);
    expect(story.text).toBe(published.text);
  });

  it.each(['q4f16_1', 'q4f32_1'] as const)('tells a story of known words as %s', async (quantisation) => {
    const original = await loadModel(folderSource(FIXTURE), 'stories260K');
    const { ids, text } = await tell(await requantised(original, quantisation));
    expect(text.startsWith('Once upon a time, there was a ')).toBe(true);
    // A broken unpacking falls into loops of one or two tokens.
    expect(new Set(ids).size).toBeGreaterThan(40);
  });
});

async function requantised(model: LoadedModel, quantisation: Quantisation): Promise<LoadedModel> {
  const files = mlcFiles(model.weights, { quantisation, tokenizerJson: model.tokenizerJson });
  return loadModel(memorySource('memory', files), model.id);
}

const checkpoint = sharedPath('data/models/stories260K/stories260K.bin');

describe.skipIf(checkpoint === undefined)('the original checkpoint', () => {
  it('converted to q0f16 tells the published story', async () => {
    const weights = readLlama2c('stories260K.bin', readFileSync(checkpoint as string));
    const bytes = readFileSync(sharedPath('data/models/stories260K/tok512.bin') as string);
    const files = mlcFiles(weights, {
      quantisation: 'q0f16',
      tokenizerJson: JSON.stringify(llama2cTokenizer('tok512.bin', bytes, weights.config.vocab)),
      tokenizerConfig: JSON.stringify(llama2cTokenizerConfig(weights.config.contextLength)),
    });
    const { ids } = await tell(await loadModel(memorySource('memory', files), 'stories260K'));
    const note = readFileSync(sharedPath('data/models/stories260K/greedy.txt') as string, 'utf8');
    expect(createHash('sha256').update(ids.join(',')).digest('hex')).toBe((/sha256 (\w+)/.exec(note) as RegExpExecArray)[1]);
  });
});
