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
