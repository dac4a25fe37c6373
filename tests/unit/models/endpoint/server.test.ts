import * as v from 'valibot';
import { afterEach, describe, expect, it } from 'vitest';
import type { Rollout, Suite } from '../../../../src/core/types.ts';
import { suiteTarget } from '../../../../src/lab/target.ts';
import { connectEndpoint } from '../../../../src/models/endpoint/connect.ts';
import { KeyRing } from '../../../../src/models/endpoint/keys.ts';
import { EndpointModel, listModels } from '../../../../src/models/endpoint/model.ts';
import { type Clock, SYSTEM_CLOCK } from '../../../../src/models/endpoint/retry.ts';
import { EndpointSettings } from '../../../../src/models/endpoint/settings.ts';
import { createHouseholdSuite } from '../../../../src/suites/household/suite.ts';
import { startServer, type TestServer } from '../../../endpoint/start.ts';

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

async function serve(settings: object = {}): Promise<TestServer> {
  const server = await startServer(settings);
  servers.push(server);
  return server;
}

/** Waits between attempts as usual, but fifty times shorter. */
const QUICK: Clock = { now: SYSTEM_CLOCK.now, sleep: (ms, signal) => SYSTEM_CLOCK.sleep(ms / 50, signal) };

const settings = (server: TestServer, more: object = {}): EndpointSettings => v.parse(EndpointSettings, { baseUrl: server.url, ...more });
const hello = [{ role: 'user' as const, content: 'Hello there' }];
const options = { temperature: 0, topP: 1, maxTokens: 64, seed: 1 };

async function play(suite: Suite, server: TestServer, jobs: readonly { id: string; place: number; k: number }[], more: object = {}) {
  const tasks = [...suite.splits.train, ...suite.splits.val];
  const reported: Rollout[] = [];
  const target = suiteTarget(suite, () => connectEndpoint(settings(server, { parallel: 16, ...more }), new KeyRing(), { clock: QUICK }));
  const rollouts = await target.rollouts(
    jobs.map(({ id, place, k }) => ({ id, task: tasks[place]!, index: k, seed: 7919 * place + k })),
    {
      context: '',
      contextHash: 'none',
      temperature: 0.7,
      signal: new AbortController().signal,
      onRollout: (rollout) => reported.push(rollout),
    },
  );
  return { rollouts, reported };
}

const withoutTime = ({ usage: { ms: _, ...usage }, ...rollout }: Rollout) => ({ ...rollout, usage });

