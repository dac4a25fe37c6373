import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TextualResult } from '../../../src/lab/result.ts';
import { startServer, type TestServer } from '../../endpoint/start.ts';
import { sharedPath } from '../../shared.ts';

const MODEL = sharedPath('data/models/smollm2-135m-instruct/SmolLM2-135M-Instruct.Q4_1.gguf');
const TASKS = sharedPath('data/tasks/gsm8k-300.jsonl');
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const folder = mkdtempSync(join(tmpdir(), 'nacre-headless-'));
let server: TestServer;

beforeAll(async () => {
  server = await startServer({ models: ['household'] });
});

afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

function start(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, ['--import', 'tsx', 'scripts/cli/main.ts', ...args, '--json'], { cwd: ROOT });
}

function ended(child: ChildProcess): Promise<{ code: number | null; stdout: string; stderr: string }> {
  let [stdout, stderr] = ['', ''];
  child.stdout!.on('data', (piece) => {
    stdout += piece;
  });
  child.stderr!.on('data', (piece) => {
    stderr += piece;
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })));
}

async function result(...args: string[]): Promise<TextualResult> {
  const { code, stdout, stderr } = await ended(start(args));
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as TextualResult;
}

const critic = () => ({ kind: 'model', model: 'endpoint', endpoint: { baseUrl: server.url } });

describe('one experiment file', () => {
  it('runs on the shipped model and on a server, chosen by options', { timeout: 120_000 }, async () => {
    const config = file(
      'household.json',
      JSON.stringify({
        schema: 'nacre.experiment/1',
        kind: 'textual',
        name: 'Rules',
        suite: { id: 'household', train: 6, val: 6, test: 6, unseen: 0 },
        textual: { epochs: 1, rolloutsPerTask: 2, batchTasks: 6 },
      }),
    );
    const shipped = await result('run', config, '--out', join(folder, 'shipped'));
    expect(shipped.model).toMatchObject({ id: 'nacre-tiny', backend: 'cpu' });
    const served = await result('run', config, '--out', join(folder, 'served'), '--endpoint', server.url);
    expect(served.model).toMatchObject({ id: 'household', backend: 'endpoint' });
    for (const { textual } of [shipped, served]) expect(textual.steps[0]).toMatchObject({ step: 1, rollouts: 12 });
  });

  it('takes tasks from a table, and says what is wrong with them', { timeout: 60_000 }, async () => {
    const config = file(
      'sums.json',
      JSON.stringify({
        schema: 'nacre.experiment/1',
        kind: 'textual',
        name: 'Sums',
        suite: { id: 'imported', name: 'sums', answerTokens: 8 },
        target: { model: 'endpoint', endpoint: { baseUrl: server.url } },
        critic: critic(),
        textual: { epochs: 1, rolloutsPerTask: 2, batchTasks: 2 },
      }),
    );
    const table = file('sums.csv', `ask,reply\n${Array.from({ length: 8 }, (_, i) => `${i} and ${i}?,${2 * i}`).join('\n')}\n`);
    const mapping = file('columns.json', JSON.stringify({ input: '{{ask}}', answers: ['reply'], scorer: { kind: 'numeric' } }));
    const out = join(folder, 'sums');
    expect((await ended(start(['run', config, '--out', out]))).stderr).toContain('there is no imported suite "sums"');
    expect((await ended(start(['run', config, '--out', out, '--suite', table]))).stderr).toContain('the columns ask, reply');
    const { config: used, textual } = await result('run', config, '--out', out, '--suite', table, '--mapping', mapping);
    expect(used.suite).toMatchObject({ id: 'imported', name: 'sums', train: 4, val: 2, test: 2, unseen: 0 });
    expect(textual.initial.scores.test).toMatchObject({ n: 2, success: 0 });
  });
});

describe.skipIf(!MODEL || !TASKS)('ten word problems on SmolLM2-135M, on the own runtime', () => {
  it('make a step, and a killed run goes on to the result of one that was not', { timeout: 400_000 }, async () => {
    const tasks = file('ten.jsonl', readFileSync(TASKS!, 'utf8').split('\n').slice(0, 10).join('\n'));
    const config = file(
      'ten.json',
      JSON.stringify({
        schema: 'nacre.experiment/1',
        kind: 'textual',
        name: 'Word problems',
        suite: { id: 'imported', name: 'ten', answerTokens: 20 },
        target: { model: MODEL },
        critic: critic(),
        textual: { epochs: 1, rolloutsPerTask: 2, batchTasks: 5 },
      }),
    );
    const run = (out: string) => ['run', config, '--suite', tasks, '--out', join(folder, out)];
    const began = performance.now();
    const whole = await result(...run('whole'));
    console.log(`ten word problems, one step: ${((performance.now() - began) / 1000).toFixed(0)} s`);
    expect(whole.model).toMatchObject({ backend: 'cpu', parameters: 134_515_008 });
    const { train, val, test } = whole.config.suite;
    expect(train + val + test).toBe(10);
    expect(whole.textual.steps[0]).toMatchObject({ step: 1, rollouts: 2 * train });
    expect(whole.textual.tokens.byRole.critique.calls).toBeGreaterThan(0);

    const child = start(run('killed'));
    const death = ended(child);
    const journal = join(folder, 'killed/journal.jsonl');
    const units = () => (existsSync(journal) ? readFileSync(journal, 'utf8').split('\n').length - 1 : 0);
    const enough = 2 + val + 1;
    while (units() < enough && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 50));
    child.kill('SIGKILL');
    await death;
    const kept = units();
    expect(kept).toBeGreaterThanOrEqual(enough);
    expect(existsSync(join(folder, 'killed/result.json'))).toBe(false);
    const resumed = await result(...run('killed'));
    expect(resumed.textual.initial).toEqual(whole.textual.initial);
    expect(resumed.textual.best).toEqual(whole.textual.best);
    expect(resumed.textual.steps).toEqual(whole.textual.steps);
  });
});
