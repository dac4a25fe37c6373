import fc from 'fast-check';
import * as v from 'valibot';
import { beforeAll, describe, expect, it } from 'vitest';
import { NacreError } from '../../../src/core/errors.ts';
import { MemoryJournal } from '../../../src/core/journal.ts';
import type { Split, Task } from '../../../src/core/types.ts';
import { createHouseholdSuite } from '../../../src/suites/household/suite.ts';
import { createAnalyst } from '../../../src/textual/analyst/analyst.ts';
import { runTextual, type TextualOutcome, type TextualRun } from '../../../src/textual/loop.ts';
import { TextualSettings } from '../../../src/textual/settings.ts';
import type { RunEvent, Target } from '../../../src/textual/types.ts';
import { makeRollout } from './builders.ts';
import { ExpertTarget, statedBy } from './expert-target.ts';
import { type Reply, ScriptedCritic } from './scripted-critic.ts';

const suite = createHouseholdSuite({ sizes: { train: 12, val: 18, test: 12, unseen: 6 } });
const tasks: Record<Split, readonly Task[]> = suite.splits;
const QUICK = { epochs: 3, batchTasks: 6, rolloutsPerTask: 4 };

function makeRun(change: Partial<TextualRun> & { readonly set?: object } = {}): TextualRun {
  const { set, ...rest } = change;
  return {
    settings: v.parse(TextualSettings, { ...QUICK, ...set }),
    seed: 1,
    tasks,
    target: new ExpertTarget(),
    critic: createAnalyst(),
    journal: new MemoryJournal(),
    initialContext: '',
    emit: () => undefined,
    signal: new AbortController().signal,
    control: { checkpoint: async () => 'continue' },
    ...rest,
  };
}

const forbidden: Target = {
  rollouts: async () => {
    throw new Error('a finished run must not call its target');
  },
};

/** Timings are the only thing that two runs of the same seed may differ in. */
const timeless = (outcome: TextualOutcome) => ({ ...outcome, steps: outcome.steps.map(({ seconds: _, ...step }) => step) });

