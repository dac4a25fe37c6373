import { describe, expect, it } from 'vitest';
import {
  announcementOf,
  bestContext,
  cellsOf,
  currentContext,
  differsFromBefore,
  filterTasks,
  findRollout,
  referenceScore,
  rowGroup,
  successes,
} from '../../../src/app/run/derive.ts';
import { EMPTY_RUN, reduceRun } from '../../../src/app/run-store.ts';
import type { ExperimentConfig } from '../../../src/lab/config.ts';
import { parseConfig } from '../../../src/lab/config.ts';
import type { RunEvent } from '../../../src/textual/types.ts';
import { fakeRun } from '../../app/fake-events.ts';

const config: ExperimentConfig = parseConfig({
  schema: 'nacre.experiment/1',
  kind: 'textual',
  name: 'Small',
  seed: 5,
  suite: { id: 'household', train: 8, val: 10, test: 12, unseen: 6 },
  textual: { epochs: 2, rolloutsPerTask: 3, batchTasks: 4 },
});
const { events } = fakeRun(config);
const whole = reduceRun(EMPTY_RUN, events);

describe('folding the events of a run', () => {
  it('gives the same view whatever the batches', () => {
    for (const size of [1, 7, 100]) {
      let view = EMPTY_RUN;
      for (let at = 0; at < events.length; at += size) view = reduceRun(view, events.slice(at, at + size));
      expect(view).toEqual(whole);
    }
  });

  it('leaves the view it was given as it was', () => {
    const half = reduceRun(EMPTY_RUN, events.slice(0, 300));
    const copy = structuredClone(half);
    reduceRun(half, events.slice(300));
    expect(half).toEqual(copy);
  });

  it('keeps the identity of steps a batch does not touch', () => {
    const at = events.findIndex((event) => event.type === 'step-started' && event.step === 2);
    const before = reduceRun(EMPTY_RUN, events.slice(0, at));
    const after = reduceRun(before, events.slice(at, at + 5));
    expect(after.steps.get(1)).toBe(before.steps.get(1));
    expect(after.steps.get(2)).not.toBe(before.steps.get(2));
  });

  it('starts again when the run is told again', () => {
    expect(reduceRun(whole, events)).toEqual(whole);
  });

  it('holds every rollout of a step under its task and index', () => {
    const step = whole.steps.get(1)!;
    const cells = cellsOf(step);
    expect(cells.size).toBe(4);
    for (const [taskId, row] of cells) {
      expect(row).toHaveLength(3);
      row.forEach((rollout, k) => {
        expect(rollout?.taskId).toBe(taskId);
        expect(rollout?.index).toBe(k);
      });
    }
  });

  it('keeps token totals at the end of each step, and scores of all splits', () => {
    expect([...whole.tokensAfter.keys()].sort()).toEqual([1, 2, 3, 4]);
    expect(Object.keys(whole.scores.initial).sort()).toEqual(['test', 'train', 'unseen', 'val']);
    expect(whole.finished?.stopped).toBe(false);
  });

  it('takes what the record says when no single event told it', () => {
    const record = events.find((event) => event.type === 'step');
    const view = reduceRun(EMPTY_RUN, record ? [record] : []);
    const step = view.steps.get(1)!;
    expect(step.taskIds).toHaveLength(4);
    expect(step.cards.length).toBeGreaterThan(0);
    expect(step.candidate).toBeDefined();
  });
});

describe('reading a run', () => {
  it('groups a task as running until its step is routed', () => {
    const at = events.findIndex((event) => event.type === 'routed');
    const before = reduceRun(EMPTY_RUN, events.slice(0, at)).steps.get(1)!;
    const task = before.taskIds[0]!;
    expect(rowGroup(before, task)).toBe('running');
    expect(rowGroup(reduceRun(EMPTY_RUN, events.slice(0, at + 1)).steps.get(1)!, task)).not.toBe('running');
  });

  it('filters tasks by outcome, search and change', () => {
    const step = whole.steps.get(1)!;
    const later = whole.steps.get(3)!;
    expect(filterTasks(whole, step, 'all', '')).toEqual(step.taskIds);
    const failures = filterTasks(whole, step, 'failure', '');
    expect(failures.every((id) => successes(step, id) < step.k)).toBe(true);
    expect(filterTasks(whole, step, 'success', '').every((id) => successes(step, id) > 0)).toBe(true);
    expect(filterTasks(whole, step, 'all', 'no such task')).toEqual([]);
    expect(filterTasks(whole, step, 'different', '')).toEqual([]);
    expect(filterTasks(whole, later, 'different', '')).toEqual(later.taskIds.filter((id) => differsFromBefore(whole, later, id)));
    expect(later.taskIds.some((id) => differsFromBefore(whole, later, id))).toBe(true);
  });

  it('finds training, validation and test rollouts by id', () => {
    const rollouts = events.flatMap((event) => (event.type === 'rollout' ? [event] : []));
    for (const role of ['rollout', 'validation', 'test'] as const) {
      const { rollout } = rollouts.find((event) => event.role === role)!;
      expect(findRollout(whole, rollout.id)?.rollout).toEqual(rollout);
    }
    expect(findRollout(whole, 'nowhere')).toBeUndefined();
  });

  it('compares a candidate with the last accepted one', () => {
    expect(referenceScore(whole, 1)).toEqual(whole.scores.initial.val);
    const accepted = [...whole.steps.values()].find(({ record }) => record?.decision === 'accepted')!;
    expect(referenceScore(whole, accepted.step + 1)).toEqual(accepted.record?.candidateScore);
  });

  it('follows the context through accepted steps', () => {
    const at = events.findIndex((event) => event.type === 'step' && event.record.decision === 'accepted');
    const view = reduceRun(EMPTY_RUN, events.slice(0, at + 1));
    expect(currentContext(view)).toBe([...view.steps.values()].at(-1)?.candidate);
    expect(currentContext(reduceRun(EMPTY_RUN, events.slice(0, 2)))).toBe(whole.initialContext);
    expect(bestContext(whole)).toBe(whole.finished?.best.context);
  });

  it('speaks at boundaries only', () => {
    const spoken = events.map(announcementOf).filter((text) => text !== undefined);
    expect(spoken).toHaveLength(5);
    expect(spoken[0]).toMatch(/^Step 1 (accepted|rejected), 0\.\d\d to 0\.\d\d\.$/);
    expect(spoken.at(-1)).toMatch(/^The run has finished\. Test success/);
  });

  it('does not count a rollout that could not run as a failure', () => {
    const started: RunEvent = { type: 'step-started', step: 1, epoch: 1, taskIds: ['a'], k: 1, budget: 1, context: '' };
    const rollout = {
      ...events.find((event) => event.type === 'rollout')!.rollout,
      id: 'x',
      taskId: 'a',
      index: 0,
      finish: 'error' as const,
      success: false,
    };
    const view = reduceRun(EMPTY_RUN, [started, { type: 'rollout', step: 1, role: 'rollout', rollout, replayed: false }]);
    expect(filterTasks(view, view.steps.get(1)!, 'failure', '')).toEqual([]);
  });
});
