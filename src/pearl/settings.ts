import * as v from 'valibot';

const count = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));
const real = (min: number, max: number) => v.pipe(v.number(), v.finite(), v.minValue(min), v.maxValue(max));

/** `pearl` is the memory on top of the optimiser named by `base`; the others are those optimisers alone. */
export const OPTIMISERS = ['grpo', 'arpo', 'gigpo', 'tree-grpo', 'meds', 'pearl'] as const;
export type OptimiserId = (typeof OPTIMISERS)[number];

/** Features of a decision (§4.3). */
export const FEATURES = ['late-logits', 'all-logits', 'token-state', 'pooled-state'] as const;
export type FeatureId = (typeof FEATURES)[number];

/**
 * Settings of PEARL and its base optimisers. Defaults are the preset for the shipped small model; the paper's values stand in
 * the comments where they differ (App. A.1). KL penalty and entropy bonus are 0, as in the paper.
 */
const Fields = v.strictObject({
  optimiser: v.optional(v.picklist(OPTIMISERS), 'pearl'),
  /** What PEARL stands on: any optimiser whose rollouts branch. */
  base: v.optional(v.picklist(['arpo', 'tree-grpo']), 'arpo'),
  /** Paper: 400 on AppWorld, 300 on ALFWorld. */
  updates: v.optional(count(1, 100_000), 40),
  /** Prompts an update. Paper: 8. */
  prompts: v.optional(count(1, 1024), 4),
  /** Weights are stored every this many updates; the updates since are computed again when a run resumes. */
  checkpointEvery: v.optional(count(1, 1000), 5),
  rollouts: v.optional(
    v.strictObject({
      /** G, trajectories a prompt. */
      group: v.optional(count(2, 256), 16),
      /** G0, those that start at the beginning; the rest branch. */
      roots: v.optional(count(1, 256), 8),
      temperature: v.optional(real(0.01, 5), 1),
      topP: v.optional(real(0.01, 1), 1),
      maxTokensPerTurn: v.optional(count(1, 8192), 24),
      /** 0: as many as the suite allows. */
      maxTurns: v.optional(count(0, 1000), 0),
    }),
    {},
  ),
  branching: v.optional(
    v.strictObject({
      /** `deterministic`: branch iff α + β·ΔH > τ (the paper's words); `stochastic`: with that probability, clipped to [0, 1]. */
      rule: v.optional(v.picklist(['deterministic', 'stochastic']), 'deterministic'),
      alpha: v.optional(real(-10, 10), 0.5),
      beta: v.optional(real(-100, 100), 0.2),
      threshold: v.optional(real(-10, 10), 0.5),
      /** Tokens of a turn that are probed. */
      probeTokens: v.optional(count(1, 4096), 20),
      /** Likeliest tokens over which the probabilities are renormalised. */
      probeTopK: v.optional(count(2, 1_000_000), 128),
    }),
    {},
  ),
  /** Tree-GRPO: m chains, l rounds of n expansions of each tree; m·(1 + n·l) leaves. */
  tree: v.optional(
    v.strictObject({
      chains: v.optional(count(1, 256), 8),
      expansions: v.optional(count(1, 64), 2),
      rounds: v.optional(count(1, 16), 1),
    }),
    {},
  ),
  advantage: v.optional(
    v.strictObject({
      /** Divide by the group's standard deviation. */
      standardise: v.optional(v.boolean(), true),
      /** `soft`: each trajectory trains its own copy of a shared prefix; `hard`: shared turns take the mean advantage. */
      sharedPrefix: v.optional(v.picklist(['soft', 'hard']), 'soft'),
      /** GiGPO: weight of the step advantage and discount of its returns. */
      stepWeight: v.optional(real(0, 100), 1),
      stepDiscount: v.optional(real(0, 1), 0.95),
      /** MEDS-style: penalty of a wrong answer = scale·min(ln(class size + 1), limit). */
      mistakeScale: v.optional(real(0, 10), 0.1),
      mistakeLimit: v.optional(real(0, 100), 2),
      mistakeNeighbours: v.optional(count(1, 100), 3),
    }),
    {},
  ),
  loss: v.optional(
    v.strictObject({
      /** Passes over a batch of trajectories; with one pass and one minibatch r ≡ 1 and the clip never binds. */
      epochs: v.optional(count(1, 32), 2),
      minibatches: v.optional(count(1, 64), 1),
      clip: v.optional(real(0.001, 1), 0.2),
      /** `trajectory`: mean over a trajectory's action tokens, then over trajectories; `token`: mean over all action tokens. */
      aggregation: v.optional(v.picklist(['trajectory', 'token']), 'trajectory'),
      /** Paper: 1e-6 at 4B; small models need far more. */
      learningRate: v.optional(real(0, 1), 2e-4),
      beta1: v.optional(real(0, 0.9999), 0.9),
      beta2: v.optional(real(0, 0.99999), 0.98),
      weightDecay: v.optional(real(0, 1), 0.1),
      gradientClip: v.optional(real(0.001, 1e6), 1),
    }),
    {},
  ),
  memory: v.optional(
    v.strictObject({
      /** W, updates an entry is kept, or all history. */
      window: v.optional(v.union([count(1, 100_000), v.literal('unlimited')]), 25),
      /** K, updates between two fits. Paper: 10. */
      refitEvery: v.optional(count(1, 10_000), 3),
      /** Paper: 10. */
      minClusterSize: v.optional(count(2, 100_000), 5),
      /** Paper: 5. */
      minSamples: v.optional(count(1, 100_000), 3),
      centroid: v.optional(v.picklist(['mean', 'meanNormalised', 'probabilityWeighted']), 'mean'),
      feature: v.optional(v.picklist(FEATURES), 'late-logits'),
      /** Success clusters veto failure clusters (eq. 4). */
      veto: v.optional(v.boolean(), true),
      direction: v.optional(v.picklist(['failure', 'success', 'both']), 'failure'),
      /** `random`: the same number of tokens with the same multiplier, anywhere in the trajectory (the control of §4.3). */
      location: v.optional(v.picklist(['pattern', 'random']), 'pattern'),
      /** T_s of eq. 6. */
      temperature: v.optional(real(0.01, 1000), 1),
    }),
    {},
  ),
  evaluation: v.optional(
    v.strictObject({
      /** Updates between two evaluations on the validation tasks; 0: only before the first and after the last update. */
      every: v.optional(count(0, 100_000), 10),
      /** Greedy samples a task. Paper: 3; the own runtime decodes greedily to the same tokens each time. */
      samples: v.optional(count(1, 16), 1),
    }),
    {},
  ),
});

type Fields = v.InferOutput<typeof Fields>;

const rootsFit = ({ rollouts }: Fields): boolean => rollouts.roots <= rollouts.group;
const refitFits = ({ memory }: Fields): boolean => memory.window === 'unlimited' || memory.refitEvery <= memory.window;

/** @see Fields. Cross-field rules name the field that is wrong. */
export const PearlSettings = v.pipe(
  Fields,
  v.forward(v.check(rootsFit, 'Invalid value: roots must not be larger than group'), ['rollouts', 'roots']),
  v.forward(
    v.check(refitFits, 'Invalid value: refitEvery (K) must not be larger than window (W), or entries leave before they are clustered'),
    ['memory', 'refitEvery'],
  ),
);
export type PearlSettings = v.InferOutput<typeof PearlSettings>;
