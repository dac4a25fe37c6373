import { beforeAll, describe, expect, it } from 'vitest';
import { type Journal, MemoryJournal } from '../../../src/core/journal.ts';
import { Random } from '../../../src/core/random.ts';
import { ADVANTAGE_SCHEMA, advantageExport, trainedWeights } from '../../../src/pearl/export.ts';
import { type PearlOutcome, type PearlRun, runPearl } from '../../../src/pearl/loop.ts';
import type { PearlEvent, PolicyScore, Trajectory, UpdateRecord, UpdateUnit } from '../../../src/pearl/types.ts';
import { toyPolicy, toyRun, toyTask } from './toy.ts';

const weightsOf = async (journal: Journal): Promise<Float32Array> => (await trainedWeights(journal))!.parameters;
/** Everything but wall time. */
const timeless = (records: readonly UpdateRecord[]) =>
  records.map(({ seconds: _, evaluation, ...record }) => ({ ...record, ...(evaluation ? { evaluation: untimed(evaluation) } : {}) }));
const untimed = ({ seconds: _, ...score }: PolicyScore) => score;

interface Finished {
  readonly outcome: PearlOutcome;
  readonly journal: MemoryJournal;
  readonly events: readonly PearlEvent[];
  readonly weights: Float32Array;
}

async function finish(own: object = {}, changes: Partial<PearlRun> = {}): Promise<Finished> {
  const journal = new MemoryJournal();
  const run = toyRun({ journal, ...changes }, own);
  const outcome = await runPearl(run);
  return { outcome, journal, events: run.events, weights: await weightsOf(journal) };
}

/** Lets some updates begin, then asks the run to finish. */
function stopAfter(updates: number): PearlRun['control'] {
  let asked = 0;
  return { checkpoint: async () => (++asked > updates ? 'finish' : 'continue') };
}

let whole: Finished;
beforeAll(async () => {
  whole = await finish();
});

describe('the loop', () => {
  it('learns, branches, compares, clusters and shapes', () => {
    const { outcome, events } = whole;
    expect(outcome.updates).toHaveLength(5);
    expect(outcome.updates.every(({ trajectories }) => trajectories === 12)).toBe(true);
    expect(outcome.updates.some(({ branches }) => branches > 0)).toBe(true);
    expect(outcome.updates.some(({ pairs }) => pairs > 0)).toBe(true);
    expect(outcome.updates.some(({ clusters }) => clusters.failure > 0)).toBe(true);
    expect(outcome.updates.some(({ shaping }) => shaping.active)).toBe(true);
    expect(outcome.updates[0]!.shaping.active).toBe(false);
    expect(outcome.updates.map(({ evaluation }) => evaluation?.n)).toEqual([undefined, 4, undefined, 4, undefined]);
    expect(outcome.initial.scores.val!.update).toBe(0);
    expect(outcome.final.scores.val!.update).toBe(5);
    expect(events.filter(({ type }) => type === 'forest')).toHaveLength(10);
    expect(events.filter(({ type }) => type === 'clusters')).toHaveLength(5);
    expect(events.at(-1)!.type).toBe('pearl-finished');
  });

  it('gives every trajectory its parent and branch turn, and a branch its parent’s tokens', async () => {
    const forests = whole.journal.keys().filter((key) => key.includes('/forest/'));
    let branches = 0;
    for (const key of forests) {
      const trajectories = (await whole.journal.peek<Trajectory[]>(key))!;
      for (const { parentId, branchTurn, ids, turns } of trajectories) {
        for (const { span, tokens } of turns) expect(ids.slice(span.start, span.end)).toEqual(tokens.ids);
        if (parentId === undefined) continue;
        branches++;
        const parent = trajectories.find(({ id }) => id === parentId)!;
        const shared = turns[branchTurn!]!.span.start;
        expect(branchTurn).toBeGreaterThan(0);
        expect(ids.slice(0, shared)).toEqual(parent.ids.slice(0, shared));
      }
    }
    expect(branches).toBe(whole.outcome.updates.reduce((sum, update) => sum + update.branches, 0));
  });

  it('does not depend on how many engines there are', async () => {
    const { outcome, weights } = await finish({}, { connect: () => toyPolicy(3) });
    expect(weights).toEqual(whole.weights);
    expect(timeless(outcome.updates)).toEqual(timeless(whole.outcome.updates));
  });

  it('depends on the seed', async () => {
    expect((await finish({ updates: 1 }, { seed: 2 })).weights).not.toEqual((await finish({ updates: 1 })).weights);
  });

  it('shows a finished run from its journal without a model, with the same events', async () => {
    const again = toyRun({ journal: whole.journal, connect: () => Promise.reject(new Error('no model')) });
    const outcome = await runPearl(again);
    expect(outcome).toEqual(whole.outcome);
    const shown = (events: readonly PearlEvent[]) =>
      events.filter(({ type }) => type !== 'pearl-phase').map((event) => ('replayed' in event ? { ...event, replayed: true } : event));
    // Forests of an update are told in the order in which they end, and shown again in that of the prompts.
    const place = (event: PearlEvent) => (event.type === 'forest' ? `${event.update} ${event.task.id}` : '');
    const forests = (events: readonly PearlEvent[]) =>
      shown(events)
        .filter(({ type }) => type === 'forest')
        .sort((x, y) => (place(x) < place(y) ? -1 : 1));
    const others = (events: readonly PearlEvent[]) => shown(events).filter(({ type }) => type !== 'forest');
    expect(forests(again.events)).toEqual(forests(whole.events));
    expect(others(again.events)).toEqual(others(whole.events));
  });

  it('stops early on request, and stays stopped there', async () => {
    const journal = new MemoryJournal();
    const run = toyRun({ journal, control: stopAfter(2) });
    const outcome = await runPearl(run);
    expect([outcome.stopped, outcome.updates.length, outcome.final.update]).toEqual([true, 2, 2]);
    expect((await runPearl(toyRun({ journal }))).updates).toHaveLength(2);
  });

  it('needs as many tasks as prompts', async () => {
    const few = toyRun();
    await expect(runPearl({ ...few, tasks: { ...few.tasks, train: [toyTask(1)] } })).rejects.toThrow(/pearl\.prompts is 2/);
  });

  it('refuses to branch in an environment that cannot be copied', async () => {
    const open: PearlRun['open'] = () => ({
      observation: ' go',
      act: () => ({ observation: ' x', reward: 0, done: false, success: false }),
    });
    await expect(runPearl(toyRun({ open }))).rejects.toMatchObject({ code: 'episode-cannot-branch' });
  });

  it('refuses weights of another shape', async () => {
    const journal = new MemoryJournal();
    await journal.put('weights', { update: 0, optimiserStep: 0, parameters: 'AAAAAA==', m: 'AAAAAA==', v: 'AAAAAA==' });
    await expect(runPearl(toyRun({ journal }))).rejects.toMatchObject({ code: 'bad-parameter-count' });
    await journal.put('weights', { update: 0, optimiserStep: 0, parameters: 'AAA', m: '', v: '' });
    await expect(runPearl(toyRun({ journal }))).rejects.toMatchObject({ code: 'bad-floats' });
  });

  it('exports the advantage of every token, shaped ones with their multiplier', async () => {
    const lines: Record<string, unknown>[] = [];
    for await (const line of advantageExport(whole.journal, 5)) lines.push(JSON.parse(line) as Record<string, unknown>);
    const shaped = lines.filter(({ multiplier }) => multiplier !== 1);
    expect(shaped).toHaveLength(whole.outcome.updates.reduce((sum, { shaping }) => sum + shaping.tokens, 0));
    for (const { advantage, multiplier, shaped: value } of shaped) {
      expect(advantage).toBeLessThan(0);
      expect(value).toBeCloseTo((advantage as number) * (multiplier as number), 12);
    }
    for (const line of lines) expect(Object.keys(line).sort()).toEqual([...ADVANTAGE_SCHEMA.required].sort());
    expect(lines[0]).toMatchObject({ update: 1, turn: 0, token: 0, parent: null, branchTurn: null, multiplier: 1 });
  });
});

