import { Random } from '../src/core/random.ts';
import type { Task } from '../src/core/types.ts';
import { STEP_LIMIT } from '../src/suites/household/generate.ts';
import { openGame } from '../src/suites/household/suite.ts';
import { ACTION_TOKEN, CONTEXT_TOKEN, OBSERVATION_TOKEN } from '../src/suites/household/vocabulary.ts';
import type { SequencePool } from '../src/transformer/session.ts';
import type { Tokenizer } from '../src/transformer/tokenizer.ts';

export interface Play {
  readonly task: Task;
  readonly success: boolean;
  readonly actions: readonly string[];
  readonly tokens: number;
}

/** Plays tasks under one context in one ragged batch a turn. */
export async function playAll(
  pool: SequencePool,
  tokenizer: Tokenizer,
  tasks: readonly Task[],
  context: string,
  temperature: number,
  seed: number,
): Promise<Play[]> {
  const text = context.trim();
  const encode = (words: string): number[] => tokenizer.encode(words, { addSpecial: false });
  const prefix = await pool.createPrefix(encode(CONTEXT_TOKEN + (text === '' ? '' : `\n${text}`)));
  const stop = pool.decoder.config.eosIds;
  const running = tasks.map((task, index) => ({
    task,
    index,
    episode: openGame(task),
    sequence: pool.start(prefix),
    random: new Random(seed, `${index}/${task.id}`),
    actions: [] as string[],
    success: false,
  }));
  const all = running.slice();
  let live = running;
  for (let turn = 0; turn < STEP_LIMIT && live.length > 0; turn++) {
    const results = await pool.decodeTurn(
      live.map(({ sequence, episode, random }) => ({
        sequence,
        tokens: encode(OBSERVATION_TOKEN + episode.observation + ACTION_TOKEN),
        maxTokens: 16,
        stopIds: stop,
        random,
        temperature,
        topP: 1,
      })),
    );
    live = live.filter((run, i) => {
      const action = tokenizer.decode(results[i]!.ids);
      run.actions.push(action);
      const step = run.episode.act(action);
      run.success = step.success;
      return !step.done;
    });
  }
  const plays = all.map(({ task, success, actions, sequence }) => ({
    task,
    success,
    actions,
    tokens: pool.length(sequence) - prefix.tokens.length,
  }));
  for (const run of all) pool.release(run.sequence);
  pool.releasePrefix(prefix);
  return plays;
}

export function rateOf(plays: readonly Play[]): number {
  return plays.filter((play) => play.success).length / plays.length;
}
