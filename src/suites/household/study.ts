import type { Suite, Task } from '../../core/types.ts';
import { bullets, DISTRACTORS, HELD_OUT_DISTRACTORS, RULE_IDS, type RuleId, ruleContext } from './rules.ts';
import { hazardTasks } from './suite.ts';

/** Plays each task once under a context and says which succeeded, in order. `seed` counts only above temperature 0. */
export type Player = (tasks: readonly Task[], context: string, temperature: number, seed: number) => Promise<readonly boolean[]>;

/** What one rule is worth to a model, as success rates on tasks where only this rule is at stake. */
export interface RuleWorth {
  readonly rule: RuleId;
  readonly n: number;
  readonly empty: number;
  /** Under this rule's sentence alone, in training and in held-out wording. */
  readonly alone: number;
  readonly aloneHeldOut: number;
  readonly all: number;
  /** Under all rules but this one. */
  readonly without: number;
  /** `all` minus `without`. */
  readonly worth: number;
}

/** Whether a model uses each rule for what it is meant for. @param n tasks per rule. */
export async function rulesStudy(play: Player, n: number): Promise<readonly RuleWorth[]> {
  const study: RuleWorth[] = [];
  for (const id of RULE_IDS) {
    const tasks = hazardTasks(id, n);
    const rate = async (context: string): Promise<number> => share(await play(tasks, context, 0, 0));
    const all = await rate(ruleContext(RULE_IDS));
    const without = await rate(ruleContext(RULE_IDS.filter((other) => other !== id)));
    study.push({
      rule: id,
      n,
      empty: await rate(''),
      alone: await rate(ruleContext([id])),
      aloneHeldOut: await rate(ruleContext([id], { heldOut: true })),
      all,
      without,
      worth: all - without,
    });
  }
  return study;
}

/** Success under the contexts that tell whether sentences matter, all at temperature 0. */
export interface ContextRates {
  readonly empty: number;
  readonly allRules: number;
  readonly allHeldOut: number;
  readonly distractors: number;
  readonly heldOutDistractors: number;
}

export async function contextStudy(play: Player, tasks: readonly Task[]): Promise<ContextRates> {
  const rate = async (context: string): Promise<number> => share(await play(tasks, context, 0, 0));
  const several = async (contexts: readonly string[]): Promise<number> => {
    let sum = 0;
    for (const context of contexts) sum += await rate(context);
    return sum / contexts.length;
  };
  return {
    empty: await rate(''),
    // Means over wordings: one wording could be lucky.
    allRules: await several([0, 3, 6].map((variant) => ruleContext(RULE_IDS, { variant }))),
    allHeldOut: await several([0, 1, 2].map((variant) => ruleContext(RULE_IDS, { variant, heldOut: true }))),
    distractors: await several([bullets(DISTRACTORS.slice(0, 6)), bullets(DISTRACTORS.slice(6, 12))]),
    heldOutDistractors: await rate(bullets(HELD_OUT_DISTRACTORS)),
  };
}

/** How groups of rollouts of one task divide into routes. */
export interface RouteCounts {
  readonly mixed: number;
  readonly allSuccess: number;
  readonly allFailure: number;
}

export async function routeStudy(
  play: Player,
  tasks: readonly Task[],
  context: string,
  k: number,
  temperature: number,
): Promise<RouteCounts> {
  const counts = { mixed: 0, allSuccess: 0, allFailure: 0 };
  const runs: (readonly boolean[])[] = [];
  for (let seed = 0; seed < k; seed++) runs.push(await play(tasks, context, temperature, seed));
  tasks.forEach((_, i) => {
    const successes = runs.filter((run) => run[i]).length;
    counts[successes === 0 ? 'allFailure' : successes === k ? 'allSuccess' : 'mixed']++;
  });
  return counts;
}

/** Everything the model card reports. */
export interface HouseholdStudy {
  readonly test: ContextRates & { readonly n: number };
  readonly unseen: { readonly n: number; readonly empty: number; readonly allRules: number };
  readonly rules: readonly RuleWorth[];
  readonly routes: { readonly groups: number; readonly k: number; readonly empty: RouteCounts; readonly allRules: RouteCounts };
}

export async function householdStudy(
  play: Player,
  suite: Suite,
  sizes = { test: 192, unseen: 96, perRule: 60, groups: 60 },
): Promise<HouseholdStudy> {
  const test = suite.splits.test.slice(0, sizes.test);
  const unseen = suite.splits.unseen.slice(0, sizes.unseen);
  const groups = suite.splits.train.slice(0, sizes.groups);
  const all = ruleContext(RULE_IDS);
  return {
    test: { n: test.length, ...(await contextStudy(play, test)) },
    unseen: { n: unseen.length, empty: share(await play(unseen, '', 0, 0)), allRules: share(await play(unseen, all, 0, 0)) },
    rules: await rulesStudy(play, sizes.perRule),
    routes: {
      groups: groups.length,
      k: 4,
      empty: await routeStudy(play, groups, '', 4, 0.7),
      allRules: await routeStudy(play, groups, all, 4, 0.7),
    },
  };
}

function share(successes: readonly boolean[]): number {
  return successes.filter(Boolean).length / successes.length;
}
