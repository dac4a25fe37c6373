import 'fake-indexeddb/auto';
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unzipSync } from 'fflate';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { environmentKeys } from '../../../scripts/cli/endpoint-keys.ts';
import { parseConfig } from '../../../src/lab/config.ts';
import { Lab } from '../../../src/lab/lab.ts';
import { ModelLibrary } from '../../../src/lab/models/library.ts';
import type { ExportFormat, RunUpdate } from '../../../src/lab/service.ts';
import { openDatabase } from '../../../src/storage/database.ts';
import { startServer, type TestServer } from '../../endpoint/start.ts';

const KEY = 'sk-test-5d41402abc4b2a76b9719d911017c592';
const WRONG = 'sk-test-ffffffffeeeeeeeeddddddddcccccccc';
/** Pieces of both keys, none of which may turn up anywhere. */
const SECRETS = [KEY.slice(8, 18), KEY.slice(-10), WRONG.slice(8, 18), WRONG.slice(-10)];

const servers: TestServer[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  vi.restoreAllMocks();
});

async function serve(settings: object = {}): Promise<TestServer> {
  const server = await startServer(settings);
  servers.push(server);
  return server;
}

function config(url: string, more: object = {}) {
  return {
    schema: 'nacre.experiment/1',
    kind: 'textual',
    name: 'On an endpoint',
    suite: { id: 'household', train: 6, val: 6, test: 6, unseen: 0 },
    target: { model: 'endpoint', endpoint: { baseUrl: url, parallel: 6 } },
    textual: { epochs: 1, rolloutsPerTask: 2, batchTasks: 6 },
    ...more,
  };
}

function expectNoSecret(text: string): void {
  for (const secret of SECRETS) expect(text).not.toContain(secret);
}

const quiet = [() => undefined, () => undefined] as const;

