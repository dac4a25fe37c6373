import type { Rollout, Task } from '../../core/types.ts';
import type { Decision, Route, RunEvent, Score } from '../../textual/types.ts';
import { formatRate } from '../format.ts';
import type { RunView, StepView } from '../run-store.ts';
import type { Outcome } from '../ui/mark.tsx';

/** What the run page reads off a run. All pure. */

/** Rollouts of a step in grid order: by task, then by index in the group. */
export function cellsOf(step: StepView): ReadonlyMap<string, readonly (Rollout | undefined)[]> {
  const cells = new Map<string, (Rollout | undefined)[]>(step.taskIds.map((id) => [id, new Array<undefined>(step.k).fill(undefined)]));
  for (const rollout of step.rollouts.values()) {
    const row = cells.get(rollout.taskId);
    if (row) row[rollout.index] = rollout;
  }
  return cells;
}

/** The outcome of one rollout as its mark; a rollout that could not run is none. */
export function outcomeOf(rollout: Rollout | undefined): Outcome {
  if (!rollout || rollout.finish === 'error' || rollout.finish === 'cancelled') return 'running';
  return rollout.success ? 'success' : 'failure';
}

export const ROW_GROUPS = ['running', 'mixed', 'all-failure', 'all-success'] as const;
export type RowGroup = (typeof ROW_GROUPS)[number];

/** The route of a task, or `running` while its group is not complete. */
export function rowGroup(step: StepView, taskId: string): RowGroup {
  return step.routeOf?.[taskId] ?? 'running';
}

export const FILTERS = ['all', 'success', 'failure', 'different'] as const;
export type Filter = (typeof FILTERS)[number];

/** Tasks of a step that a filter and a search leave, in the step's order. */
export function filterTasks(view: RunView, step: StepView, filter: Filter, query: string): readonly string[] {
  const cells = filter === 'all' ? undefined : cellsOf(step);
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return step.taskIds.filter((id) => {
    if (!words.every((word) => taskText(view.tasks.get(id), id).includes(word))) return false;
    if (!cells) return true;
    const row = cells.get(id) ?? [];
    if (filter === 'different') return differsFromBefore(view, step, id);
    return row.some((rollout) => outcomeOf(rollout) === filter);
  });
}

/** Whether the task's successes changed since the last earlier step that tried it. False the first time it is tried. */
export function differsFromBefore(view: RunView, step: StepView, taskId: string): boolean {
  const earlier = [...view.steps.values()].filter((one) => one.step < step.step && one.taskIds.includes(taskId)).at(-1);
  if (!earlier) return false;
  return successes(earlier, taskId) !== successes(step, taskId);
}

/** How many of a task's rollouts in this step succeeded. */
export function successes(step: StepView, taskId: string): number {
  let count = 0;
  for (const rollout of step.rollouts.values()) if (rollout.taskId === taskId && rollout.success) count += 1;
  return count;
}

/** The validation score a step's candidate was measured against: the last accepted one, or the initial context's. */
export function referenceScore(view: RunView, step: number): Score | undefined {
  const accepted = [...view.steps.values()].filter((one) => one.step < step && one.record?.decision === 'accepted').at(-1);
  return accepted?.record?.candidateScore ?? view.scores.initial.val;
}

/** The context the run works with now. */
export function currentContext(view: RunView): string {
  const last = [...view.steps.values()].filter((step) => step.step > 0).at(-1);
  if (!last) return view.initialContext;
  return last.record?.decision === 'accepted' && last.candidate !== undefined ? last.candidate : last.context;
}

/** The context with the best validation so far. */
export function bestContext(view: RunView): string {
  return view.finished?.best.context ?? view.steps.get(view.bestStep)?.candidate ?? view.initialContext;
}

export function findRollout(view: RunView, id: string): { readonly rollout: Rollout; readonly step: StepView | undefined } | undefined {
  for (const step of view.steps.values()) {
    const rollout = step.rollouts.get(id) ?? step.validation.get(id);
    if (rollout) return { rollout, step };
  }
  const rollout = view.tests.get(id);
  return rollout && { rollout, step: undefined };
}

/** The validation rollout of a task in a step, if its candidate was validated here. */
export function validationOf(step: StepView, taskId: string): Rollout | undefined {
  for (const rollout of step.validation.values()) if (rollout.taskId === taskId) return rollout;
  return undefined;
}

export const DECISION_SHOWN: Readonly<Record<Decision, { readonly outcome: Outcome; readonly word: string }>> = {
  accepted: { outcome: 'success', word: 'accepted' },
  rejected: { outcome: 'failure', word: 'rejected' },
  blocked: { outcome: 'mixed', word: 'blocked' },
  skipped: { outcome: 'none', word: 'skipped' },
  'no-edit': { outcome: 'none', word: 'no edit' },
};

export const ROUTE_WORDS: Readonly<Record<RowGroup, string>> = {
  running: 'Running',
  mixed: 'Mixed',
  'all-failure': 'All failure',
  'all-success': 'All success',
};

/** What a route means for the critic, for the header of its rows. */
export const ROUTE_NOTES: Readonly<Record<RowGroup, string>> = {
  running: 'outcomes not complete yet',
  mixed: 'contrasted inside each task',
  'all-failure': 'repaired only if two tasks share the mechanism',
  'all-success': 'preserved only if two tasks share the behaviour',
};

export function routeOutcome(route: Route | 'running'): Outcome {
  return route === 'running' || route === 'mixed' ? route : route === 'all-success' ? 'success' : 'failure';
}

/** What the live region says about an event; nothing for all that is not a boundary. */
export function announcementOf(event: RunEvent): string | undefined {
  if (event.type === 'step') {
    const { step, decision, reference, candidateScore } = event.record;
    const word = DECISION_SHOWN[decision].word;
    return candidateScore
      ? `Step ${step} ${word}, ${formatRate(reference)} to ${formatRate(candidateScore.rate)}.`
      : `Step ${step}: ${word}. ${event.record.reason}`;
  }
  if (event.type === 'finished') {
    const before = event.initial.scores.test;
    const after = event.best.scores.test;
    return before && after
      ? `The run has finished. Test success ${formatRate(before.rate)} to ${formatRate(after.rate)}.`
      : 'The run has finished.';
  }
  return undefined;
}

function taskText(task: Task | undefined, id: string): string {
  return `${id} ${task?.type ?? ''} ${task?.input ?? ''}`.toLowerCase();
}
