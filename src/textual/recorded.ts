import * as v from 'valibot';
import { NacreError } from '../core/errors.ts';
import type { Json } from '../core/types.ts';
import { canonicalJson, groupEqual } from './dedupe.ts';
import { route } from './routing.ts';

/** Routing and deduplication of trajectories that something else recorded. */
export interface RecordedRoutes {
  readonly tasks: number;
  readonly mixed: number;
  readonly allSuccess: number;
  readonly allFailure: number;
  /** Distinct trajectories: duplicates inside one task and outcome count once. */
  readonly unique: number;
  /** Rollouts that could not run: counted, not routed. Absent when there is none. */
  readonly errors?: number;
}

export interface RecordedRollout {
  readonly taskId: string;
  readonly reward: number;
  /** Messages or turns as recorded, without system and evaluator rows. */
  readonly transcript: Json;
  readonly failedToRun: boolean;
}

/** Rows that are no part of what happened at run time. */
const SILENT_ROLES = new Set(['system', 'developer', 'evaluator', 'grader', 'judge', 'reward']);

const id = v.pipe(
  v.union([v.pipe(v.string(), v.minLength(1)), v.pipe(v.number(), v.finite())], 'expected a text or a number'),
  v.transform(String),
);
const reward = v.pipe(
  v.union([v.pipe(v.number(), v.finite()), v.boolean()], 'expected a finite number, true or false'),
  v.transform(Number),
);
const rows = v.pipe(v.array(v.record(v.string(), v.unknown(), 'expected an object'), 'expected a list'), v.minLength(1, 'is empty'));

const RecordedFile = v.pipe(
  v.array(
    v.looseObject({
      task_id: v.optional(id),
      taskId: v.optional(id),
      reward: v.optional(v.nullable(reward)),
      success: v.optional(v.boolean()),
      error: v.optional(v.unknown()),
      messages: v.optional(rows),
      turns: v.optional(rows),
      traj: v.optional(rows),
    }),
    'expected a list of rollouts',
  ),
  v.minLength(1, 'holds no rollouts'),
);

/**
 * Reads recorded trajectories: a list of `{task_id, reward, messages | turns | traj}` as tau-bench writes them, or an object
 * with that list as `rollouts` or `results`.
 * @throws {NacreError} `trajectories-invalid` naming the file, the rollout and the field.
 */
export function readRecorded(data: unknown, file: string): RecordedRollout[] {
  const parsed = v.safeParse(RecordedFile, listOf(data));
  const fail = (where: string, what: string) =>
    new NacreError(
      'trajectories-invalid',
      `${file}: ${where}: ${what}.`,
      'Give a JSON list of rollouts, each {"task_id": …, "reward": 0 or 1, "messages": [{"role": …, "content": …}, …]}.',
    );
  if (!parsed.success) {
    const [issue] = parsed.issues;
    const path = v.getDotPath(issue);
    throw fail(path === null ? 'the file' : `rollout ${path}`, issue.message.replace(/\.$/, ''));
  }
  return parsed.output.map((entry, i) => {
    const taskId = entry.task_id ?? entry.taskId;
    if (taskId === undefined) throw fail(`rollout ${i}`, 'task_id is missing');
    const transcript = entry.messages ?? entry.turns ?? entry.traj;
    const failedToRun = entry.error != null && entry.reward == null && entry.success === undefined;
    if (failedToRun) return { taskId, reward: 0, transcript: [], failedToRun };
    const scored = entry.reward ?? (entry.success === undefined ? undefined : Number(entry.success));
    if (scored === undefined) throw fail(`rollout ${i} (task ${taskId})`, 'reward is missing');
    if (!transcript) throw fail(`rollout ${i} (task ${taskId})`, 'messages (or turns) are missing');
    const visible = transcript.filter(({ role }) => !SILENT_ROLES.has(String(role)));
    return { taskId, reward: scored, transcript: visible as Json, failedToRun };
  });
}

/** Routes and counts recorded rollouts as a TextualRL step would (§3.2, B.2). */
export function recordedRoutes(rollouts: readonly RecordedRollout[], successThreshold = 1): RecordedRoutes {
  const ran = rollouts.filter(({ failedToRun }) => !failedToRun);
  const groups = groupEqual(ran, ({ taskId }) => taskId);
  const counts = { mixed: 0, 'all-success': 0, 'all-failure': 0 };
  let unique = 0;
  for (const group of groups) {
    const success = (rollout: RecordedRollout) => rollout.reward >= successThreshold;
    counts[route(group.filter(success).length, group.length)]++;
    unique += groupEqual(group, (rollout) => `${success(rollout)} ${canonicalJson(rollout.transcript)}`).length;
  }
  const errors = rollouts.length - ran.length;
  return {
    tasks: groups.length,
    mixed: counts.mixed,
    allSuccess: counts['all-success'],
    allFailure: counts['all-failure'],
    unique,
    ...(errors > 0 ? { errors } : {}),
  };
}

function listOf(data: unknown): unknown {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return data;
  const wrapper = data as { readonly rollouts?: unknown; readonly results?: unknown };
  return wrapper.rollouts ?? wrapper.results ?? data;
}