describe('runTextual', () => {
  let outcome: TextualOutcome;
  let journal: MemoryJournal;
  let events: RunEvent[];
  beforeAll(async () => {
    journal = new MemoryJournal();
    events = [];
    outcome = await runTextual(makeRun({ journal, emit: (event) => events.push(event) }));
  });

  it('finds rules that raise the success of a target that follows them', () => {
    expect(outcome.best.scores.test?.rate).toBeGreaterThan((outcome.initial.scores.test?.rate ?? 1) + 0.3);
    expect(statedBy(outcome.best.context).size).toBeGreaterThanOrEqual(4);
    expect(outcome.stopped).toBe(false);
  });

  it('accepts only strict improvements, and changes nothing on rejection', () => {
    expect(outcome.steps.map(({ decision }) => decision)).toContain('accepted');
    outcome.steps.forEach((step, i) => {
      if (step.decision === 'accepted') expect(step.candidateScore?.rate).toBeGreaterThan(step.reference);
      if (step.decision === 'rejected') expect(step.candidateScore?.rate).toBeLessThanOrEqual(step.reference);
      const next = outcome.steps[i + 1];
      if (!next) return;
      expect(next.context).toBe(step.decision === 'accepted' ? step.candidate : step.context);
      expect(next.reference).toBe(step.decision === 'accepted' ? step.candidateScore?.rate : step.reference);
    });
  });

  it('tests initial and best context on everything, validation scores included', () => {
    for (const checkpoint of [outcome.initial, outcome.best]) {
      expect(Object.keys(checkpoint.scores).sort()).toEqual(['test', 'train', 'unseen', 'val']);
    }
    expect(outcome.best.scores.val?.rate).toBe(
      Math.max(...outcome.steps.map(({ reference, candidateScore }) => Math.max(reference, candidateScore?.rate ?? 0))),
    );
  });

  it('routes, edits within the budget and counts rollouts', () => {
    for (const step of outcome.steps) {
      expect(step.routes.mixed + step.routes['all-success'] + step.routes['all-failure']).toBe(6);
      expect(step.rollouts).toBe(24);
      expect(step.edits.applied.length).toBeLessThanOrEqual(step.budget);
      for (const card of step.cards) expect(step.routeOf[card.taskId]).toBe(card.route);
    }
  });

  it('emits the story in order', () => {
    expect(events[0]?.type).toBe('started');
    expect(events.at(-1)?.type).toBe('finished');
    expect(events.filter(({ type }) => type === 'step')).toHaveLength(outcome.steps.length);
    const order = events
      .map(({ type }) => type)
      .filter((type) => type === 'step-started' || type === 'routed' || type === 'cards' || type === 'patch' || type === 'step');
    expect(order.slice(0, 5)).toEqual(['step-started', 'routed', 'cards', 'patch', 'step']);
  });

  it('gives the same run for the same seed, and another for another', async () => {
    expect(timeless(await runTextual(makeRun()))).toEqual(timeless(outcome));
    const other = await runTextual(makeRun({ seed: 2 }));
    expect(other.steps.map(({ taskIds }) => taskIds)).not.toEqual(outcome.steps.map(({ taskIds }) => taskIds));
  });

  it('shows a finished run again without calling target or critic', async () => {
    const critic = new ScriptedCritic(() => new Error('must not be asked'));
    const again: RunEvent[] = [];
    const shown = await runTextual(makeRun({ journal, target: forbidden, critic, emit: (event) => again.push(event) }));
    expect(shown).toEqual(outcome);
    expect(critic.heard).toEqual([]);
    const rollouts = (list: readonly RunEvent[]) => list.filter((event) => event.type === 'rollout');
    // Live they come as they finish, shown again in the order of the tasks.
    const ids = (list: readonly RunEvent[]) => rollouts(list).map(({ rollout }) => rollout.id);
    expect(ids(again).toSorted()).toEqual(ids(events).toSorted());
    expect(rollouts(again).every(({ replayed }) => replayed)).toBe(true);
    expect(rollouts(events).some(({ replayed }) => replayed)).toBe(false);
  });

  it('uses units with stable names', () => {
    const keys = journal.keys();
    expect(keys).toContain('rollout e1/b1/t1/k1');
    expect(keys.some((key) => /^critique e1\/b1\/mixed\/0$/.test(key))).toBe(true);
    expect(keys.some((key) => /^validate [0-9a-f]{32}\/val\//.test(key))).toBe(true);
    expect(keys.some((key) => /^test [0-9a-f]{32}\/unseen\/unseen\//.test(key))).toBe(true);
  });

  it('comes to the same end wherever it is killed', async () => {
    const total = journal.keys().length;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: total }), { minLength: 1, maxLength: 4 }), async (kills) => {
        const survivor = new KillableJournal();
        for (const after of kills) {
          survivor.left = after;
          const attempt = runTextual(makeRun({ journal: survivor })).catch((error: unknown) => error);
          const result = await attempt;
          if (!(result instanceof Killed)) break;
        }
        survivor.left = Number.POSITIVE_INFINITY;
        expect(timeless(await runTextual(makeRun({ journal: survivor })))).toEqual(timeless(outcome));
      }),
      { numRuns: 12, seed: 5 },
    );
  });

  it('leaves at once when aborted and goes on later', async () => {
    const abort = new AbortController();
    const kept = new MemoryJournal();
    let seen = 0;
    const emit = (event: RunEvent) => {
      if (event.type === 'rollout' && ++seen === 50) abort.abort(new NacreError('cancelled', 'left', 'come back'));
    };
    await expect(runTextual(makeRun({ journal: kept, emit, signal: abort.signal }))).rejects.toMatchObject({ code: 'cancelled' });
    expect(kept.keys().length).toBeGreaterThanOrEqual(40);
    expect(timeless(await runTextual(makeRun({ journal: kept })))).toEqual(timeless(outcome));
  });
});

class Killed extends Error {}

/** A journal that dies after some units, as a closed tab does. */
class KillableJournal extends MemoryJournal {
  left = Number.POSITIVE_INFINITY;

  override async once<T>(key: string, compute: () => Promise<T>): Promise<T> {
    return super.once(key, async () => {
      const value = await compute();
      this.spend();
      return value;
    });
  }

