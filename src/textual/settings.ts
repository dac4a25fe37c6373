import * as v from 'valibot';

const count = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));
const real = (min: number, max: number) => v.pipe(v.number(), v.finite(), v.minValue(min), v.maxValue(max));

/** Settings of the TextualRL loop with the paper's defaults (§4.1, App. A, B.2–B.4); all are stored with the run. */
export const TextualSettings = v.strictObject({
  epochs: v.optional(count(1, 100), 4),
  /** K, rollouts a task. */
  rolloutsPerTask: v.optional(count(1, 64), 4),
  /** Tasks a step; the whole train split when that is smaller. */
  batchTasks: v.optional(count(1, 10_000), 40),
  /** Task blocks a homogeneous critique call. */
  critiqueBatch: v.optional(count(2, 64), 8),
  /** Proposal bundles a merge call. */
  mergeBatch: v.optional(count(2, 64), 8),
  editBudget: v.optional(count(1, 64), 4),
  minEditBudget: v.optional(count(1, 64), 2),
  trainTemperature: v.optional(real(0, 5), 0.7),
  evalTemperature: v.optional(real(0, 5), 0),
  successThreshold: v.optional(real(-1e6, 1e6), 1),
  maxEditChars: v.optional(count(1, 100_000), 600),
  maxContextChars: v.optional(count(1, 1_000_000), 12_000),
  /** Retries of a rollout that could not run. */
  rolloutRetries: v.optional(count(0, 10), 2),
  /** Resamples when the step buffer blocks a patch. */
  resamples: v.optional(count(0, 10), 3),
  /** Stop when validation reaches 100%. */
  stopAtPerfect: v.optional(v.boolean(), false),
  /** Stop before the call that would pass this many iteration tokens; 0 = no cap. */
  tokenCap: v.optional(count(0, 1e12), 0),
  ablations: v.optional(
    v.strictObject({
      outcomeRouting: v.optional(v.boolean(), true),
      intraGroupCardsOnly: v.optional(v.boolean(), false),
      noEditCards: v.optional(v.boolean(), true),
      crossGroupReview: v.optional(v.boolean(), true),
    }),
    {},
  ),
});
export type TextualSettings = v.InferOutput<typeof TextualSettings>;
