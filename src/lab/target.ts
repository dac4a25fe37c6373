import type { Rollout, Suite } from '../core/types.ts';
import type { RolloutModel } from '../models/chat-rollouts.ts';
import type { Target } from '../textual/types.ts';

/** Most tokens of one action where the suite names no number; the longest household command has eight. */
const ACTION_TOKENS = 24;

/**
 * The frozen target of a suite: opens every job's episode and lets the model play them together. The model is connected
 * when the first rollout is wanted, so that replaying a finished run needs none. Token traces are dropped: TextualRL has no
 * use for them, and the journal would grow tenfold.
 */
export function suiteTarget(suite: Suite, connect: () => Promise<RolloutModel>): Target {
  return {
    async rollouts(jobs, { context, contextHash, temperature, signal, onRollout }) {
      const model = await connect();
      const opened = jobs.map((job) => ({ ...job, episode: suite.open(job.task, job.seed) }));
      const finished = await model.rollouts(opened, {
        context,
        contextHash,
        temperature,
        topP: 1,
        maxTurns: suite.maxTurns,
        maxTokensPerTurn: suite.maxTokensPerTurn ?? ACTION_TOKENS,
        ...(suite.instructions === undefined ? {} : { instructions: suite.instructions }),
        ...(suite.readAction ? { readAction: suite.readAction } : {}),
        signal,
        onRollout: (rollout) => onRollout(withoutTokens(rollout)),
      });
      return finished.map(withoutTokens);
    },
  };
}

function withoutTokens(rollout: Rollout): Rollout {
  return { ...rollout, turns: rollout.turns.map(({ observation, action, reward }) => ({ observation, action, reward })) };
}
