import { NacreError } from '../core/errors.ts';
import { contentHash } from '../core/hash.ts';
import { addUsage, NO_USAGE } from '../core/ledger.ts';
import { Random } from '../core/random.ts';
import { wilsonInterval } from '../core/stats.ts';
import type { Rollout, Split, Suite, Usage } from '../core/types.ts';
import { visibleText } from '../textual/context.ts';
import type { Target } from '../textual/types.ts';
import { takeTasks } from './tasks.ts';

export interface EvaluationRequest {
  readonly suite: Suite;
  readonly split: Split;
  readonly n: number;
  readonly context: string;
  readonly temperature: number;
  /** Rollouts a task. */
  readonly k: number;
  readonly seed: number;
  readonly signal: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
}

export interface Evaluation {
  /** Rollouts that could run: n tasks × k. */
  readonly n: number;
  readonly success: number;
  readonly rate: number;
  readonly wilson: readonly [number, number];
  readonly byType: Readonly<Record<string, { readonly n: number; readonly success: number; readonly rate: number }>>;
  /** With k > 1: how the groups are routed. */
  readonly routes?: { readonly mixed: number; readonly allSuccess: number; readonly allFailure: number };
  readonly tokens: Usage;
}

/** Success of one context on the first n tasks of a split, the same tasks a run with that n uses. */
export async function evaluateContext(target: Target, request: EvaluationRequest): Promise<Evaluation> {
  const { suite, split, context, temperature, k, seed, signal, onProgress } = request;
  const tasks = takeTasks(suite, split, request.n);
  const random = new Random(seed, 'evaluate');
  const jobs = tasks.flatMap((task) =>
    Array.from({ length: k }, (_, index) => ({
      id: `${task.id}/k${index}`,
      task,
      index,
      seed: random.split(task.id).split(index).uint32(),
    })),
  );
  let done = 0;
  const rollouts = await target.rollouts(jobs, {
    context: visibleText(context),
    contextHash: contentHash(context),
    temperature,
    signal,
    onRollout: () => onProgress?.(++done, jobs.length),
  });
  return summarise(rollouts, new Map(tasks.map((task) => [task.id, task.type])), k);
}

function summarise(rollouts: readonly Rollout[], typeOf: ReadonlyMap<string, string>, k: number): Evaluation {
  const failed = rollouts.find((rollout) => rollout.finish === 'error');
  if (failed) {
    throw new NacreError(
      'rollout-failed',
      `The rollout ${failed.id} could not run: ${failed.error ?? 'no reason was given'}.`,
      'Try again.',
    );
  }
  const n = rollouts.length;
  const success = rollouts.filter((rollout) => rollout.success).length;
  const byType: Record<string, { n: number; success: number; rate: number }> = {};
  const byTask = new Map<string, number>();
  for (const { taskId, success: solved } of rollouts) {
    const type = typeOf.get(taskId) ?? 'unknown';
    const before = byType[type] ?? { n: 0, success: 0 };
    const [count, wins] = [before.n + 1, before.success + (solved ? 1 : 0)];
    byType[type] = { n: count, success: wins, rate: wins / count };
    byTask.set(taskId, (byTask.get(taskId) ?? 0) + (solved ? 1 : 0));
  }
  const counts = [...byTask.values()];
  const routes = {
    mixed: counts.filter((s) => s > 0 && s < k).length,
    allSuccess: counts.filter((s) => s === k).length,
    allFailure: counts.filter((s) => s === 0).length,
  };
  return {
    n,
    success,
    rate: n === 0 ? 0 : success / n,
    wilson: wilsonInterval(success, n),
    byType,
    ...(k > 1 ? { routes } : {}),
    tokens: rollouts.reduce((sum, rollout) => addUsage(sum, rollout.usage), NO_USAGE),
  };
}
