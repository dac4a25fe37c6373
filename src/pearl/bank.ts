import type { PearlSettings } from './settings.ts';
import { type BankPoint, type Banks, type Decision, OUTCOMES, type Outcome, type PairRecord, type PromptGroup } from './types.ts';

export const EMPTY_BANKS: Banks = { failure: [], success: [] };

/** The entries of one update: φ(d−) for the failure bank and φ(d+) for the success bank, with their provenance (§3.4). */
export function bankEntries(
  update: number,
  groups: readonly PromptGroup[],
  pairs: readonly { readonly pair: PairRecord; readonly lower: Float64Array; readonly higher: Float64Array }[],
): Banks {
  const tasks = new Map(groups.map(({ task }) => [task.id, task]));
  const trajectories = new Map(groups.flatMap((group) => group.trajectories.map((trajectory) => [trajectory.id, trajectory])));
  const point = (outcome: Outcome, pair: PairRecord, decision: Decision, feature: Float64Array): BankPoint => {
    const trajectory = trajectories.get(decision.trajectoryId)!;
    const turn = trajectory.turns[decision.turn]!;
    return {
      id: `${decision.trajectoryId}@${decision.position}`,
      outcome,
      update,
      taskId: pair.taskId,
      trajectoryId: decision.trajectoryId,
      pairId: pair.id,
      turn: decision.turn,
      token: decision.token,
      tokenText: decision.tokenText,
      feature: Array.from(feature),
      taskInput: tasks.get(pair.taskId)?.input ?? '',
      observation: turn.observation,
      action: turn.action,
      reply: trajectory.turns[decision.turn + 1]?.observation ?? trajectory.finalObservation,
      finish: trajectory.finish,
      reward: trajectory.reward,
    };
  };
  return {
    failure: unique(pairs.map(({ pair, lower }) => point('failure', pair, pair.lower, lower))),
    success: unique(pairs.map(({ pair, higher }) => point('success', pair, pair.higher, higher))),
  };
}

export interface Pushed {
  readonly banks: Banks;
  readonly dropped: { readonly failure: readonly string[]; readonly success: readonly string[] };
}

/**
 * The banks after update s with its entries; those older than W updates have left, so the oldest that remain are of update s−W.
 * A decision that is already stored stays as it was.
 */
export function pushEntries(banks: Banks, added: Banks, update: number, window: PearlSettings['memory']['window']): Pushed {
  const oldest = window === 'unlimited' ? Number.NEGATIVE_INFINITY : update - window;
  const after = (outcome: Outcome): BankPoint[] => unique([...banks[outcome], ...added[outcome]]).filter((point) => point.update >= oldest);
  const left = (outcome: Outcome): string[] => banks[outcome].filter((point) => point.update < oldest).map(({ id }) => id);
  const each = <T>(make: (outcome: Outcome) => T): Record<Outcome, T> =>
    Object.fromEntries(OUTCOMES.map((outcome) => [outcome, make(outcome)])) as Record<Outcome, T>;
  return { banks: each(after), dropped: each(left) };
}

/** A trajectory's decision at one position is one entry, however many branches it was compared with. */
function unique(points: readonly BankPoint[]): BankPoint[] {
  const seen = new Set<string>();
  return points.filter(({ id }) => !seen.has(id) && seen.add(id));
}
