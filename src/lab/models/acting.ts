import type { Episode } from '../../core/types.ts';
import type { EpisodeOptions, RolloutModel } from '../../models/chat-rollouts.ts';
import type { PooledPolicy } from '../../models/own/policy.ts';
import type { RolloutJob } from '../../models/own/rollout-loop.ts';

/** Most tokens of one action of a model that was not trained on the suite: it may say more than the action. */
const ACTION_TOKENS = 256;

/** A model with room for what general models say around an action, where the suite finds the action within it. */
export function withRoomToSpeak(model: RolloutModel): RolloutModel {
  return { ...forwarded(model), rollouts: (jobs, options) => model.rollouts(jobs, roomy(options)) };
}

/**
 * A general model on the own runtime that plays episodes as any chat model does: the suite's instructions stand before the
 * context, and the action is looked for within the answer.
 */
export function asActor(policy: PooledPolicy): RolloutModel {
  return {
    ...forwarded(policy),
    rollouts(jobs, { instructions = '', readAction, ...options }) {
      const context = [instructions, options.context].filter((text) => text.trim() !== '').join('\n\n');
      const read = readAction ? jobs.map((job): RolloutJob => ({ ...job, episode: new ReadEpisode(job.episode, readAction) })) : jobs;
      return policy.rollouts(read, { ...roomy({ ...options, ...(readAction ? { readAction } : {}) }), context });
    },
  };
}

function forwarded(model: Pick<RolloutModel, 'info' | 'generate' | 'close'>): Pick<RolloutModel, 'info' | 'generate' | 'close'> {
  return { info: model.info, generate: (messages, options) => model.generate(messages, options), close: () => model.close() };
}

function roomy(options: EpisodeOptions): EpisodeOptions {
  return options.readAction ? { ...options, maxTokensPerTurn: Math.max(options.maxTokensPerTurn, ACTION_TOKENS) } : options;
}

/** An episode that is told whole answers. */
class ReadEpisode implements Episode {
  constructor(
    private readonly inner: Episode,
    private readonly readAction: (answer: string) => string,
  ) {}

  get observation(): string {
    return this.inner.observation;
  }

  act(text: string): ReturnType<Episode['act']> {
    return this.inner.act(this.readAction(text));
  }
}