  override async onceEach<T>(
    keys: readonly string[],
    compute: (missing: readonly string[], store: (key: string, value: T) => void) => Promise<void>,
  ): Promise<T[]> {
    return super.onceEach<T>(keys, (missing, store) =>
      compute(missing, (key, value) => {
        this.spend();
        store(key, value);
      }),
    );
  }

  private spend(): void {
    if (--this.left < 0) throw new Killed('killed');
  }
}

describe('finishing early', () => {
  const stopAfter = (checkpoints: number) => {
    let seen = 0;
    return { checkpoint: async () => (++seen > checkpoints ? ('finish' as const) : ('continue' as const)) };
  };

  it('tests what was found, and ends at the same place when shown again', async () => {
    const journal = new MemoryJournal();
    const stopped = await runTextual(makeRun({ journal, control: stopAfter(30) }));
    expect(stopped.stopped).toBe(true);
    expect(stopped.steps.length).toBeGreaterThan(0);
    expect(stopped.steps.length).toBeLessThan(6);
    expect(stopped.best.scores.test).toBeDefined();
    expect(await runTextual(makeRun({ journal, target: forbidden }))).toEqual(stopped);
  });

  it('tests the initial context when stopped before anything was learnt', async () => {
    const stopped = await runTextual(makeRun({ control: stopAfter(0) }));
    expect(stopped).toMatchObject({ stopped: true, steps: [], best: { step: 0, context: '' } });
    expect(stopped.best.scores.test?.n).toBe(12);
  });

  it.each([1, 500, 4000, 9000])('never passes a cap of %i tokens', async (tokenCap) => {
    const journal = new MemoryJournal();
    const capped = await runTextual(makeRun({ journal, set: { tokenCap } }));
    expect(capped.stopped).toBe(true);
    expect(capped.tokens.iteration).toBeLessThanOrEqual(tokenCap);
    if (tokenCap >= 4000) expect(capped.tokens.iteration).toBeGreaterThan(tokenCap / 2);
    expect(await runTextual(makeRun({ journal, target: forbidden, set: { tokenCap } }))).toEqual(capped);
  });

  it.each([4000, 9000])('under a cap of %i tokens comes to the same end wherever it is killed', async (tokenCap) => {
    const set = { tokenCap };
    const whole = new MemoryJournal();
    const expected = timeless(await runTextual(makeRun({ journal: whole, set })));
    const total = whole.keys().length;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: total }), { minLength: 1, maxLength: 3 }), async (kills) => {
        const survivor = new KillableJournal();
        for (const after of kills) {
          survivor.left = after;
          if (!((await runTextual(makeRun({ journal: survivor, set })).catch((error: unknown) => error)) instanceof Killed)) break;
        }
        survivor.left = Number.POSITIVE_INFINITY;
        expect(timeless(await runTextual(makeRun({ journal: survivor, set })))).toEqual(expected);
      }),
      { numRuns: 15, seed: 6 },
    );
  });

  it('counts what an earlier session had spent of a batch in which the run is stopped', async () => {
    const survivor = new KillableJournal();
    survivor.left = 40;
    await expect(runTextual(makeRun({ journal: survivor }))).rejects.toBeInstanceOf(Killed);
    survivor.left = Number.POSITIVE_INFINITY;
    const stopped = await runTextual(makeRun({ journal: survivor, control: stopAfter(0) }));
    const rollouts = survivor.keys().filter((key) => /^(rollout|validate) /.test(key));
    expect(rollouts).toHaveLength(40);
    const { rollout, validation } = stopped.tokens.byRole;
    expect(rollout.inputTokens + validation.inputTokens).toBe(100 * 40);
  });

  it('stops at a perfect validation score when asked to', async () => {
    const run = await runTextual(makeRun({ set: { epochs: 20, stopAtPerfect: true } }));
    expect(run.best.scores.val?.rate).toBe(1);
    expect(run.steps.length).toBeLessThan(40);
    expect(run.stopped).toBe(false);
  });
});

