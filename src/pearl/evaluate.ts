import { NacreError } from '../core/errors.ts';
import { contentHash } from '../core/hash.ts';
import { Random } from '../core/random.ts';
import { wilsonInterval } from '../core/stats.ts';
import type { Episode, Split, Task } from '../core/types.ts';
import type { PearlPolicy } from './policy.ts';
import type { PolicyScore } from './types.ts';

export interface EvaluationInput {
  readonly policy: Pick<PearlPolicy, 'rollouts'>;
  readonly split: Split;
  readonly update: number;
  readonly tasks: readonly Task[];
  readonly samples: number;
  readonly seed: number;
  readonly context: string;
  readonly maxTurns: number;
  readonly maxTokensPerTurn: number;
  open(task: Task, seed: number): Episode;
  readonly signal: AbortSignal;
  readonly onRollout: (done: number, total: number) => void;
}

/** Greedy success of the policy on one split. @throws {NacreError} `rollout-failed` */
export async function evaluatePolicy(input: EvaluationInput): Promise<PolicyScore> {
  const { policy, split, update, tasks, samples, context, maxTurns, maxTokensPerTurn, signal } = input;
  const random = new Random(input.seed, `evaluate/${split}`);
  const jobs = tasks.flatMap((task) =>
    Array.from({ length: samples }, (_, index) => {
      const seed = random.split(task.id).split(index).uint32();
      return { id: `${split}/${task.id}/k${index}`, task, index, seed, episode: input.open(task, seed) };
    }),
  );
  const started = performance.now();
  let done = 0;
  const rollouts = await policy.rollouts(jobs, {
    context,
    contextHash: contentHash(context),
    temperature: 0,
    topP: 1,
    maxTurns,
    maxTokensPerTurn,
    signal,
    onRollout: () => input.onRollout(++done, jobs.length),
  });
  const byType: Record<string, { n: number; success: number }> = {};
  rollouts.forEach((rollout, i) => {
    if (rollout.finish === 'error') throw rolloutFailed(rollout.id, rollout.error);
    const { type } = jobs[i]!.task;
    const { n, success } = byType[type] ?? { n: 0, success: 0 };
    byType[type] = { n: n + 1, success: success + (rollout.success ? 1 : 0) };
  });
  const n = rollouts.length;
  const success = rollouts.filter((rollout) => rollout.success).length;
  const sampled = rollouts.reduce((sum, { usage }) => sum + usage.outputTokens, 0);
  return {
    split,
    update,
    n,
    success,
    rate: n === 0 ? 0 : success / n,
    wilson: wilsonInterval(success, n),
    byType,
    responseLength: n === 0 ? 0 : sampled / n,
    seconds: (performance.now() - started) / 1000,
  };
}

export function rolloutFailed(id: string, why: string | undefined): NacreError {
  return new NacreError(
    'rollout-failed',
    `The rollout ${id} could not run: ${why ?? 'no reason was given'}.`,
    'Correct the environment and resume: everything finished so far is kept.',
  );
}
