import type { Json, Rollout, Task } from '../core/types.ts';
import { isSuccess, type RoutedGroup } from './routing.ts';
import type { Route } from './types.ts';

/** One distinct trajectory of a task: its first rollout stands for all with the same transcript and outcome. */
export interface Trajectory {
  readonly rollout: Rollout;
  readonly success: boolean;
  readonly multiplicity: number;
  /** Ids of all rollouts it stands for, its own first. */
  readonly sourceIds: readonly string[];
}

/** One task as a critic sees it. */
export interface TaskBlock {
  readonly task: Task;
  readonly route: Route;
  /** Original outcomes: `successes` of `outcomes` rollouts (deduplication changes neither). */
  readonly successes: number;
  readonly outcomes: number;
  readonly trajectories: readonly Trajectory[];
}

/** Fields that say when, how dearly or under which number something was recorded, not what happened. */
const BOOKKEEPING = new Set([
  'id',
  'call_id',
  'callid',
  'tool_call_id',
  'toolcallid',
  'rollout_id',
  'rolloutid',
  'message_id',
  'messageid',
  'request_id',
  'usage',
  'tokens',
  'token_count',
  'cost',
  'logprobs',
  'time',
  'timing',
  'timestamp',
  'ts',
  'created',
  'created_at',
  'started_at',
  'finished_at',
  'duration',
  'elapsed',
  'latency',
  'ms',
  'seconds',
]);

/** Fields whose values are content all the way down: an `id` in there is something the agent said or saw. */
const CONTENT = new Set(['arguments', 'args', 'kwargs', 'input', 'parameters', 'content', 'observation', 'action', 'answer']);

/**
 * Canonical form of recorded data: keys sorted, bookkeeping fields and nulls dropped, white space collapsed, JSON inside
 * strings (as tool calls carry it) canonical too.
 */
export function canonicalJson(value: Json | undefined, isContent = false): string {
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'string') return canonicalString(value);
  if (typeof value !== 'object') return JSON.stringify(value);
  if (isArray(value)) return `[${value.map((item) => canonicalJson(item, isContent)).join(',')}]`;
  const fields = Object.keys(value)
    .filter((key) => value[key] !== null && (isContent || !BOOKKEEPING.has(key.toLowerCase())))
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key], isContent || CONTENT.has(key.toLowerCase()))}`);
  return `{${fields.join(',')}}`;
}

function canonicalString(text: string): string {
  const trimmed = text.trim();
  if (/^[{[]/.test(trimmed)) {
    try {
      return canonicalJson(JSON.parse(trimmed) as Json, true);
    } catch {
      // Text that merely begins with a bracket: compared as text.
    }
  }
  return JSON.stringify(trimmed.replace(/\s+/gu, ' '));
}

/** What happened in a rollout, up to white space: two rollouts with equal transcripts behaved alike. */
export function canonicalTranscript(rollout: Rollout): string {
  return canonicalJson({
    turns: rollout.turns.map(({ observation, action }) => ({ observation, action })),
    finalObservation: rollout.finalObservation,
    answer: rollout.answer,
  });
}

/** First of each class of equal `key`, with the members of the class, in order of first appearance. */
export function groupEqual<T>(items: readonly T[], key: (item: T) => string): T[][] {
  const classes = new Map<string, T[]>();
  for (const item of items) {
    const name = key(item);
    const members = classes.get(name);
    if (members) members.push(item);
    else classes.set(name, [item]);
  }
  return [...classes.values()];
}

/** Consolidates duplicates inside (task, outcome) only; route, K and the number of tasks stay what they were (B.2). */
export function deduplicate(group: RoutedGroup, successThreshold: number): TaskBlock {
  const success = (rollout: Rollout) => isSuccess(rollout, successThreshold);
  const classes = groupEqual(group.rollouts, (rollout) => `${success(rollout)} ${canonicalTranscript(rollout)}`);
  const trajectories = classes.map((members): Trajectory => {
    const first = members[0] as Rollout;
    return { rollout: first, success: success(first), multiplicity: members.length, sourceIds: members.map(({ id }) => id) };
  });
  return { task: group.task, route: group.route, successes: group.successes, outcomes: group.rollouts.length, trajectories };
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