describe('rollouts that cannot run', () => {
  /** Fails the rollouts of one task, `times` times each. */
  class Flaky extends ExpertTarget {
    readonly tries = new Map<string, number>();
    private readonly times: number;
    constructor(times: number) {
      super();
      this.times = times;
    }
    override async rollouts(...[jobs, options]: Parameters<Target['rollouts']>) {
      const bad = jobs.filter(({ id, task }) => {
        const tries = (this.tries.get(id) ?? 0) + 1;
        this.tries.set(id, tries);
        return task === tasks.train[0] && tries <= this.times;
      });
      const fine = await super.rollouts(
        jobs.filter((job) => !bad.includes(job)),
        options,
      );
      const failed = bad.map(({ id, task, index }) => makeRollout(id, task.id, 0, { index, finish: 'error', error: 'offline' }));
      for (const rollout of failed) options.onRollout(rollout);
      return [...fine, ...failed];
    }
  }

  it('are tried again', async () => {
    const run = await runTextual(makeRun({ target: new Flaky(2), set: { epochs: 1 } }));
    expect(run.steps.every(({ rolloutErrors }) => rolloutErrors === 0)).toBe(true);
  });

  it('are excluded and counted after the retries, never scored 0', async () => {
    const run = await runTextual(makeRun({ target: new Flaky(99), set: { epochs: 1 } }));
    const step = run.steps.find(({ taskIds }) => taskIds.includes(tasks.train[0]!.id))!;
    expect(step.rolloutErrors).toBe(4);
    expect(step.rollouts).toBe(20);
    expect(step.routeOf).not.toHaveProperty(tasks.train[0]!.id);
    expect(run.initial.scores.train).toMatchObject({ n: 11, errors: 1 });
  });
});

describe('critics of every kind', () => {
  const run = (reply: Reply, change: object = {}) => {
    const critic = new ScriptedCritic(() => reply);
    return runTextual(makeRun({ critic, set: { epochs: 1, batchTasks: 12, ...change } })).then((outcome) => ({ outcome, critic }));
  };

  it('skips no step silently when the critic answers nonsense', async () => {
    const { outcome, critic } = await run('I like turtles.');
    expect(outcome.steps[0]).toMatchObject({ decision: 'no-edit', unusableAnswers: critic.heard.length });
    expect(outcome.steps[0]?.notes?.length).toBeGreaterThan(0);
  });

  it('fails in a way that resumes when the critic cannot run', async () => {
    const journal = new MemoryJournal();
    const broken = makeRun({ journal, critic: new ScriptedCritic(() => new Error('offline')) });
    await expect(runTextual(broken)).rejects.toMatchObject({ code: 'critic-failed', message: expect.stringContaining('offline') });
    const resumed = await runTextual(makeRun({ journal }));
    expect(timeless(resumed)).toEqual(timeless(await runTextual(makeRun())));
  });

  it('counts critic tokens by role', async () => {
    const { outcome, critic } = await run({ edits: [], cards: [] });
    expect(outcome.tokens.byRole.critique.calls).toBe(critic.heard.length);
    expect(outcome.tokens.byRole.critique.inputTokens).toBe(100 * critic.heard.length);
    const roles = ['rollout', 'critique', 'validation'] as const;
    const sum = roles.reduce(
      (total, role) => total + outcome.tokens.byRole[role].inputTokens + outcome.tokens.byRole[role].outputTokens,
      0,
    );
    expect(outcome.tokens.iteration).toBe(sum);
    expect(outcome.tokens.byRole.test.calls).toBeGreaterThan(0);
  });

  it('blocks a combination that was rejected, resamples, then skips validation', async () => {
    const critic = new ScriptedCritic(({ kind, user }) => {
      if (kind !== 'critique') return 'no';
      const task = /<task id="([^"]+)"/.exec(user)?.[1];
      return {
        divergence: 'x',
        edits: [{ op: 'append', content: '- Sing a song at every shelf.', kind: 'corrective', support: [task] }],
        cards: [],
      };
    });
    const outcome = await runTextual(makeRun({ critic, set: { epochs: 2, batchTasks: 12, ablations: { crossGroupReview: false } } }));
    expect(outcome.steps.map(({ decision, resamples }) => [decision, resamples])).toEqual([
      ['rejected', 0],
      ['blocked', 3],
    ]);
    expect(critic.heard.some(({ user }) => /^<avoid>$/m.test(user))).toBe(true);
    expect(critic.heard.some(({ user }) => user.includes('step 1 rejected'))).toBe(true);
  });

  it('validates the same text once', async () => {
    const target = new ExpertTarget();
    await runTextual(makeRun({ target, critic: new ScriptedCritic(() => ({ edits: [], cards: [] })), set: { epochs: 1 } }));
    expect(target.rolloutsRun).toBe(18 + 2 * 6 * 4 + 12 + 12 + 6);
  });
});

