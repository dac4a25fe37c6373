import { MemoryJournal } from '../../../src/core/journal.ts';
import type { Episode, Step, Task } from '../../../src/core/types.ts';
import { OwnEngine } from '../../../src/models/own/engine.ts';
import { PooledPolicy } from '../../../src/models/own/policy.ts';
import type { PearlRun } from '../../../src/pearl/loop.ts';
import type { PearlEvent } from '../../../src/pearl/types.ts';
import type { Backend } from '../../../src/tensor/backend.ts';
import { createCpuBackend } from '../../../src/tensor/cpu/backend.ts';
import { toyModel } from '../../transformer/toy-model.ts';
import { settings } from './builders.ts';

const WORDS = [' red', ' blue', ' go', ' stay', ' left', ' right', ' x'];

/** Three turns; success when the words said so far number an even count of " red". A clone goes on by itself. */
export class ToyEpisode implements Episode {
  observation: string;
  private readonly task: number;
  private readonly said: string;
  private turn: number;

  constructor(task: number, said = '', turn = 0, observation = WORDS[task % WORDS.length]!) {
    this.task = task;
    this.said = said;
    this.turn = turn;
    this.observation = observation;
  }

  act(text: string): Step {
    const said = this.said + text;
    Object.assign(this, { said });
    this.turn++;
    this.observation = WORDS[(this.task + 3 * this.turn + text.length) % WORDS.length]!;
    const done = this.turn === 3;
    const success = done && said.split('red').length % 2 === 1;
    return { observation: this.observation, reward: success ? 1 : 0, done, success };
  }

  clone(): Episode {
    return new ToyEpisode(this.task, this.said, this.turn, this.observation);
  }
}

export function toyTask(n: number, split: Task['split'] = 'train'): Task {
  return { id: `${split}/${n}`, split, type: `type ${n % 2}`, input: `toy ${n}`, data: n };
}

export async function toyPolicy(engines = 1, createBackend: () => Promise<Backend> = createCpuBackend): Promise<PooledPolicy> {
  const started = Array.from({ length: engines }, async () => {
    const engine = new OwnEngine();
    await engine.use(await createBackend(), toyModel(), true);
    return engine;
  });
  return PooledPolicy.connect(await Promise.all(started));
}

export const TOY_SETTINGS = {
  updates: 5,
  prompts: 2,
  checkpointEvery: 2,
  rollouts: { group: 6, roots: 3, maxTokensPerTurn: 24 },
  branching: { rule: 'stochastic' },
  loss: { learningRate: 3e-3 },
  memory: { window: 3, refitEvery: 1, minClusterSize: 2, minSamples: 1 },
  evaluation: { every: 2 },
};

/** A run on the toy model; `events` gathers what it tells. */
export function toyRun(changes: Partial<PearlRun> = {}, own: object = {}): PearlRun & { readonly events: PearlEvent[] } {
  const events: PearlEvent[] = [];
  return {
    settings: settings({ ...TOY_SETTINGS, ...own }),
    seed: 1,
    tasks: {
      train: Array.from({ length: 7 }, (_, n) => toyTask(n)),
      val: Array.from({ length: 4 }, (_, n) => toyTask(n, 'val')),
      test: [],
      unseen: [],
    },
    open: (task) => new ToyEpisode(Number(task.data)),
    maxTurns: 5,
    context: ' red',
    connect: () => toyPolicy(),
    journal: new MemoryJournal(),
    keepRollouts: true,
    emit: (event) => events.push(event),
    signal: new AbortController().signal,
    control: { checkpoint: async () => 'continue' },
    events,
    ...changes,
  };
}
