import { NacreError } from '../core/errors.ts';
import type { Split, Suite, Task } from '../core/types.ts';

/**
 * The first `n` tasks of a split, stratified: types take turns in the order in which they first appear, so any prefix holds
 * every type as evenly as the split allows. The same `n` always gives the same tasks, which is what lets a separate
 * evaluation repeat a run's figures.
 * @throws {NacreError} `split-too-small` when the split holds fewer.
 */
export function takeTasks(suite: Suite, split: Split, n: number): readonly Task[] {
  const all = suite.splits[split];
  if (n > all.length) {
    throw new NacreError(
      'split-too-small',
      `The ${split} split of "${suite.id}" holds ${all.length} tasks; ${n} were asked for.`,
      `Ask for at most ${all.length}.`,
    );
  }
  const byType = new Map<string, Task[]>();
  for (const task of all) {
    const queue = byType.get(task.type);
    if (queue) queue.push(task);
    else byType.set(task.type, [task]);
  }
  const queues = [...byType.values()];
  const taken: Task[] = [];
  for (let round = 0; taken.length < n; round++) {
    for (const queue of queues) {
      const task = queue[round];
      if (task && taken.length < n) taken.push(task);
    }
  }
  return taken;
}
