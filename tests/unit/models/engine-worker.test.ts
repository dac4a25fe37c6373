import { afterAll, describe, expect, it } from 'vitest';
import { startNodeWorker } from '../../../scripts/node-worker.ts';
import { OwnEngine } from '../../../src/models/own/engine.ts';
import { PooledPolicy } from '../../../src/models/own/policy.ts';
import { toyEpisode, toyModelFiles, toyTask } from '../../transformer/toy-model.ts';

const workers = [startNodeWorker<OwnEngine>('engine'), startNodeWorker<OwnEngine>('engine')];
afterAll(() => Promise.all(workers.map((worker) => worker.close())));

const jobs = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ id: `r${i}`, task: toyTask(i), episode: toyEpisode(i), index: 0, seed: i }));
const options = { context: ' red', contextHash: 'c', temperature: 1, topP: 1, maxTurns: 6, maxTokensPerTurn: 30 };

describe('engines in threads', () => {
  it('load a model from its files, and play the rollouts that one engine in this thread plays', async () => {
    const source = { kind: 'memory', id: 'toy', files: toyModelFiles() } as const;
    const base = 'http://localhost/';
    await Promise.all(workers.map(({ remote }) => remote.load(source, base, { backend: 'cpu' })));
    const pool = await PooledPolicy.connect(workers.map((worker) => worker.remote));
    const local = new OwnEngine();
    await local.load(source, base, { backend: 'cpu' });
    const alone = await PooledPolicy.connect([local]);
    expect(pool.info).toEqual(alone.info);
    const timeless = (rollouts: Awaited<ReturnType<PooledPolicy['rollouts']>>) =>
      rollouts.map((rollout) => ({ ...rollout, usage: { ...rollout.usage, ms: 0 } }));
    expect(timeless(await pool.rollouts(jobs(7), options))).toEqual(timeless(await alone.rollouts(jobs(7), options)));
  });

  it('stream text to a callback and stop when told to', async () => {
    const pool = await PooledPolicy.connect(workers.map((worker) => worker.remote));
    const control = new AbortController();
    const { finish, tokens } = await pool.generate([{ role: 'user', content: ' go' }], {
      temperature: 1,
      topP: 1,
      maxTokens: 390,
      seed: 1,
      stop: ['never said'],
      signal: control.signal,
      onText: () => control.abort(),
    });
    expect(['cancelled', 'stop']).toContain(finish);
    expect(tokens!.ids.length).toBeLessThan(390);
  });

  it('pass errors on', async () => {
    await expect(workers[0]!.remote.closePrefix(12345)).rejects.toMatchObject({ code: 'unknown-prefix' });
  });
});
