import type { TokenTotals } from '../core/ledger.ts';
import type { Rollout, Split, Task } from '../core/types.ts';
import type { Checkpoint, EditReport, Phase, RejectedCard, Route, RunEvent, Score, StepRecord, VerifiedCard } from '../textual/types.ts';

/** A run as the page shows it: the events of a run folded into tables. Immutable; what an event does not touch keeps its identity. */
export interface RunView {
  readonly started: boolean;
  readonly totalSteps: number;
  readonly initialContext: string;
  readonly tasks: ReadonlyMap<string, Task>;
  readonly phase?: PhaseView;
  /** By step number; 0 holds the validation of the initial context. */
  readonly steps: ReadonlyMap<number, StepView>;
  /** Rollouts of the final test by id. */
  readonly tests: ReadonlyMap<string, Rollout>;
  readonly scores: { readonly initial: SplitScores; readonly best: SplitScores };
  readonly bestStep: number;
  readonly tokens?: TokenTotals;
  /** Totals at the end of each step. */
  readonly tokensAfter: ReadonlyMap<number, TokenTotals>;
  readonly finished?: { readonly initial: Checkpoint; readonly best: Checkpoint; readonly stopped: boolean };
}

export type SplitScores = Readonly<Partial<Record<Split, Score>>>;

export interface PhaseView {
  readonly step: number;
  readonly phase: Phase;
  readonly label: string;
  readonly done: number;
  readonly total: number;
}

export interface StepView {
  readonly step: number;
  readonly epoch: number;
  readonly taskIds: readonly string[];
  readonly k: number;
  readonly budget: number;
  readonly context: string;
  /** Training rollouts by id. */
  readonly rollouts: ReadonlyMap<string, Rollout>;
  /** Validation rollouts of the step's candidate by id. */
  readonly validation: ReadonlyMap<string, Rollout>;
  readonly routeOf?: Readonly<Record<string, Route>>;
  readonly duplicates: number;
  readonly cards: readonly VerifiedCard[];
  readonly rejected: readonly RejectedCard[];
  readonly candidate?: string;
  readonly applied: readonly EditReport[];
  readonly record?: StepRecord;
}

export const EMPTY_RUN: RunView = {
  started: false,
  totalSteps: 0,
  initialContext: '',
  tasks: new Map(),
  steps: new Map(),
  tests: new Map(),
  scores: { initial: {}, best: {} },
  bestStep: 0,
  tokensAfter: new Map(),
};

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Folds events into a run. Pure: `view` is left as it is; a batch copies each table it touches once. */
export function reduceRun(view: RunView, events: readonly RunEvent[]): RunView {
  let next: Mutable<RunView> = { ...view };
  const fresh = new Set<object>();
  const ownMap = <K, V>(map: ReadonlyMap<K, V>): Map<K, V> => {
    if (fresh.has(map)) return map as Map<K, V>;
    const copy = new Map(map);
    fresh.add(copy);
    return copy;
  };
  const ownStep = (number: number): Mutable<StepView> => {
    const known = next.steps.get(number);
    if (known && fresh.has(known)) return known as Mutable<StepView>;
    const copy: Mutable<StepView> = { ...(known ?? emptyStep(number)) };
    fresh.add(copy);
    const steps = ownMap(next.steps);
    next.steps = steps;
    steps.set(number, copy);
    return copy;
  };

  for (const event of events) {
    switch (event.type) {
      case 'started':
        // A run that is opened again tells everything from the start.
        next = {
          ...EMPTY_RUN,
          started: true,
          totalSteps: event.totalSteps,
          initialContext: event.initialContext,
          tasks: new Map(event.tasks.map((task) => [task.id, task])),
        };
        break;
      case 'phase': {
        const { step, phase, label, done, total } = event;
        next.phase = { step, phase, label, done, total };
        break;
      }
      case 'step-started': {
        const { step, epoch, taskIds, k, budget, context } = event;
        Object.assign(ownStep(step), { epoch, taskIds, k, budget, context });
        break;
      }
      case 'rollout': {
        const { rollout, role } = event;
        if (role === 'test') {
          const tests = ownMap(next.tests);
          next.tests = tests;
          tests.set(rollout.id, rollout);
          break;
        }
        const step = ownStep(event.step);
        const field = role === 'rollout' ? 'rollouts' : 'validation';
        const table = ownMap(step[field]);
        step[field] = table;
        table.set(rollout.id, rollout);
        break;
      }
      case 'routed':
        Object.assign(ownStep(event.step), { routeOf: event.routeOf, duplicates: event.duplicates });
        break;
      case 'cards': {
        const step = ownStep(event.step);
        step.cards = event.cards;
        step.rejected = event.rejected;
        break;
      }
      case 'patch': {
        const step = ownStep(event.step);
        step.candidate = event.candidate;
        step.applied = event.applied;
        break;
      }
      case 'step':
        recordStep(ownStep(event.record.step), event.record);
        break;
      case 'score': {
        next.scores = { ...next.scores, [event.which]: { ...next.scores[event.which], [event.score.split]: event.score } };
        if (event.which === 'best') next.bestStep = event.step;
        break;
      }
      case 'tokens': {
        next.tokens = event.totals;
        const tokensAfter = ownMap(next.tokensAfter);
        next.tokensAfter = tokensAfter;
        tokensAfter.set(lastRecorded(next.steps), event.totals);
        break;
      }
      case 'finished': {
        const { initial, best, stopped } = event;
        next.finished = { initial, best, stopped };
        next.scores = { initial: { ...next.scores.initial, ...initial.scores }, best: { ...next.scores.best, ...best.scores } };
        next.bestStep = best.step;
        break;
      }
    }
  }
  return next;
}

/** The record is the last word on its step: it fills in what single events told before, or did not. */
function recordStep(step: Mutable<StepView>, record: StepRecord): void {
  step.record = record;
  step.epoch = record.epoch;
  step.taskIds = record.taskIds;
  step.budget = record.budget;
  step.context = record.context;
  step.routeOf = record.routeOf;
  step.duplicates = record.duplicates;
  step.cards = record.cards;
  step.rejected = record.rejectedCards;
  step.applied = record.edits.applied;
  if (record.candidate !== undefined) step.candidate = record.candidate;
}

function emptyStep(step: number): StepView {
  return {
    step,
    epoch: 0,
    taskIds: [],
    k: 0,
    budget: 0,
    context: '',
    rollouts: new Map(),
    validation: new Map(),
    duplicates: 0,
    cards: [],
    rejected: [],
    applied: [],
  };
}

function lastRecorded(steps: ReadonlyMap<number, StepView>): number {
  let last = 0;
  for (const [number, { record }] of steps) if (record && number > last) last = number;
  return last;
}
