import { describe, expect, it } from 'vitest';
import { NacreError } from '../../../src/core/errors.ts';
import { type ModelChoice, parseChoice } from '../../../src/lab/config.ts';
import { ModelPool } from '../../../src/lab/models/pool.ts';
import type { RolloutModel } from '../../../src/models/chat-rollouts.ts';
import type { OnTransfer } from '../../../src/models/download.ts';

const OPTIONS = { temperature: 0, topP: 1, maxTokens: 1, seed: 1 };

class Starter {
  readonly started: string[] = [];
  readonly closed: string[] = [];
  fault: NacreError | undefined;

  readonly start = async ({ model }: ModelChoice, onTransfer: OnTransfer): Promise<RolloutModel> => {
    this.started.push(model);
    onTransfer({ phase: 'load', loadedBytes: 1, totalBytes: 2 });
    const capabilities = { chat: true, json: false, logprobs: false, probe: false, train: false };
    if (model === 'broken') throw new NacreError('file-missing', 'It is not there.', 'Look elsewhere.');
    return {
      info: { id: model, title: model, parameters: 0, backend: 'cpu', adapter: '', contextLength: 0, capabilities },
      generate: async () => {
        if (this.fault) throw this.fault;
        return { text: 'yes', finish: 'stop', usage: { calls: 1, inputTokens: 1, outputTokens: 1, textVolume: 2, ms: 1 } };
      },
      rollouts: async () => [],
      close: async () => void this.closed.push(model),
    };
  };
}

const choose = (model: string): ModelChoice => parseChoice({ model });

describe('ModelPool', () => {
  it('loads a choice once, for all who ask for it meanwhile, and tells each how far it is', async () => {
    const starter = new Starter();
    const pool = new ModelPool(starter.start);
    const told: number[] = [];
    const listen: OnTransfer = ({ loadedBytes }) => void told.push(loadedBytes);
    const [one, other] = await Promise.all([pool.connect(choose('a'), [], listen), pool.connect(choose('a'), [], listen)]);
    expect(one).toBe(other);
    expect(await pool.connect(choose('a'), [])).toBe(one);
    expect(starter.started).toEqual(['a']);
    expect(told).toEqual([1]);
  });

  it('makes room for a large model, but not at the cost of those in use, shipped ones and servers', async () => {
    const starter = new Starter();
    const pool = new ModelPool(starter.start);
    const server = parseChoice({ model: 'endpoint', endpoint: { baseUrl: 'http://127.0.0.1:9/v1' } });
    for (const choice of [choose('nacre-tiny'), server, choose('a')]) await pool.connect(choice, []);
    await pool.connect(choose('b'), [choose('a')]);
    expect(starter.closed).toEqual([]);
    await pool.connect(choose('c'), [choose('b')]);
    expect(starter.closed).toEqual(['a']);
    expect(pool.loaded().map(({ model }) => model)).toEqual(['nacre-tiny', 'endpoint', 'b', 'c']);
    await pool.unload(({ model }) => model === 'c');
    expect(starter.closed).toEqual(['a', 'c']);
  });

  it('forgets a model that was lost, or that failed to load, so that the next call loads it again', async () => {
    const starter = new Starter();
    const pool = new ModelPool(starter.start);
    await expect(pool.connect(choose('broken'), [])).rejects.toMatchObject({ code: 'file-missing' });
    await expect(pool.connect(choose('broken'), [])).rejects.toMatchObject({ code: 'file-missing' });
    expect(starter.started).toEqual(['broken', 'broken']);

    const model = await pool.connect(choose('a'), []);
    starter.fault = new NacreError('context-length', 'Too long.', 'Ask less.');
    await expect(model.generate([], OPTIONS)).rejects.toMatchObject({ code: 'context-length' });
    expect(await pool.connect(choose('a'), [])).toBe(model);
    starter.fault = new NacreError('device-lost', 'The GPU is gone.', 'Resume.');
    await expect(model.generate([], OPTIONS)).rejects.toMatchObject({ code: 'device-lost' });
    expect(starter.closed).toEqual(['a']);
    starter.fault = undefined;
    const again = await pool.connect(choose('a'), []);
    expect(again).not.toBe(model);
    expect(await again.generate([], OPTIONS)).toMatchObject({ text: 'yes' });
  });
});