describe('PEARL and ARPO', () => {
  it('have the same weights to the bit until shaping first fires, and part then', async () => {
    const first = whole.outcome.updates.findIndex(({ shaping }) => shaping.active) + 1;
    expect(first).toBeGreaterThan(1);
    const before = first - 1;
    const pearl = await finish({ updates: before });
    const arpo = await finish({ updates: before, optimiser: 'arpo' });
    expect(arpo.weights).toEqual(pearl.weights);
    expect(untimed(arpo.outcome.final.scores.val!)).toEqual(untimed(pearl.outcome.final.scores.val!));
    expect((await finish({ updates: first, optimiser: 'arpo' })).weights).not.toEqual((await finish({ updates: first })).weights);
  });
});

/** A journal that fails at its n-th write, as a process that is killed there, and keeps what was written before. */
class FragileJournal implements Journal {
  private left: number;
  private readonly inner: MemoryJournal;

  constructor(inner: MemoryJournal, writes: number) {
    this.inner = inner;
    this.left = writes;
  }

  once<T>(key: string, compute: () => Promise<T>): Promise<T> {
    return this.inner.once(key, async () => {
      const value = await compute();
      this.write();
      return value;
    });
  }

  onceEach<T>(keys: readonly string[], compute: (missing: readonly string[], store: (key: string, value: T) => void) => Promise<void>) {
    return this.inner.onceEach<T>(keys, (missing, store) =>
      compute(missing, (key, value) => {
        this.write();
        store(key, value);
      }),
    );
  }

  peek<T>(key: string): Promise<T | undefined> {
    return this.inner.peek(key);
  }

  async put<T>(key: string, value: T): Promise<void> {
    this.write();
    await this.inner.put(key, value);
  }

  private write(): void {
    if (this.left-- <= 0) throw new Error('killed');
  }
}

