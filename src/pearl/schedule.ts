import { NacreError } from '../core/errors.ts';
import { Random } from '../core/random.ts';
import type { Task } from '../core/types.ts';

/**
 * The prompts of an update (from 1): train tasks in shuffled order, cut into batches; what does not fill a batch at the end of
 * an epoch is left out, so that no task stands twice in one update.
 */
export function promptsOf(update: number, tasks: readonly Task[], prompts: number, seed: number): Task[] {
  const batches = Math.floor(tasks.length / prompts);
  const epoch = Math.floor((update - 1) / batches);
  const at = (update - 1) % batches;
  return new Random(seed, 'prompts')
    .split(epoch)
    .shuffle(tasks)
    .slice(at * prompts, (at + 1) * prompts);
}

/** @throws {NacreError} `too-few-tasks` */
export function requirePrompts(tasks: readonly Task[], prompts: number): void {
  if (tasks.length >= prompts) return;
  throw new NacreError(
    'too-few-tasks',
    `pearl.prompts is ${prompts}, but suite.train offers ${tasks.length} tasks.`,
    'Raise suite.train or lower pearl.prompts.',
  );
}
