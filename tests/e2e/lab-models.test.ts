import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TextualResult } from '../../src/lab/result.ts';
import type { ChatReply, ExportedFile, ListedModel, RunSummary, SuiteSummary } from '../../src/lab/service.ts';
import { startServer, type TestServer } from '../endpoint/start.ts';
import { sharedPath } from '../shared.ts';
import { type LabPage, openLabPage } from './lab-page/site.ts';
import { type FileServer, serveFiles } from './models-page/site.ts';

const MODEL = sharedPath('data/models/smollm2-135m-instruct');
const NAME = 'SmolLM2-135M-Instruct.Q4_1';

/** Sums that the loopback server's echo and a small model can be asked; scored by a function of ours, in the sandbox. */
const SUITE = {
  schema: 'nacre.suite/1',
  id: 'sums',
  title: 'Sums',
  scorer: { kind: 'javascript', source: 'function score({output, task}) { return output.includes(task.answers[0]) ? 1 : 0; }' },
  tasks: Array.from({ length: 6 }, (_, i) => ({
    id: `sum-${i}`,
    split: (['train', 'train', 'train', 'val', 'test', 'unseen'] as const)[i],
    type: 'sum',
    input: `What is ${i} + 1? Say the number only.`,
    answers: [String(i + 1)],
  })),
};

