import type { Split, Task } from '../../core/types.ts';
import type {
  BankPoint,
  ClusterSnapshot,
  Outcome,
  PairRecord,
  PearlEvent,
  PolicyCheckpoint,
  PolicyScore,
  ShapedTokens,
  TrajectoryView,
  UpdateRecord,
  UpdateUnit,
} from '../../pearl/types.ts';

/** A PEARL run as the page shows it. Immutable; what an event does not touch keeps its identity. */
export interface PearlView {
  readonly started?: Extract<PearlEvent, { type: 'pearl-started' }>;
  readonly phase?: Extract<PearlEvent, { type: 'pearl-phase' }>;
  readonly tasks: ReadonlyMap<string, Task>;
  /** By number, in order. */
  readonly updates: ReadonlyMap<number, UpdateView>;
  /** Finished updates in order. */
  readonly records: readonly UpdateRecord[];
  /** Every entry the banks ever held, by `outcome/id`: older snapshots still name those that left. */
  readonly points: ReadonlyMap<string, BankPoint>;
  /** Ids in each bank now. */
  readonly banks: Readonly<Record<Outcome, ReadonlySet<string>>>;
  readonly snapshots: readonly ClusterSnapshot[];
  readonly scores: PolicyScores;
  readonly notices: readonly { readonly code: string; readonly message: string }[];
  readonly finished?: { readonly initial: PolicyCheckpoint; readonly final: PolicyCheckpoint; readonly stopped: boolean };
}

export interface PolicyScores {
  readonly initial: Readonly<Partial<Record<Split, PolicyScore>>>;
  readonly final: Readonly<Partial<Record<Split, PolicyScore>>>;
  /** Validation while it learns, in order. */
  readonly during: readonly PolicyScore[];
}

export interface UpdateView {
  readonly update: number;
  /** By task id, in order of arrival. */
  readonly forests: ReadonlyMap<string, ForestView>;
  /** Whether the page let its trajectories go to save memory. */
  readonly released: boolean;
  readonly advantages: UpdateUnit['advantages'];
  readonly pairs: readonly PairRecord[];
  readonly shaped: readonly ShapedTokens[];
  readonly added: Readonly<Record<Outcome, readonly BankPoint[]>>;
  readonly record?: UpdateRecord;
}

export interface ForestView {
  readonly task: Pick<Task, 'id' | 'type' | 'input'>;
  readonly trajectories: readonly TrajectoryView[];
}

/** Most trajectories the page holds; those of the oldest updates are let go first. The run itself keeps all. */
export const MAX_TRAJECTORIES = 6000;

export const EMPTY_PEARL: PearlView = {
  tasks: new Map(),
  updates: new Map(),
  records: [],
  points: new Map(),
  banks: { failure: new Set(), success: new Set() },
  snapshots: [],
  scores: { initial: {}, final: {}, during: [] },
  notices: [],
};

export function pointKey(outcome: Outcome, id: string): string {
  return `${outcome}/${id}`;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Folds events into a run. Pure: `view` is left as it is; a batch copies each table it touches once. */
export function reducePearl(view: PearlView, events: readonly PearlEvent[]): PearlView {
  let next: Mutable<PearlView> = { ...view };
  const fresh = new Set<object>();
  const own = <T extends object>(value: T, copy: (value: T) => T): T => {
    if (fresh.has(value)) return value;
    const copied = copy(value);
    fresh.add(copied);
    return copied;
  };
  const ownUpdate = (number: number): Mutable<UpdateView> => {
    const updates = own(next.updates, (map) => new Map(map)) as Map<number, UpdateView>;
    next.updates = updates;
    const update = own(updates.get(number) ?? emptyUpdate(number), (known) => ({ ...known })) as Mutable<UpdateView>;
    updates.set(number, update);
    return update;
  };

  for (const event of events) {
    switch (event.type) {
      case 'pearl-started':
        // A run that is opened again tells everything from the start.
        next = { ...EMPTY_PEARL, started: event, tasks: new Map(event.tasks.map((task) => [task.id, task])) };
        break;
      case 'pearl-phase':
        next.phase = event;
        break;
      case 'forest': {
        const update = ownUpdate(event.update);
        const forests = own(update.forests, (map) => new Map(map)) as Map<string, ForestView>;
        forests.set(event.task.id, { task: event.task, trajectories: event.trajectories });
        update.forests = forests;
        break;
      }
      case 'credit': {
        const { advantages, pairs, shaped, added, dropped } = event;
        Object.assign(ownUpdate(event.update), { advantages, pairs, shaped, added });
        const points = own(next.points, (map) => new Map(map)) as Map<string, BankPoint>;
        next.points = points;
        const banks = { ...next.banks };
        for (const outcome of ['failure', 'success'] as const) {
          const ids = own(banks[outcome], (set) => new Set(set)) as Set<string>;
          for (const point of added[outcome]) {
            points.set(pointKey(outcome, point.id), point);
            ids.add(point.id);
          }
          for (const id of dropped[outcome]) ids.delete(id);
          banks[outcome] = ids;
        }
        next.banks = banks;
        break;
      }
      case 'clusters':
        next.snapshots = [...next.snapshots, event.snapshot];
        break;
      case 'update': {
        ownUpdate(event.record.update).record = event.record;
        const records = own(next.records, (list) => [...list]) as UpdateRecord[];
        records.push(event.record);
        next.records = records;
        break;
      }
      case 'policy-score': {
        const { which, score } = event;
        next.scores =
          which === 'during'
            ? { ...next.scores, during: [...next.scores.during, score] }
            : { ...next.scores, [which]: { ...next.scores[which], [score.split]: score } };
        break;
      }
      case 'notice':
        next.notices = [...next.notices, { code: event.code, message: event.message }];
        break;
      case 'pearl-finished': {
        const { initial, final, stopped } = event;
        next.finished = { initial, final, stopped };
        next.scores = {
          ...next.scores,
          initial: { ...next.scores.initial, ...initial.scores },
          final: { ...next.scores.final, ...final.scores },
        };
        break;
      }
    }
  }
  return { ...next, updates: release(next.updates, MAX_TRAJECTORIES) };
}

/** Lets the trajectories of the oldest updates go until at most `limit` are held; the latest update stays whatever its size. */
export function release(updates: ReadonlyMap<number, UpdateView>, limit: number): ReadonlyMap<number, UpdateView> {
  const sizes = [...updates.values()].map(countTrajectories);
  let held = sizes.reduce((sum, size) => sum + size, 0);
  if (held <= limit) return updates;
  const kept = new Map(updates);
  [...updates.values()].slice(0, -1).forEach((update, i) => {
    if (held <= limit || update.released || sizes[i] === 0) return;
    held -= sizes[i] ?? 0;
    kept.set(update.update, { ...update, released: true, forests: new Map() });
  });
  return kept;
}

function countTrajectories({ forests }: UpdateView): number {
  let count = 0;
  for (const { trajectories } of forests.values()) count += trajectories.length;
  return count;
}

function emptyUpdate(update: number): UpdateView {
  return {
    update,
    forests: new Map(),
    released: false,
    advantages: {},
    pairs: [],
    shaped: [],
    added: { failure: [], success: [] },
  };
}