describe('ablations', () => {
  const heard = async (ablations: object, set: object = {}) => {
    const analyst = createAnalyst();
    const kinds: string[] = [];
    const critic = {
      info: analyst.info,
      generate: (...[messages, options]: Parameters<typeof analyst.generate>) => {
        kinds.push(/^<call ([^>]*)>/.exec(messages[1]?.content ?? '')?.[1] ?? '');
        return analyst.generate(messages, options);
      },
    };
    const outcome = await runTextual(makeRun({ critic, set: { epochs: 1, batchTasks: 12, ablations, ...set } }));
    return { kinds, step: outcome.steps[0]! };
  };

  it('reviews by default', async () => {
    const { kinds, step } = await heard({});
    expect(kinds.some((kind) => kind.includes('kind="review"'))).toBe(true);
    expect(step.edits.reviewed.length).toBeGreaterThan(0);
  });

  it('no cross-group review', async () => {
    const { kinds, step } = await heard({ crossGroupReview: false });
    expect(kinds.some((kind) => kind.includes('kind="review"'))).toBe(false);
    expect(step.edits.reviewed).toEqual([]);
  });

  it('no outcome routing', async () => {
    const { kinds } = await heard({ outcomeRouting: false });
    const critiques = kinds.filter((kind) => kind.includes('kind="critique"'));
    expect(critiques.every((kind) => kind.includes('route="pooled"'))).toBe(true);
  });

  it('no no-edit cards', async () => {
    // One card a mixed task, an edit for none of them.
    const critic = new ScriptedCritic(({ user }) => {
      const [, task] = /<task id="([^"]+)" route="mixed"/.exec(user) ?? [];
      const [, rollout] = /<trajectory id="([^"]+)"/.exec(user) ?? [];
      const card = {
        task_id: task,
        rollout_id: rollout,
        quote: 'You are in the middle of a room.',
        condition: 'c',
        behavior: 'b',
        observed_effect: 'e',
      };
      return { edits: [], cards: task ? [card] : [] };
    });
    const cards = async (noEditCards: boolean) =>
      (await runTextual(makeRun({ critic, set: { epochs: 1, batchTasks: 12, ablations: { noEditCards } } }))).steps[0]!;
    const step = await cards(true);
    expect(step.routes.mixed).toBeGreaterThan(0);
    expect(step.cards).toHaveLength(step.routes.mixed);
    expect((await cards(false)).cards).toEqual([]);
  });

  it('K = 1 leaves no mixed task', async () => {
    expect((await heard({}, { rolloutsPerTask: 1 })).step.routes.mixed).toBe(0);
  });
});

it('refuses a context with broken markers before anything runs', async () => {
  await expect(runTextual(makeRun({ initialContext: 'a\n<!-- protected:start x -->' }))).rejects.toMatchObject({ code: 'context-markers' });
});

it('refuses empty train or validation splits', async () => {
  await expect(runTextual(makeRun({ tasks: { ...tasks, val: [] } }))).rejects.toMatchObject({ code: 'tasks-missing' });
});

it('hands the target the context without markers and keeps the region', async () => {
  const contexts = new Set<string>();
  class Listening extends ExpertTarget {
    override rollouts(...[jobs, options]: Parameters<Target['rollouts']>) {
      contexts.add(options.context);
      return super.rollouts(jobs, options);
    }
  }
  const region = '<!-- protected:start head -->\n# Rules\n<!-- protected:end head -->\n';
  const outcome = await runTextual(makeRun({ target: new Listening(), initialContext: region, set: { epochs: 1 } }));
  expect(contexts.size).toBeGreaterThan(1);
  for (const context of contexts) {
    expect(context).toContain('# Rules');
    expect(context).not.toContain('protected:');
  }
  expect(outcome.best.context.includes(region.trim())).toBe(true);
});
