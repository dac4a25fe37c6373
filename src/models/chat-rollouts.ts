import { NacreError, toPlainError } from '../core/errors.ts';
import { addUsage, NO_USAGE } from '../core/ledger.ts';
import type { Message, Rollout, RolloutFinish, Turn, Usage } from '../core/types.ts';
import { isModelLost } from './lost.ts';
import type { RolloutJob, RolloutOptions } from './own/rollout-loop.ts';
import type { ChatModel, Generation } from './types.ts';

export interface EpisodeOptions extends RolloutOptions {
  /** How to act, for models that were not trained on the tasks: stands before the context. */
  readonly instructions?: string;
  /** The action within an answer; absent takes the answer as it is. */
  readonly readAction?: (answer: string) => string;
}

/** A model that plays whole episodes. Policies on own engines do it in batches, any other chat model turn by turn. */
export interface RolloutModel extends ChatModel {
  rollouts(jobs: readonly RolloutJob[], options: EpisodeOptions): Promise<Rollout[]>;
}

export interface ChatRolloutSettings {
  /** Episodes played side by side. */
  readonly parallel: number;
  /** Most tokens of one action, above what the options say: a model that reasons first needs them. */
  readonly actionTokens?: number;
}

/** Any chat model as one that plays episodes. */
export function asRolloutModel(model: ChatModel, { parallel, actionTokens }: ChatRolloutSettings): RolloutModel {
  return {
    info: model.info,
    generate: (messages, options) => model.generate(messages, options),
    close: () => model.close(),
    rollouts: (jobs, options) =>
      playEpisodes(model, jobs, {
        ...options,
        parallel,
        maxTokensPerTurn: Math.max(options.maxTokensPerTurn, actionTokens ?? 0),
      }),
  };
}

/** Failures that every further call would meet as well: they end the batch, and the run goes on once they are mended. */
const BEYOND_RETRY: ReadonlySet<string> = new Set([
  'endpoint-auth',
  'endpoint-model-unknown',
  'endpoint-unreachable',
  'endpoint-rate-limited',
  'endpoint-address',
  'endpoint-key',
]);
/** So many failed rollouts without one that ran between them mean that the model is down. */
const MOST_FAILURES_IN_A_ROW = 16;

/**
 * Plays every job to its end on a chat model, `parallel` at a time; results in the order of the jobs, each reported by
 * `onRollout` once, as it finishes. The semantics are those of the own runtime's rollouts: the context is the system text,
 * each observation a user message, each answer one action; an answer that was cut off is recorded and not played. Turn t draws
 * from seed `job.seed + t`, so a rollout depends on its job, the context and the model only.
 *
 * A rollout whose model call fails ends with finish `error` and the reason; its caller may play the job again.
 * @throws {NacreError} what no retry cures (a wrong key, an unknown model, a server that is gone); the signal's reason when it is
 *   aborted. Rollouts finished before have been reported.
 */
export async function playEpisodes(
  model: ChatModel,
  jobs: readonly RolloutJob[],
  options: EpisodeOptions & { readonly parallel: number },
): Promise<Rollout[]> {
  const results = new Array<Rollout>(jobs.length);
  const stop = new AbortController();
  let next = 0;
  let failures = 0;
  const worker = async (): Promise<void> => {
    // A signal of its own: many requests listening on one make Node warn of a leak.
    const signal = AbortSignal.any([stop.signal, ...(options.signal ? [options.signal] : [])]);
    while (next < jobs.length) {
      const place = next++;
      const rollout = await playEpisode(model, jobs[place] as RolloutJob, options, signal);
      results[place] = rollout;
      options.onRollout?.(rollout);
      failures = rollout.finish === 'error' ? failures + 1 : 0;
      if (failures >= Math.max(MOST_FAILURES_IN_A_ROW, 2 * options.parallel)) throw modelDown(model, failures, rollout.error);
    }
  };
  const count = Math.max(1, Math.min(options.parallel, jobs.length));
  const settled = await Promise.allSettled(
    Array.from({ length: count }, () =>
      worker().catch((error: unknown) => {
        // The others need not go on: what ended this worker would end them too.
        stop.abort(error);
        throw error;
      }),
    ),
  );
  options.signal?.throwIfAborted();
  if (stop.signal.aborted) throw stop.signal.reason;
  for (const outcome of settled) if (outcome.status === 'rejected') throw outcome.reason;
  return results;
}

/** One rollout: alternates between the model and the environment until either ends it. */
async function playEpisode(model: ChatModel, job: RolloutJob, options: EpisodeOptions, signal: AbortSignal): Promise<Rollout> {
  const { episode } = job;
  const messages = opening(options);
  const turns: Turn[] = [];
  let reward = 0;
  let usage: Usage = NO_USAGE;
  const ended = (finish: RolloutFinish, success = false, error?: string): Rollout => ({
    id: job.id,
    taskId: job.task.id,
    index: job.index,
    contextHash: options.contextHash,
    turns,
    finalObservation: episode.observation,
    answer: turns.at(-1)?.action ?? '',
    reward,
    success,
    finish,
    usage,
    seed: job.seed,
    ...(error === undefined ? {} : { error }),
  });

  for (;;) {
    signal.throwIfAborted();
    const { observation } = episode;
    messages.push({ role: 'user', content: observation });
    let answer: Generation;
    try {
      answer = await model.generate(messages, turnOptions(options, job.seed + turns.length, signal));
    } catch (thrown) {
      signal.throwIfAborted();
      if (thrown instanceof NacreError && thrown.code === 'context-length') return ended('context-limit');
      if ((thrown instanceof NacreError && BEYOND_RETRY.has(thrown.code)) || isModelLost(thrown)) throw thrown;
      return ended('error', false, toPlainError(thrown).message);
    }
    signal.throwIfAborted();
    usage = addUsage(usage, answer.usage);
    const action = answer.text.trim();
    if (answer.finish !== 'stop') {
      if (action !== '') turns.push({ observation, action, reward: 0 });
      return ended(answer.finish === 'length' ? 'token-limit' : answer.finish === 'context' ? 'context-limit' : 'cancelled');
    }
    messages.push({ role: 'assistant', content: action });
    try {
      const step = await episode.act(options.readAction?.(action) ?? action);
      turns.push({ observation, action, reward: step.reward });
      reward += step.reward;
      if (step.done) return ended('done', step.success);
      if (turns.length >= options.maxTurns) return ended('turn-limit');
    } catch (thrown) {
      turns.push({ observation, action, reward: 0 });
      return ended('error', false, toPlainError(thrown).message);
    }
  }
}

function opening({ instructions = '', context }: EpisodeOptions): Message[] {
  const system = [instructions, context].filter((text) => text.trim() !== '').join('\n\n');
  return system === '' ? [] : [{ role: 'system', content: system }];
}

function turnOptions(options: EpisodeOptions, seed: number, signal: AbortSignal) {
  const { temperature, topP, topK, maxTokensPerTurn } = options;
  return {
    temperature,
    topP,
    ...(topK === undefined ? {} : { topK }),
    maxTokens: maxTokensPerTurn,
    seed: seed % 0x8000_0000,
    signal,
  };
}

function modelDown(model: ChatModel, failures: number, last: string | undefined): NacreError {
  return new NacreError(
    'model-down',
    `${failures} rollouts in a row could not run on "${model.info.id}". The last one: ${last ?? 'no reason was given'}`,
    'Mend the model or its server, then resume: finished rollouts are kept.',
  );
}
