import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportTiny, TINY_SETTINGS, type TinySettings, trainTiny } from '../../../scripts/train-tiny.ts';
import { loadModel } from '../../../src/models/own/source.ts';
import { memorySource } from '../../../src/transformer/file-source.ts';
import { flattenWeights } from '../../../src/transformer/parameters.ts';

const SETTINGS: TinySettings = { ...TINY_SETTINGS, layers: 1, hidden: 16, tokens: 40_000, tokensPerStep: 600, warmupSteps: 10 };

describe('training the shipped model', () => {
  let root = '';
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'nacre-train-'));
  });
  afterAll(() => rm(root, { recursive: true }));

  it('gives the same weights when stopped and resumed, with any number of threads', async () => {
    const whole = await trainTiny({ settings: SETTINGS, folder: join(root, 'whole'), threads: 1 });
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 150);
    const folder = join(root, 'parts');
    const part = await trainTiny({ settings: SETTINGS, folder, threads: 2, signal: stop.signal });
    expect(flattenWeights(part)).not.toEqual(flattenWeights(whole));
    const resumed = await trainTiny({ settings: SETTINGS, folder, threads: 2 });
    expect(flattenWeights(resumed)).toEqual(flattenWeights(whole));

    const log = (await readFile(join(folder, 'training-log.jsonl'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(log.at(-1).loss).toBeLessThan(log[0].loss);

    await exportTiny(resumed, SETTINGS, folder, join(root, 'out'));
    const names = ['mlc-chat-config.json', 'tensor-cache.json', 'params_shard_0.bin', 'tokenizer.json', 'tokenizer_config.json'];
    const files = new Map(await Promise.all(names.map(async (name) => [name, await readFile(join(root, 'out', name))] as const)));
    const model = await loadModel(memorySource('out', files), 'out');
    expect(model.weights.config).toMatchObject({ layers: 1, hidden: 16, kvHeads: 1, embedScale: 2, tied: true });
    expect(model.tokenizer.decode(model.tokenizer.encode('go to desk 1'))).toBe('go to desk 1');
  });

  it('refuses a checkpoint made with other settings', async () => {
    const folder = join(root, 'parts');
    await expect(trainTiny({ settings: { ...SETTINGS, seed: 9 }, folder, threads: 1 })).rejects.toMatchObject({ code: 'other-settings' });
  });
});
