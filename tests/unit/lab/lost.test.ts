import 'fake-indexeddb/auto';
import { describe, expect, it } from 'vitest';
import { NacreError } from '../../../src/core/errors.ts';
import { Lab, type LabPlatform } from '../../../src/lab/lab.ts';
import type { TextualResult } from '../../../src/lab/result.ts';
import type { RunUpdate } from '../../../src/lab/service.ts';
import { asRolloutModel, type RolloutModel } from '../../../src/models/chat-rollouts.ts';
import { openDatabase } from '../../../src/storage/database.ts';
import { householdModel } from '../../endpoint/household-model.ts';

const CONFIG = {
  schema: 'nacre.experiment/1',
  kind: 'textual',
  name: 'On a device that goes',
  suite: { id: 'household', train: 6, val: 6, test: 6, unseen: 0 },
  target: { model: 'a-model', runtime: 'webllm' },
  textual: { epochs: 1, rolloutsPerTask: 2, batchTasks: 6 },
};

/** A model that plays well and whose device is lost with the call of this number, if any. */
function model(lostAt: number): RolloutModel {
  const answer = householdModel();
  let calls = 0;
  const capabilities = { chat: true, json: true, logprobs: false, probe: false, train: false };
  return asRolloutModel(
    {
      info: { id: 'a-model', title: 'A model', parameters: 1, backend: 'webllm', adapter: 'a GPU', contextLength: 4096, capabilities },
      async generate(messages, { temperature, seed }) {
        if (++calls === lostAt) throw new NacreError('gpu-lost', 'The GPU was lost.', 'Resume: what was finished is kept.');
        const text = answer({ messages, temperature, seed });
        return { text, finish: 'stop', usage: { calls: 1, inputTokens: 1, outputTokens: 1, textVolume: 2, ms: 1 } };
      },
      close: async () => undefined,
    },
    { parallel: 1 },
  );
}

function openLab(name: string, lostAt: readonly number[]): { readonly lab: Lab; readonly loads: () => number } {
  const elsewhere = () => Promise.reject(new Error('not needed here'));
  let loads = 0;
  const platform: LabPlatform = {
    machine: elsewhere,
    connect: async () => model(lostAt[loads++] ?? 0),
    probe: elsewhere,
    lock: async () => () => undefined,
    openSandbox: elsewhere,
    library: elsewhere,
    connectPolicy: elsewhere,
    loadModel: elsewhere,
  };
  return { lab: new Lab(openDatabase(name), platform), loads: () => loads };
}

async function ended(lab: Lab, id: string): Promise<RunUpdate> {
  const last = await new Promise<RunUpdate>((resolve, reject) => {
    lab
      .openRun(id, (update) => {
        if (update.status === 'finished' || update.status === 'failed') resolve(update);
      })
      .catch(reject);
  });
  await lab.closeRun(id);
  return last;
}

async function resultOf(lab: Lab, id: string): Promise<TextualResult> {
  return JSON.parse(new TextDecoder().decode((await lab.exportRun(id, 'result')).bytes)) as TextualResult;
}

describe('a run whose device is lost', () => {
  it('fails with the reason at once, loads the model again when it is opened, and ends as if nothing had been', async () => {
    const steady = openLab('steady', []);
    const expected = await steady.lab.createRun(CONFIG);
    expect(await ended(steady.lab, expected)).toMatchObject({ status: 'finished' });

    const shaky = openLab('shaky', [40, 90]);
    const id = await shaky.lab.createRun(CONFIG);
    for (const loads of [1, 2]) {
      const { status, error } = await ended(shaky.lab, id);
      expect([status, error?.code, error?.hint]).toEqual(['failed', 'gpu-lost', 'Resume: what was finished is kept.']);
      expect(shaky.loads()).toBe(loads);
    }
    expect(await ended(shaky.lab, id)).toMatchObject({ status: 'finished' });
    expect(shaky.loads()).toBe(3);
    const [whole, mended] = [await resultOf(steady.lab, expected), await resultOf(shaky.lab, id)];
    expect(mended.textual.best).toEqual(whole.textual.best);
    expect(mended.textual.steps).toEqual(whole.textual.steps);
  });
});
