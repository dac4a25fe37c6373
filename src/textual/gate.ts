import { mcnemarExact, wilsonInterval } from '../core/stats.ts';
import type { Rollout, Split, Task } from '../core/types.ts';
import { didRun, isSuccess } from './routing.ts';
import type { Score } from './types.ts';

/** Score of one context from one rollout a task; rollouts that could not run are counted in `errors`, not in n. */
export function scoreRollouts(split: Split, tasks: readonly Task[], rollouts: readonly Rollout[], successThreshold: number): Score {
  const outcomes: Record<string, boolean> = {};
  const byType: Record<string, { n: number; success: number }> = {};
  const byTask = new Map(rollouts.map((rollout) => [rollout.taskId, rollout]));
  let errors = 0;
  let success = 0;
  for (const task of tasks) {
    const rollout = byTask.get(task.id);
    if (!rollout || !didRun(rollout)) {
      errors++;
      continue;
    }
    const won = isSuccess(rollout, successThreshold);
    outcomes[task.id] = won;
    byType[task.type] ??= { n: 0, success: 0 };
    const stratum = byType[task.type] as { n: number; success: number };
    stratum.n++;
    if (won) {
      stratum.success++;
      success++;
    }
  }
  const n = tasks.length - errors;
  return { split, n, success, rate: n === 0 ? 0 : success / n, wilson: wilsonInterval(success, n), outcomes, byType, errors };
}

/** The gate's decision with the paired view of it. */
export interface Verdict {
  readonly accepted: boolean;
  readonly gained: readonly string[];
  readonly lost: readonly string[];
  readonly mcnemar: number;
  readonly reason: string;
  /** Set when a gain is within what chance alone would show on so few tasks. */
  readonly warning?: string;
}

/**
 * Strict improvement (§3.3): the candidate is accepted if it solves more of the validation tasks that ran under both contexts.
 * Without errors that is the whole split, so comparing counts is comparing mean rewards.
 */
export function judge(reference: Score, candidate: Score): Verdict {
  const common = Object.keys(reference.outcomes).filter((id) => id in candidate.outcomes);
  const gained = common.filter((id) => !reference.outcomes[id] && candidate.outcomes[id]);
  const lost = common.filter((id) => reference.outcomes[id] && !candidate.outcomes[id]);
  const accepted = gained.length > lost.length;
  const mcnemar = mcnemarExact(gained.length, lost.length);
  const scores = `${candidate.success}/${candidate.n} against ${reference.success}/${reference.n}`;
  const pairs = `${gained.length} gained, ${lost.length} lost`;
  const reason = accepted ? `Better on validation: ${scores} (${pairs}).` : `Not better on validation: ${scores} (${pairs}).`;
  const warning =
    accepted && mcnemar > 0.05
      ? `${common.length} validation tasks cannot tell this gain from chance (exact McNemar p = ${mcnemar.toFixed(2)}).`
      : undefined;
  return { accepted, gained, lost, mcnemar, reason, ...(warning === undefined ? {} : { warning }) };
}
