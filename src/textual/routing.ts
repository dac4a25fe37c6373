import type { Group, Rollout, Task } from '../core/types.ts';
import type { Route } from './types.ts';

/** A group with its route, decided from the original K outcomes (B.2). */
export interface RoutedGroup {
  readonly task: Task;
  readonly route: Route;
  /** The rollouts that ran; those that could not are counted in `errors` and never scored. */
  readonly rollouts: readonly Rollout[];
  readonly successes: number;
  readonly errors: number;
}

/** Route of s successes among n outcomes (§3.2): 0 < s < n mixed, s = n all-success, s = 0 all-failure. n ≥ 1. */
export function route(successes: number, n: number): Route {
  if (successes === n) return 'all-success';
  return successes === 0 ? 'all-failure' : 'mixed';
}

/** Whether a rollout counts as a success for routing and scoring. */
export function isSuccess(rollout: Rollout, successThreshold: number): boolean {
  return rollout.reward >= successThreshold;
}

/** Whether the target could run at all: a provider error or a cancelled rollout is no outcome. */
export function didRun(rollout: Rollout): boolean {
  return rollout.finish !== 'error' && rollout.finish !== 'cancelled';
}

/** Routes groups before any deduplication. A group in which nothing ran has no outcome and comes back in `unrouted`. */
export function routeGroups(
  groups: readonly Group[],
  successThreshold: number,
): { readonly routed: readonly RoutedGroup[]; readonly unrouted: readonly Task[]; readonly errors: number } {
  const routed: RoutedGroup[] = [];
  const unrouted: Task[] = [];
  let errors = 0;
  for (const { task, rollouts } of groups) {
    const ran = rollouts.filter(didRun);
    errors += rollouts.length - ran.length;
    if (ran.length === 0) {
      unrouted.push(task);
      continue;
    }
    const successes = ran.filter((rollout) => isSuccess(rollout, successThreshold)).length;
    routed.push({ task, route: route(successes, ran.length), rollouts: ran, successes, errors: rollouts.length - ran.length });
  }
  return { routed, unrouted, errors };
}
