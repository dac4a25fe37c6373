import { toPlainError } from '../../core/errors.ts';
import { addUsage, NO_USAGE } from '../../core/ledger.ts';
import type { Episode, Message, Rollout, RolloutFinish, Task, Turn, Usage } from '../../core/types.ts';
import type { SamplingOptions } from '../types.ts';
import type { EngineHandle, EngineTurn, EngineTurnResult, OpenedPrefix } from './engine.ts';

/** One task to play, with its opened environment. */
export interface RolloutJob {
  readonly id: string;
  readonly task: Task;
  readonly episode: Episode;
  /** k within the group. */
  readonly index: number;
  readonly seed: number;
}

export interface RolloutOptions extends SamplingOptions {
  /** System text of every rollout. */
  readonly context: string;
  readonly contextHash: string;
  readonly maxTurns: number;
  readonly maxTokensPerTurn: number;
  /** Aborting rejects with the signal's reason; rollouts finished before have been reported. */
  readonly signal?: AbortSignal;
  readonly onRollout?: (rollout: Rollout) => void;
}

interface Live {
  /** Place among the jobs. */
  readonly place: number;
  readonly job: RolloutJob;
  readonly sequence: number;
  readonly turns: Turn[];
  reward: number;
  usage: Usage;
}

/**
 * Plays jobs on one engine, all together: per round one message to the engine with every sequence's observation, then one
 * action in every environment. When a rollout ends, the next job takes its place.
 *
 * A rollout depends on its own job, the context and the weights only, not on the others. Its `inputTokens` count the context
 * once, although the engine reads it once for all; an action that was cut off is recorded but not played.
 */
export async function runRollouts(
  engine: EngineHandle,
  jobs: readonly RolloutJob[],
  options: RolloutOptions,
  most: number,
): Promise<Rollout[]> {
  if (jobs.length === 0) return [];
  const results = new Array<Rollout>(jobs.length);
  const opened = await engine.openPrefix([{ role: 'system', content: options.context }]);
  let begun = 0;
  let live: Live[] = [];
  try {
    while (begun < jobs.length || live.length > 0) {
      const fresh = jobs.slice(begun, begun + most - live.length);
      live.push(...(await begin(engine, opened, fresh, begun)));
      begun += fresh.length;
      options.signal?.throwIfAborted();
      const started = performance.now();
      const answers = await engine.turns(live.map((run) => turnRequest(run, options)));
      options.signal?.throwIfAborted();
      const ms = (performance.now() - started) / live.length;
      const finishes = await Promise.all(live.map((run, i) => play(run, answers[i]!, ms, options.maxTurns)));
      const ended = live.filter((_, i) => finishes[i]);
      live.forEach((run, i) => {
        const finish = finishes[i];
        if (!finish) return;
        const rollout = toRollout(run, finish, options.contextHash);
        results[run.place] = rollout;
        options.onRollout?.(rollout);
      });
      live = live.filter((_, i) => !finishes[i]);
      await engine.release(ended.map((run) => run.sequence));
    }
  } finally {
    await engine.release(live.map((run) => run.sequence));
    await engine.closePrefix(opened.prefix);
  }
  return results;
}

async function begin(engine: EngineHandle, { prefix, tokens }: OpenedPrefix, jobs: readonly RolloutJob[], first: number): Promise<Live[]> {
  if (jobs.length === 0) return [];
  const sequences = await engine.start(prefix, jobs.length);
  return jobs.map((job, i) => ({
    place: first + i,
    job,
    sequence: sequences[i]!,
    turns: [],
    reward: 0,
    usage: { ...NO_USAGE, inputTokens: tokens },
  }));
}

function turnRequest({ job, sequence, turns }: Live, options: RolloutOptions): EngineTurn {
  const messages: Message[] = [{ role: 'user', content: job.episode.observation }];
  const { temperature, topP, topK = 0, maxTokensPerTurn: maxTokens } = options;
  return { sequence, messages, temperature, topP, topK, maxTokens, seed: job.seed, key: `turn ${turns.length}` };
}

interface Finish {
  readonly how: RolloutFinish;
  readonly success: boolean;
  readonly error?: string;
}

/** Records the model's answer and plays it; says how the rollout ended, if it did. */
async function play(run: Live, answer: EngineTurnResult, ms: number, maxTurns: number): Promise<Finish | undefined> {
  const { episode } = run.job;
  const { tokens, finish, inputTokens, historyTokens } = answer;
  const outputTokens = tokens.ids.length;
  run.usage = addUsage(run.usage, { calls: 1, inputTokens, outputTokens, textVolume: historyTokens + outputTokens, ms });
  const turn = { observation: episode.observation, action: answer.text.trim(), tokens };
  if (finish !== 'stop') {
    if (outputTokens > 0) run.turns.push({ ...turn, reward: 0 });
    return { how: finish === 'length' ? 'token-limit' : finish === 'context' ? 'context-limit' : 'cancelled', success: false };
  }
  try {
    const { reward, done, success } = await episode.act(turn.action);
    run.turns.push({ ...turn, reward });
    run.reward += reward;
    if (done) return { how: 'done', success };
    return run.turns.length >= maxTurns ? { how: 'turn-limit', success: false } : undefined;
  } catch (thrown) {
    run.turns.push({ ...turn, reward: 0 });
    return { how: 'error', success: false, error: toPlainError(thrown).message };
  }
}

function toRollout({ job, turns, reward, usage }: Live, finish: Finish, contextHash: string): Rollout {
  return {
    id: job.id,
    taskId: job.task.id,
    index: job.index,
    contextHash,
    turns,
    finalObservation: job.episode.observation,
    answer: turns.at(-1)?.action ?? '',
    reward,
    success: finish.success,
    finish: finish.how,
    usage,
    seed: job.seed,
    ...(finish.error === undefined ? {} : { error: finish.error }),
  };
}