describe('the lab with every kind of model, in Chromium', () => {
  let lab: LabPage;
  let host: FileServer;
  let critic: TestServer;

  const config = (target: object) => ({
    schema: 'nacre.experiment/1',
    kind: 'textual',
    name: 'Sums',
    suite: { id: 'imported', name: 'sums', train: 2, unseen: 0, answerTokens: 8 },
    target,
    critic: { kind: 'model', model: 'endpoint', endpoint: { baseUrl: critic.url } },
    textual: { epochs: 1, rolloutsPerTask: 1, batchTasks: 2 },
  });
  const play = async (target: object) => {
    const id = await lab.call<string>('createRun', config(target));
    const update = await lab.play(id);
    const labels = await lab.told<string>();
    await lab.call('closeRun', id);
    return { id, update, labels, run: (await lab.call<RunSummary[]>('listRuns')).find((run) => run.id === id)! };
  };

  beforeAll(async () => {
    critic = await startServer({ models: ['critic'] });
    host = await serveFiles(new Map(MODEL ? [[`${NAME}.gguf`, join(MODEL, `${NAME}.gguf`)]] : []));
    lab = await openLabPage();
    const stored = await lab.call<SuiteSummary>('importSuite', SUITE);
    expect(stored).toMatchObject({ id: 'sums', counts: { train: 3, val: 1, test: 1, unseen: 1 }, scorer: 'javascript' });
  });

  afterAll(async () => {
    await lab?.close();
    await host?.close();
    await critic?.stop();
  });

  it('runs an imported suite with a scorer of its own on the shipped model and on a server', async () => {
    for (const target of [{ model: 'nacre-tiny' }, { model: 'endpoint', endpoint: { baseUrl: critic.url } }]) {
      const { update, run } = await play(target);
      expect(update.error).toBeUndefined();
      expect(run).toMatchObject({ status: 'finished', config: { suite: { train: 2, val: 1, test: 1, unseen: 0 } } });
    }
    // The server repeats the question, of which only the first holds its answer's digit.
    const [echo] = await lab.call<RunSummary[]>('listRuns');
    const { bytes } = await lab.call<ExportedFile>('exportRun', echo!.id, 'result');
    const { textual } = JSON.parse(new TextDecoder().decode(Uint8Array.from(Object.values(bytes)))) as TextualResult;
    expect(textual.initial.scores).toMatchObject({ train: { n: 2, success: 1 }, val: { n: 1, success: 0 }, test: { n: 1, success: 0 } });
  });

  it('shows and exports a run whose suite was deleted', async () => {
    const { id } = await play({ model: 'endpoint', endpoint: { baseUrl: critic.url } });
    const { freedBytes } = await lab.call<{ freedBytes: number }>('deleteSuite', 'sums');
    expect(freedBytes).toBeGreaterThan(500);
    await lab.reload();
    expect(await lab.play(id)).toMatchObject({ status: 'finished' });
    expect(await lab.call('exportRun', id, 'result')).toMatchObject({ name: 'result.json' });
    await expect(lab.call('createRun', config({ model: 'nacre-tiny' }))).rejects.toMatchObject({ code: 'suite-missing' });
    await lab.call('importSuite', SUITE);
  });

  it('says which models cannot run so, and why', async () => {
    await expect(lab.call('chat', { model: 'no-such-model' }, [])).rejects.toMatchObject({ code: 'unknown-model' });
    await expect(lab.call('chat', { model: 'nacre-tiny', runtime: 'webllm' }, [])).rejects.toMatchObject({ code: 'config-invalid' });
    const url = 'https://host.example/models/unheard-of';
    await expect(lab.call('chat', { model: url, runtime: 'webllm' }, [])).rejects.toMatchObject({ code: 'library-missing' });
    await expect(lab.call('chat', { model: url, runtime: 'llamacpp' }, [])).rejects.toMatchObject({ code: 'runtime-unsuitable' });
    await expect(lab.call('downloadModel', url)).rejects.toMatchObject({ code: 'not-downloadable' });
    const { update } = await play({ model: 'Qwen2.5-0.5B-Instruct-q4f16_1-MLC', runtime: 'webllm' });
    expect(update.status).toBe('failed');
    expect(update.error?.code).toMatch(/^(model-does-not-fit|offline|host-unreachable)$/);
    expect(update.error?.hint).not.toBe('');
  });

  it('keeps a folder in MLC format that came without a library, for the own runtime', async () => {
    const names = readdirSync(new URL('../../public/models/nacre-tiny', import.meta.url)).filter((name) => !name.endsWith('.md'));
    const urls = names.map((name) => `./models/nacre-tiny/${name}`);
    await expect(lab.addFiles('my-copy', urls.slice(1, 2))).rejects.toMatchObject({ code: 'file-missing' });
    expect(await lab.addFiles('my-copy', urls)).toBe('my-copy');
    const listed = (await lab.call<ListedModel[]>('listModels')).find(({ id }) => id === 'my-copy');
    expect(listed).toMatchObject({ kind: 'mlc', where: 'local', complete: true });
    expect(listed!.uses.map(({ runtime }) => runtime)).toEqual(['own']);
    expect(await lab.call('verifyModel', 'my-copy')).toMatchObject({ missing: [], damaged: [] });
    const { run } = await play({ model: 'my-copy' });
    expect(run.status).toBe('finished');
    expect(await lab.call('deleteModel', 'my-copy')).toMatchObject({ freedBytes: listed!.bytes });
  });

  describe.skipIf(!MODEL)('with a GGUF model from this device', () => {
    it('keeps a picked file, lists it, tries it out and frees its memory', async () => {
      expect(await lab.addFiles(NAME, [`${host.url}${NAME}.gguf`])).toBe(NAME);
      const listed = async () => (await lab.call<ListedModel[]>('listModels')).find(({ id }) => id === NAME)!;
      expect(await listed()).toMatchObject({ kind: 'gguf', where: 'local', bytes: 98_362_432, complete: true });
      expect((await listed()).uses.map(({ runtime, loaded }) => [runtime, loaded])).toEqual([
        ['llamacpp', false],
        ['own', false],
      ]);
      const choice = { model: NAME, runtime: 'llamacpp', contextLength: 512 };
      const reply = await lab.call<ChatReply>('chat', choice, [{ role: 'user', content: 'Say yes.' }]);
      expect(reply.text.length).toBeGreaterThan(0);
      expect((await listed()).uses[0]?.loaded).toBe(true);
      await lab.call('unloadModel', choice);
      expect((await listed()).uses[0]?.loaded).toBe(false);
      await lab.told();
    });

    it.each(['own', 'llamacpp'])(
      'runs the same experiment on the runtime %s and tells how loading goes on',
      { timeout: 600_000 },
      async (runtime) => {
        const { update, labels, run } = await play({ model: NAME, runtime, backend: 'cpu', contextLength: 512 });
        expect(update.error).toBeUndefined();
        expect(run.status).toBe('finished');
        expect(labels.filter((label) => label.startsWith('Downloading'))).toEqual([]);
        expect(labels.some((label) => /^Loading SmolLM2.* of \d+ MB$/.test(label))).toBe(true);
      },
    );

    it('deletes it', async () => {
      expect(await lab.call('deleteModel', NAME)).toEqual({ freedBytes: 98_362_432 });
      await expect(lab.call('deleteModel', NAME)).rejects.toMatchObject({ code: 'model-not-stored' });
    });
  });
});
