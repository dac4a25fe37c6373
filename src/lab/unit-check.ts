import * as v from 'valibot';
import { CALL_ROLES } from '../core/ledger.ts';
import { CritiqueAnswer, MergeAnswer, RankAnswer, ReviewAnswer } from '../textual/protocol.ts';

/**
 * What the units of a TextualRL journal must look like, by the first word of their key: a journal that comes from outside is
 * checked before it is replayed, so that a fault is told by its place and not by what it breaks.
 */

const amount = v.pipe(v.number(), v.finite(), v.minValue(0));
const index = v.pipe(v.number(), v.integer(), v.minValue(0));

const Usage = v.object({
  calls: amount,
  inputTokens: amount,
  outputTokens: amount,
  textVolume: amount,
  ms: amount,
  estimatedCalls: v.optional(amount),
});

const Rollout = v.object({
  id: v.string(),
  taskId: v.string(),
  index,
  contextHash: v.string(),
  turns: v.array(v.object({ observation: v.string(), action: v.string(), reward: v.pipe(v.number(), v.finite()) })),
  finalObservation: v.string(),
  answer: v.string(),
  reward: v.pipe(v.number(), v.finite()),
  success: v.boolean(),
  finish: v.picklist(['done', 'turn-limit', 'token-limit', 'context-limit', 'cancelled', 'error']),
  usage: Usage,
  seed: v.number(),
  parentId: v.optional(v.string()),
  branchTurn: v.optional(index),
  error: v.optional(v.string()),
});

const asked = (answer: v.GenericSchema) => {
  const common = { usage: Usage, unusable: index };
  return v.variant('status', [
    v.object({ status: v.literal('answered'), value: answer, ...common }),
    v.object({ status: v.picklist(['unusable', 'failed']), problem: v.string(), ...common }),
    v.object({ status: v.literal('too-long'), ...common }),
  ]);
};

const UNITS: Readonly<Record<string, v.GenericSchema>> = {
  rollout: Rollout,
  validate: Rollout,
  test: Rollout,
  critique: asked(CritiqueAnswer),
  merge: asked(MergeAnswer),
  review: asked(ReviewAnswer),
  rank: asked(RankAnswer),
  step: v.object({ seconds: amount }),
  stopped: v.object({
    step: index,
    reason: v.picklist(['stopped', 'token-cap']),
    tokens: v.object({
      byRole: v.object(Object.fromEntries(CALL_ROLES.map((role) => [role, Usage]))),
      iteration: amount,
      inferenceTextVolume: amount,
    }),
  }),
  model: v.object({ id: v.string(), parameters: amount, backend: v.string(), adapter: v.string() }),
  seconds: amount,
  'seconds-total': amount,
  'longest-task-ms': amount,
};

/** What is wrong with a unit, or undefined. Units of other kinds are not looked into. */
export function unitProblem(key: string, value: unknown): string | undefined {
  const kind = key.split(' ', 1)[0] ?? '';
  const schema = Object.hasOwn(UNITS, kind) ? UNITS[kind] : undefined;
  if (!schema) return undefined;
  const result = v.safeParse(schema, value, { abortEarly: true });
  if (result.success) return undefined;
  const [issue] = result.issues;
  return `${v.getDotPath(issue) ?? 'value'}: ${issue.message}`;
}
