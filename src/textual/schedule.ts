import { Random } from '../core/random.ts';
import type { Task } from '../core/types.ts';

/** Batches of one epoch: the train tasks shuffled by seed + epoch, cut into pieces of `batchTasks` (the last may be shorter). */
export function epochBatches(tasks: readonly Task[], batchTasks: number, seed: number, epoch: number): Task[][] {
  const order = new Random(seed + epoch, 'epoch').shuffle(tasks);
  const batches: Task[][] = [];
  for (let at = 0; at < order.length; at += batchTasks) batches.push(order.slice(at, at + batchTasks));
  return batches;
}

/** Optimisation steps of a run. */
export function totalSteps(trainTasks: number, batchTasks: number, epochs: number): number {
  return epochs * Math.ceil(trainTasks / batchTasks);
}

/**
 * `count` tasks with the mix of types of the whole list: each type gets its proportional share (largest remainders, ties to
 * the type that comes first), taken at random by seed. The result keeps the order of `tasks`; all of them if `count` is larger.
 */
export function selectStratified(tasks: readonly Task[], count: number, seed: number): Task[] {
  if (count >= tasks.length) return tasks.slice();
  const byType = new Map<string, Task[]>();
  for (const task of tasks) byType.set(task.type, [...(byType.get(task.type) ?? []), task]);
  const shares = [...byType].map(([type, members], order) => {
    const exact = (members.length * count) / tasks.length;
    return { type, members, order, take: Math.floor(exact), rest: exact - Math.floor(exact) };
  });
  let left = count - shares.reduce((sum, share) => sum + share.take, 0);
  for (const share of shares.slice().sort((a, b) => b.rest - a.rest || a.order - b.order)) {
    if (left === 0) break;
    share.take++;
    left--;
  }
  const chosen = new Set<Task>();
  for (const share of shares) {
    const order = new Random(seed, `stratum/${share.type}`).shuffle(share.members);
    for (const task of order.slice(0, share.take)) chosen.add(task);
  }
  return tasks.filter((task) => chosen.has(task));
}
