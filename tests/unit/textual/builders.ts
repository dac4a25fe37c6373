import { NO_USAGE } from '../../../src/core/ledger.ts';
import type { Group, Rollout, Task, Turn } from '../../../src/core/types.ts';
import { deduplicate, type TaskBlock } from '../../../src/textual/dedupe.ts';
import { type RoutedGroup, routeGroups } from '../../../src/textual/routing.ts';
import type { Edit, VerifiedCard } from '../../../src/textual/types.ts';

export function makeTask(id: string, type = 'place'): Task {
  return { id, split: 'train', type, input: `task ${id}`, data: null };
}

export function makeRollout(id: string, taskId: string, reward: number, change: Partial<Rollout> = {}): Rollout {
  return {
    id,
    taskId,
    index: 0,
    contextHash: '',
    turns: [turn(`seen by ${id}`, `act of ${id}`)],
    finalObservation: 'The end.',
    answer: '',
    reward,
    success: reward >= 1,
    finish: 'done',
    usage: NO_USAGE,
    seed: 0,
    ...change,
  };
}

export function turn(observation: string, action: string): Turn {
  return { observation, action, reward: 0 };
}

/** A group with one distinct rollout a reward. */
export function makeGroup(taskId: string, rewards: readonly number[]): Group {
  return { task: makeTask(taskId), rollouts: rewards.map((reward, k) => makeRollout(`${taskId}/k${k}`, taskId, reward)) };
}

export function makeBlock(taskId: string, rewards: readonly number[]): TaskBlock {
  return deduplicate(routeGroups([makeGroup(taskId, rewards)], 1).routed[0] as RoutedGroup, 1);
}

export function append(content: string, change: Partial<Edit> = {}): Edit {
  return { id: content, op: 'append', content, kind: 'corrective', support: [], ...change };
}

export function replace(target: string, content: string): Edit {
  return { id: content, op: 'replace', target, content, kind: 'corrective', support: [] };
}

export function remove(target: string): Edit {
  return { id: target, op: 'delete', target, kind: 'corrective', support: [] };
}

export function insertAfter(target: string, content: string): Edit {
  return { id: content, op: 'insert_after', target, content, kind: 'corrective', support: [] };
}

export function makeCard(taskId: string, behavior: string, change: Partial<VerifiedCard> = {}): VerifiedCard {
  return {
    id: `${taskId}-${behavior}`,
    taskId,
    rolloutId: `${taskId}/k0`,
    quote: 'a quote of it',
    condition: 'condition',
    behavior,
    observedEffect: 'effect',
    route: 'mixed',
    callId: 'e1/b1/mixed/0',
    location: { turn: 0, field: 'observation', start: 0, end: 1 },
    multiplicity: 1,
    ...change,
  };
}