describe('a run killed at any moment', () => {
  const killedAnd = async (seed: number, own: object, changes: Partial<PearlRun> = {}): Promise<Finished & { readonly kills: number }> => {
    const random = new Random(seed, 'kill');
    const journal = new MemoryJournal();
    let kills = 0;
    for (;;) {
      // Either the journal dies at a write, or the run is aborted at some event: in mid-rollout, before training, after it.
      const abort = new AbortController();
      const fragile = new FragileJournal(journal, 1 + random.int(7));
      let events = random.int(60);
      const byEvent = random.chance(0.5);
      const run = toyRun(
        {
          ...changes,
          journal: byEvent ? journal : fragile,
          signal: abort.signal,
          emit: ({ type }) => {
            if (byEvent && type === 'pearl-phase' && events-- === 0) abort.abort(new Error('killed'));
          },
        },
        own,
      );
      try {
        const outcome = await runPearl(run);
        return { outcome, journal, events: run.events, weights: await weightsOf(journal), kills };
      } catch (error) {
        if (!(error instanceof Error && error.message === 'killed')) throw error;
        kills++;
      }
    }
  };

  it('ends with the same weights, figures and banks, whatever the moments', async () => {
    let kills = 0;
    for (let seed = 1; seed <= 10; seed++) {
      const resumed = await killedAnd(seed, {});
      expect(resumed.weights).toEqual(whole.weights);
      expect(timeless(resumed.outcome.updates)).toEqual(timeless(whole.outcome.updates));
      expect(resumed.outcome.banks).toEqual(whole.outcome.banks);
      kills += resumed.kills;
    }
    expect(kills).toBeGreaterThanOrEqual(20);
  }, 120_000);

  it('is told when the machine it resumes on computes differently', async () => {
    const journal = new MemoryJournal();
    await runPearl(toyRun({ journal, control: stopAfter(1) }, { checkpointEvery: 100 }));
    const kept = new MemoryJournal();
    for (const key of journal.keys().filter((name) => name.startsWith('update') || name.startsWith('score 0'))) {
      await kept.put(key, await journal.peek(key));
    }
    const unit = (await kept.peek<UpdateUnit>('update 1'))!;
    await kept.put('update 1', { ...unit, record: { ...unit.record, gradientNorm: 2 * unit.record.gradientNorm } });
    const run = toyRun({ journal: kept }, { updates: 2 });
    await runPearl(run);
    expect(run.events.filter(({ type }) => type === 'notice')).toMatchObject([{ code: 'resume-differs' }]);
  });

  it('does so too when trajectories are not kept, and with the MEDS-style memory', async () => {
    for (const own of [{}, { optimiser: 'meds' }]) {
      const plain = await finish(own, { keepRollouts: false });
      for (const seed of [1, 2]) {
        const resumed = await killedAnd(seed, own, { keepRollouts: false });
        expect(resumed.weights).toEqual(plain.weights);
        expect(untimed(resumed.outcome.final.scores.val!)).toEqual(untimed(plain.outcome.final.scores.val!));
      }
      expect(plain.journal.keys().some((key) => key.includes('/forest/'))).toBe(false);
    }
  }, 120_000);
});

describe('every optimiser', () => {
  it.each(['grpo', 'arpo', 'gigpo', 'tree-grpo', 'meds'])('%s moves the weights', async (optimiser) => {
    const { outcome, weights, journal } = await finish({ optimiser, updates: 2, tree: { chains: 3, expansions: 1, rounds: 2 } });
    expect(outcome.updates[0]!.optimiserSteps).toBe(2);
    expect(outcome.updates[0]!.gradientNorm).toBeGreaterThan(0);
    expect(outcome.updates.every(({ banks }) => banks.failure + banks.success === 0)).toBe(true);
    expect(weights.every(Number.isFinite)).toBe(true);
    expect(weights).not.toEqual(await weightsOfToy());
    expect(journal.keys()).toContain('update 2');
  });

  it.each([
    { memory: { feature: 'all-logits' } },
    { memory: { feature: 'token-state' } },
    { memory: { feature: 'pooled-state', direction: 'both' } },
    { memory: { location: 'random', veto: false, centroid: 'meanNormalised', window: 'unlimited' } },
    { base: 'tree-grpo', tree: { chains: 3, expansions: 1, rounds: 1 } },
    {
      advantage: { sharedPrefix: 'hard', standardise: false },
      loss: { minibatches: 2, epochs: 1, aggregation: 'token', learningRate: 1e-3 },
    },
  ])('PEARL runs with %j', async (own) => {
    const { outcome } = await finish({
      ...own,
      memory: { window: 3, refitEvery: 1, minClusterSize: 2, minSamples: 1, ...own.memory },
      updates: 3,
    });
    expect(outcome.updates).toHaveLength(3);
    expect(outcome.banks.failure.length).toBeGreaterThan(0);
    const lengths = new Set(outcome.banks.failure.map(({ feature }) => feature.length));
    expect(lengths.size).toBe(1);
    for (const { feature } of outcome.banks.failure) expect(Math.hypot(...feature)).toBeCloseTo(1, 6);
  });
});

async function weightsOfToy(): Promise<Float32Array> {
  return (await (await toyPolicy()).trainer(1).state()).parameters;
}
