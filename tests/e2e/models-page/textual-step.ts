import * as v from 'valibot';
import { MemoryJournal } from '../../../src/core/journal.ts';
import type { Suite, Task } from '../../../src/core/types.ts';
import { suiteTarget } from '../../../src/lab/target.ts';
import { asRolloutModel } from '../../../src/models/chat-rollouts.ts';
import type { ChatModel } from '../../../src/models/types.ts';
import { runTextual, type TextualOutcome } from '../../../src/textual/loop.ts';
import { TextualSettings } from '../../../src/textual/settings.ts';
import { ScriptedCritic } from '../../unit/textual/scripted-critic.ts';

const task = (id: string, split: 'train' | 'val'): Task => ({ id, split, type: 'colour', input: 'Name a colour.', data: null });

/** One question; the answers of random weights mean nothing, so their outcomes are given. */
function colours(outcomes: readonly boolean[]): Suite {
  const left = [...outcomes];
  return {
    id: 'colours',
    title: 'Colours',
    maxTurns: 1,
    maxTokensPerTurn: 2,
    splits: { train: [task('colour', 'train')], val: [task('hue', 'val')], test: [], unseen: [] },
    open: () => {
      const success = left.shift() ?? false;
      return { observation: 'Name a colour.', act: () => ({ observation: '', reward: Number(success), done: true, success }) };
    },
  };
}

/** Two tokens are the whole answer, not one that was cut off. */
function brief(model: ChatModel): ChatModel {
  return {
    info: model.info,
    generate: async (messages, options) => ({ ...(await model.generate(messages, options)), finish: 'stop' }),
    close: () => model.close(),
  };
}

/** One step of TextualRL on one task, with the given model as target and a critic that always proposes the same. */
export function textualStep(model: ChatModel): Promise<TextualOutcome> {
  // The first validation, two rollouts that part, the gate, the test.
  const suite = colours([false, true, false, false, false]);
  const target = asRolloutModel(brief(model), { parallel: 1 });
  const edit = { op: 'append', kind: 'corrective', content: 'Answer in one word.', support: ['colour'], sources: [] };
  const critic = new ScriptedCritic(({ kind, user }) => {
    if (kind !== 'review') return { divergence: 'the colour named', edits: [edit], cards: [] };
    const id = /edit[^"]{0,4}id[^"]{0,4}"([^"]+)"/.exec(user)?.[1] ?? '';
    return { reviews: [{ edit_id: id, verdict: 'retain', reason: 'fine', evidence: [] }] };
  });
  return runTextual({
    settings: v.parse(TextualSettings, { epochs: 1, batchTasks: 1, rolloutsPerTask: 2, trainTemperature: 1, rolloutRetries: 0 }),
    seed: 1,
    tasks: suite.splits,
    target: suiteTarget(suite, async () => target),
    critic,
    journal: new MemoryJournal(),
    initialContext: 'Be brief.',
    emit: () => undefined,
    signal: new AbortController().signal,
    control: { checkpoint: async () => 'continue' },
  });
}