describe('a run on an endpoint', () => {
  it('keeps the key out of the database, updates, logs and exports, fails for a wrong one and goes on with the right one', async () => {
    const printed: unknown[] = [];
    for (const method of ['log', 'warn', 'error', 'info', 'debug'] as const) {
      vi.spyOn(console, method).mockImplementation((...values) => void printed.push(values));
    }
    const server = await serve({ key: KEY });
    const database = openDatabase('endpoint-test');
    const elsewhere = () => Promise.reject(new Error('not needed here'));
    const lab = new Lab(database, {
      machine: elsewhere,
      connect: elsewhere,
      probe: elsewhere,
      lock: async () => () => undefined,
      openSandbox: elsewhere,
      library: async () => new ModelLibrary(),
      connectPolicy: elsewhere,
      loadModel: elsewhere,
    });
    const endpoint = (config(server.url) as { target: { endpoint: object } }).target.endpoint;
    // The critic is the same server: its answers fit the schemas and say nothing of use.
    const id = await lab.createRun(config(server.url, { critic: { kind: 'model', model: 'endpoint', endpoint } }));
    const updates: RunUpdate[] = [];
    const ended = async (status: RunUpdate['status']): Promise<void> => {
      await new Promise<void>((resolve, reject) => {
        lab
          .openRun(id, (update) => {
            updates.push(update);
            if (update.status === status) resolve();
          })
          .catch(reject);
      });
    };

    await lab.setEndpointKey(server.url, WRONG);
    await expect(lab.endpointModels(server.url)).rejects.toMatchObject({ code: 'endpoint-auth' });
    await ended('failed');
    expect(updates.at(-1)?.error?.code).toBe('endpoint-auth');
    await lab.closeRun(id);

    await lab.setEndpointKey(server.url, KEY);
    expect(await lab.endpointModels(server.url)).toMatchObject([{ id: 'household' }]);
    await ended('finished');
    const events = updates.flatMap((update) => update.events);
    const steps = events.flatMap((event) => (event.type === 'step' ? [event.record] : []));
    expect(steps.at(-1)).toMatchObject({ step: 1, rollouts: 12, rolloutErrors: 0 });
    const totals = events.flatMap((event) => (event.type === 'tokens' ? [event.totals] : [])).at(-1);
    expect(totals?.byRole.critique.calls).toBeGreaterThan(0);
    expect(totals?.byRole.critique.inputTokens).toBeGreaterThan(0);

    const models = await lab.listModels();
    const [served] = models.filter(({ kind }) => kind === 'endpoint');
    expect(served).toMatchObject({ title: expect.stringContaining('household at 127.0.0.1'), where: 'server' });
    const { choice } = served!.uses[0]!;
    const reply = await lab.chat(choice, [{ role: 'user', content: 'Hello?' }], ...quiet);
    expect(reply).toMatchObject({ text: 'done', finish: 'stop' });

    expectNoSecret(JSON.stringify([models, reply]));
    expectNoSecret(JSON.stringify(updates));
    expectNoSecret(JSON.stringify(printed));
    for (const table of (await database).tables) expectNoSecret(JSON.stringify(await table.toArray()));
    for (const format of ['skill', 'prompt', 'result', 'bundle'] as ExportFormat[]) {
      const { bytes } = await lab.exportRun(id, format);
      const parts = format === 'bundle' ? Object.values(unzipSync(bytes)) : [bytes];
      for (const part of parts) expectNoSecret(new TextDecoder().decode(part));
    }
    await lab.closeRun(id);
  });

  it('runs headless with the key from the environment, and improves a model that reads its context', { timeout: 120_000 }, async () => {
    const server = await serve({ key: KEY, faults: { seed: 2, status500: 0.005 } });
    const folder = mkdtempSync(join(tmpdir(), 'nacre-endpoint-'));
    folders.push(folder);
    const file = join(folder, 'config.json');
    writeFileSync(file, JSON.stringify(config(server.url, { suite: { id: 'household', train: 12, val: 12, test: 12, unseen: 0 } })));
    const command = (key: string) => nacre(['run', file, '--out', join(folder, 'out'), '--json'], { NACRE_API_KEY: key });

    const refused = await command(WRONG);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('NACRE_API_KEY');
    const done = await command(KEY);
    expect(done.code, done.stderr).toBe(0);
    const { textual } = JSON.parse(done.stdout) as { textual: Record<'initial' | 'best', { scores: { val: { rate: number } } }> };
    expect(textual.best.scores.val.rate).toBeGreaterThan(textual.initial.scores.val.rate);
    expectNoSecret(refused.stderr + done.stdout + done.stderr);
    for (const name of readdirSync(join(folder, 'out'))) {
      const bytes = readFileSync(join(folder, 'out', name));
      for (const part of name.endsWith('.zip') ? Object.values(unzipSync(bytes)) : [bytes]) expectNoSecret(new TextDecoder().decode(part));
    }
  });
});

describe('environmentKeys', () => {
  const a = { baseUrl: 'https://a.example/v1' };
  const b = { baseUrl: 'https://b.example/v1' };
  const models = (target: object, critic: object) => parseConfig({ ...config('http://x'), target, critic });
  const endpoint = (at: object) => ({ model: 'endpoint', endpoint: at });
  const critic = (at: object) => ({ kind: 'model', ...endpoint(at) });
  const given = { NACRE_API_KEY: 'first', NACRE_CRITIC_API_KEY: 'second' };

  it.each([
    ['the target gets its key, the critic its own', endpoint(a), critic(b), given, 'first', 'second'],
    ['a second server gets no key that was not meant for it', endpoint(a), critic(b), { NACRE_API_KEY: 'first' }, 'first', undefined],
    ['one server has one key', endpoint(a), critic(a), given, 'first', undefined],
    ['a critic alone gets the only key', {}, critic(b), { NACRE_API_KEY: 'first' }, undefined, 'first'],
    ['none is needed', endpoint(a), {}, {}, undefined, undefined],
  ])('%s', (_, target, criticPart, environment, forA, forB) => {
    const keys = environmentKeys(models(target, criticPart), environment);
    expect([keys.get(a.baseUrl), keys.get(b.baseUrl)]).toEqual([forA, forB]);
  });
});

function nacre(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', 'scripts/cli/main.ts', ...args], {
    cwd: root,
    env: { ...process.env, ...environment },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (piece) => {
    stdout += piece;
  });
  child.stderr.on('data', (piece) => {
    stderr += piece;
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })));
}
