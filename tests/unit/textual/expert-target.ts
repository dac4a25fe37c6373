import { Random } from '../../../src/core/random.ts';
import type { Rollout } from '../../../src/core/types.ts';
import { act, initialState } from '../../../src/suites/household/engine.ts';
import { demonstrate, drawHabits } from '../../../src/suites/household/expert.ts';
import { STEP_LIMIT } from '../../../src/suites/household/generate.ts';
import { RULES, type RuleId } from '../../../src/suites/household/rules.ts';
import { taskGame } from '../../../src/suites/household/suite.ts';
import type { Target } from '../../../src/textual/types.ts';

/** Rules a context states word for word. */
export function statedBy(context: string): Set<RuleId> {
  return new Set(
    RULES.filter(({ training, heldOut }) => [...training, ...heldOut].some((text) => context.includes(text))).map(({ id }) => id),
  );
}

/** A target that plays like the scripted expert: rules its context states are followed, habits strike otherwise. */
export class ExpertTarget implements Target {
  calls = 0;
  rolloutsRun = 0;

  async rollouts(...[jobs, options]: Parameters<Target['rollouts']>): Promise<readonly Rollout[]> {
    this.calls++;
    const stated = statedBy(options.context);
    // Finished in another order than asked for, as batched decoding does.
    return jobs.toReversed().map((job) => {
      options.signal.throwIfAborted();
      this.rolloutsRun++;
      const game = taskGame(job.task);
      const seed = options.temperature === 0 ? 7 : job.seed;
      const { turns, success } = demonstrate(game, drawHabits(game, stated, new Random(seed, job.task.id)), STEP_LIMIT);
      let state = initialState(game);
      let last = '';
      for (const { action } of turns) ({ state, observation: last } = act(game, state, action));
      const rollout: Rollout = {
        id: job.id,
        taskId: job.task.id,
        index: job.index,
        contextHash: options.contextHash,
        turns: turns.map((turn) => ({ ...turn, reward: 0 })),
        finalObservation: last,
        answer: '',
        reward: success ? 1 : 0,
        success,
        finish: 'done',
        usage: { calls: turns.length, inputTokens: 100, outputTokens: 10 * turns.length, textVolume: 200, ms: job.seed / 7e9 },
        seed: job.seed,
      };
      options.onRollout(rollout);
      return rollout;
    });
  }
}