describe('a real server', () => {
  it('plays 200 tasks × 4 rollouts at parallelism 16 through injected faults, none lost, none counted twice', {
    timeout: 180_000,
  }, async () => {
    const suite = createHouseholdSuite();
    const jobs = Array.from({ length: 800 }, (_, i) => ({ id: `r${i}`, place: Math.floor(i / 4), k: i % 4 }));
    const faulty = await serve({
      latency: 1,
      faults: { seed: 7, status429: 0.02, status500: 0.02, cut: 0.02, malformed: 0.02, reset: 0.02, empty: 0.01, slow: 0.001 },
    });
    const { rollouts, reported } = await play(suite, faulty, jobs, { timeoutSeconds: 3 });
    expect(rollouts.map(({ id }) => id)).toEqual(jobs.map(({ id }) => id));
    expect(new Set(reported.map(({ id }) => id)).size).toBe(800);
    expect(reported).toHaveLength(800);
    expect(rollouts.filter(({ finish }) => finish === 'error')).toEqual([]);
    for (const { usage, turns } of rollouts) expect(usage.calls).toBe(turns.length);

    const stats = await faulty.stats();
    for (const fault of ['status429', 'status500', 'cut', 'malformed', 'reset', 'empty', 'slow']) {
      expect(stats.faults[fault], fault).toBeGreaterThan(0);
    }
    // An answer that came after the client had given up is counted by the server alone.
    expect(stats.answered).toBeGreaterThanOrEqual(rollouts.reduce((sum, { usage }) => sum + usage.calls, 0));
    expect(stats.mostOpen).toBeGreaterThan(4);
    expect(stats.mostOpen).toBeLessThanOrEqual(16 + (stats.faults.slow ?? 0));

    // Faults and order change nothing: a healthy server asked in another order gives the same rollouts.
    const some = jobs.filter((_, i) => i % 40 < 2).reverse();
    const healthy = await play(suite, await serve(), some, { parallel: 3 });
    expect(healthy.rollouts.map(withoutTime)).toEqual(some.map(({ id }) => withoutTime(rollouts.find((rollout) => rollout.id === id)!)));
  });

  it('streams, and gets over streams that are cut or broken', async () => {
    const server = await serve({ models: ['echo'], faults: { seed: 3, cut: 0.3, malformed: 0.3, cleanAfter: 3 } });
    const model = await EndpointModel.connect(settings(server), { clock: QUICK });
    for (let seed = 0; seed < 12; seed++) {
      const texts: string[] = [];
      const answer = await model.generate(hello, { ...options, seed, onText: (text) => texts.push(text) });
      expect(answer).toMatchObject({ text: 'You said: Hello there', finish: 'stop', usage: { calls: 1, inputTokens: 2, outputTokens: 4 } });
      expect(texts.at(-1)).toBe(answer.text);
    }
    const { faults, answered } = await server.stats();
    expect(answered).toBe(12);
    expect(Math.min(faults.cut ?? 0, faults.malformed ?? 0)).toBeGreaterThan(0);
  });

  it('gives the typed error of a fault that does not pass', async () => {
    for (const [fault, code] of [
      ['status500', 'endpoint-server'],
      ['status429', 'endpoint-rate-limited'],
      ['cut', 'endpoint-stream-cut'],
      ['malformed', 'endpoint-malformed'],
      ['slow', 'endpoint-timeout'],
      ['reset', 'endpoint-unreachable'],
    ] as const) {
      const server = await serve({ models: ['echo'], faults: { [fault]: 1, cleanAfter: 99 } });
      const model = await EndpointModel.connect(settings(server, { retries: 1, timeoutSeconds: fault === 'slow' ? 1 : 30 }), {
        clock: QUICK,
      });
      for (const stream of [false, true]) {
        const asked = model.generate(hello, { ...options, ...(stream ? { onText: () => undefined } : {}) });
        await expect(asked, fault).rejects.toMatchObject({ code });
      }
    }
  });

  it('lists its models, names them when the chosen one is wrong, and says when nobody is there', async () => {
    const server = await serve({ models: ['echo', 'other'] });
    expect(await listModels(settings(server))).toEqual([
      { id: 'echo', contextLength: 32768 },
      { id: 'other', contextLength: 32768 },
    ]);
    const wrong = await EndpointModel.connect(settings(server, { model: 'missing' }));
    await expect(wrong.generate(hello, options)).rejects.toMatchObject({
      code: 'endpoint-model-unknown',
      message: expect.stringContaining('"echo", "other"'),
    });
    const gone = settings(server, { retries: 5 });
    await server.stop();
    servers.length = 0;
    await expect(listModels(gone, { clock: QUICK })).rejects.toMatchObject({ code: 'endpoint-unreachable' });
  });

  it.each([
    [{ formats: ['json_schema', 'json_object'] }, '{"order":["blue"]}'],
    [{ formats: ['json_object'] }, '{"colour": "blue"}'],
    [{ formats: ['json_object'], ignoreFormats: true }, '{"colour": "blue"}'],
    [{ formats: [] }, expect.stringContaining('JSON schema')],
    [{ formats: [], ignoreFormats: true }, expect.stringContaining('JSON schema')],
  ])('asks for JSON in the best way that %j allows', async (abilities, text) => {
    const server = await serve({ models: ['echo'], ...abilities });
    const model = await EndpointModel.connect(settings(server), { clock: QUICK });
    const schema = { type: 'object', properties: { order: { type: 'array', items: { type: 'string' } } }, required: ['order'] };
    const before = (await server.stats()).requests;
    for (let i = 0; i < 3; i++) expect((await model.generate(hello, { ...options, schema })).text).toEqual(text);
    // Three answers and at most two probes.
    expect((await server.stats()).requests - before).toBeLessThanOrEqual(5);
  });

  it('handles models that think', async () => {
    const thinking = await serve({ models: ['echo'], prefix: '<think>The user greets me, so I greet back.</think>' });
    const model = await EndpointModel.connect(settings(thinking));
    const { text, usage } = await model.generate(hello, options);
    expect(text).toBe('You said: Hello there');
    expect(usage.outputTokens).toBeGreaterThan(usage.textVolume - usage.inputTokens);
    const lost = await serve({ models: ['echo'], prefix: '<think>I will never stop.' });
    expect((await (await EndpointModel.connect(settings(lost))).generate(hello, options)).text).toBe('');
  });
});
