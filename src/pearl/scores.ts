import type { Split } from '../core/types.ts';
import { evaluatePolicy } from './evaluate.ts';
import type { Learner } from './learner.ts';
import { type PearlRun, phase, turnLimit } from './run.ts';
import type { PearlPhase, PolicyCheckpoint, PolicyScore } from './types.ts';

/** Scores the policy on every split that has tasks. */
export async function checkpoint(run: PearlRun, learner: Learner, which: 'initial' | 'final', update: number): Promise<PolicyCheckpoint> {
  const scores: Partial<Record<Split, PolicyScore>> = {};
  for (const split of ['val', 'test', 'unseen'] as const) {
    if (run.tasks[split].length > 0) scores[split] = await evaluate(run, learner, which, update, split);
  }
  return { update, scores };
}

/** Greedy success after an update on one split: a unit of the journal. */
export async function evaluate(
  run: PearlRun,
  learner: Learner,
  which: 'initial' | 'during' | 'final',
  update: number,
  split: Split,
): Promise<PolicyScore> {
  const { settings, tasks, seed, context, signal, journal, emit } = run;
  const score = await journal.once(`score ${update}/${split}`, async () => {
    const { policy } = await learner.at(update);
    const name: PearlPhase = which === 'during' || split === 'val' ? 'evaluation' : 'test';
    return evaluatePolicy({
      policy,
      split,
      update,
      tasks: tasks[split],
      samples: settings.evaluation.samples,
      seed,
      context,
      maxTurns: turnLimit(run),
      maxTokensPerTurn: settings.rollouts.maxTokensPerTurn,
      open: (task, opened) => run.open(task, opened),
      signal,
      onRollout: (done, total) => emit(phase(update, name, `Greedy success on the ${split} tasks`, done, total)),
    });
  });
  emit({ type: 'policy-score', which, score });
  return score;
}
