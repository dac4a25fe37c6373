import { describe, expect, it } from 'vitest';
import { Random } from '../../../src/core/random.ts';
import { probeEntropy } from '../../../src/models/own/forest.ts';
import { entropyPlan, independentPlan, treePlan, triggersBranch } from '../../../src/pearl/branching.ts';
import { discountedReturns } from '../../../src/pearl/optimisers/gigpo.ts';
import { shareTurns, standardise } from '../../../src/pearl/optimisers/group.ts';
import { BASE_OPTIMISERS, baseOptimiser } from '../../../src/pearl/optimisers/index.ts';
import { classifier, mistakePenalty } from '../../../src/pearl/optimisers/meds.ts';
import type { AdvantageInput } from '../../../src/pearl/optimisers/optimiser.ts';
import type { MistakePoint, Trajectory } from '../../../src/pearl/types.ts';
import { settings, task, trajectory } from './builders.ts';

const one = { see: [1], act: [2] };
const rewarded = (rewards: readonly number[], turns = 1) =>
  rewards.map((reward, i) =>
    trajectory(
      `t${i}`,
      reward,
      Array.from({ length: turns }, () => one),
    ),
  );
const input = (trajectories: readonly Trajectory[], changes: Partial<AdvantageInput> = {}): AdvantageInput => ({
  groups: [{ task: task(), trajectories }],
  settings: settings().advantage,
  features: new Map(),
  mistakes: [],
  ...changes,
});

describe('group-relative advantages', () => {
  it('are (R − mean)/(std + 1e-6) with the n−1 standard deviation', () => {
    // Mean 1/4, squares 3·(1/4)² + (3/4)² = 3/4, std √(3/4 / 3) = 1/2.
    const values = standardise([1, 0, 0, 0], true);
    expect(values[0]).toBeCloseTo(0.75 / (0.5 + 1e-6), 12);
    expect(values[1]).toBeCloseTo(-0.25 / (0.5 + 1e-6), 12);
    expect(standardise([1, 0, 0, 0], false)).toEqual([0.75, -0.25, -0.25, -0.25]);
  });

  it('are zero for equal rewards and for a single trajectory', () => {
    expect(standardise([1, 1, 1], true)).toEqual([0, 0, 0]);
    expect(standardise([0], true)).toEqual([0]);
  });

  it('stand on every turn, prompt by prompt', () => {
    for (const id of ['grpo', 'arpo'] as const) {
      const { advantages } = BASE_OPTIMISERS[id].advantages(input(rewarded([1, 0], 3)));
      const value = 0.5 / (Math.SQRT1_2 + 1e-6);
      expect(advantages.t0).toEqual([value, value, value]);
      expect(advantages.t1).toEqual([-value, -value, -value]);
    }
  });

  it('of shared turns are averaged with hard sharing', () => {
    const parent = trajectory('parent', 1, [one, one, one]);
    const branch = trajectory('branch', 0, [one, one], { parentId: 'parent', branchTurn: 1 });
    const leaf = trajectory('leaf', 0, [one, one, one], { parentId: 'branch', branchTurn: 2 });
    const shared = shareTurns([parent, branch, leaf], { parent: [3, 3, 3], branch: [0, 0], leaf: [-6, -6, -6] });
    // Turn 0 belongs to all three, turn 1 of the branch to the branch and its leaf.
    expect(shared).toEqual({ parent: [-1, 3, 3], branch: [-1, -3], leaf: [-1, -3, -6] });
  });
});

describe('GiGPO', () => {
  it('adds to the episode’s advantage that of each step among steps with the same observation', () => {
    const at = (observation: string) => ({ ...one, observation });
    const good = trajectory('good', 1, [at('start'), at('left')]);
    const bad = trajectory('bad', 0, [at('start'), at('right'), at('right')]);
    const { advantages } = BASE_OPTIMISERS.gigpo.advantages(input([good, bad]));
    // Episode statistics with weights 2 and 3: mean 2/5, squares 2·(3/5)² + 3·(2/5)² = 6/5, std √(6/5 / 4).
    const std = Math.sqrt(0.3) + 1e-6;
    const [high, low] = [0.6 / std, -0.4 / std];
    // Step returns at "start": 0.95 and 0; "right" twice with equal returns and "left" alone give 0.
    const step = 0.475 / (0.95 * Math.SQRT1_2 + 1e-6);
    expect(advantages.good![0]).toBeCloseTo(high + step, 10);
    expect(advantages.good![1]).toBeCloseTo(high, 10);
    expect(advantages.bad![0]).toBeCloseTo(low - step, 10);
    expect(advantages.bad!.slice(1)).toEqual([low, low].map((value) => expect.closeTo(value, 10)));
  });

  it('discounts returns from the end', () => {
    expect(discountedReturns([0, 0, 1], 0.5)).toEqual([0.25, 0.5, 1]);
    expect(discountedReturns([], 0.5)).toEqual([]);
  });
});

describe('Tree-GRPO', () => {
  it('adds the reward relative to the prompt and relative to its own tree', () => {
    const child = (id: string, reward: number, parentId: string) => trajectory(id, reward, [one, one], { parentId, branchTurn: 1 });
    const group = [trajectory('a', 1, [one, one]), trajectory('b', 0, [one, one]), child('a1', 0, 'a'), child('a2', 0, 'a1')];
    const { advantages } = BASE_OPTIMISERS['tree-grpo'].advantages(input(group));
    const across = 0.75 / (0.5 + 1e-6);
    // Tree of a: rewards 1, 0, 0: mean 1/3, std √(1/3).
    const within = 2 / 3 / (Math.sqrt(1 / 3) + 1e-6);
    expect(advantages.a![0]).toBeCloseTo(across + within, 10);
    expect(advantages.a2![1]).toBeCloseTo(-across / 3 - within / 2, 10);
    expect(advantages.b![0]).toBeCloseTo(-across / 3, 10);
  });
});

describe('the MEDS-style optimiser', () => {
  const known = (feature: readonly number[], i: number): MistakePoint => ({
    taskId: 'task',
    trajectoryId: `old${i}`,
    feature,
    classSize: 0,
    penalty: 0,
  });
  const near = (angle: number) => [Math.cos(angle), Math.sin(angle)];
  const three = [0, 0.001, 0.002].map((angle, i) => known(near(angle), i));
  const memory = [...three, ...[1.5, 1.501].map((angle, i) => known(near(angle), 3 + i))];

  it('costs a wrong answer more the more often its kind was seen, up to a limit', () => {
    const { advantage } = settings();
    expect(mistakePenalty(0, advantage)).toBe(0);
    expect(mistakePenalty(3, advantage)).toBeCloseTo(0.1 * Math.log(4), 12);
    expect(mistakePenalty(1e6, advantage)).toBeCloseTo(0.2, 12);
  });

  it('finds the kind by the nearest earlier mistakes of the same prompt', () => {
    expect(classifier([], 3)(near(0))).toBe(0);
    expect(classifier(memory, 3)(near(0.01))).toBe(3);
    expect(classifier(memory, 2)(near(1.49))).toBe(2);
  });

  it('changes rewards before they are compared, and remembers the wrong trajectories', () => {
    const trajectories = rewarded([1, 0, 0]);
    const features = new Map([
      ['t1', near(0)],
      ['t2', near(1.5)],
    ]);
    const { advantages, mistakes } = BASE_OPTIMISERS.meds.advantages(input(trajectories, { features, mistakes: memory }));
    const expected = standardise([1, -0.1 * Math.log(4), -0.1 * Math.log(3)], true);
    expect([0, 1, 2].map((i) => advantages[`t${i}`]![0])).toEqual(expected);
    expect(mistakes!.map(({ trajectoryId, classSize }) => [trajectoryId, classSize])).toEqual([
      ['t1', 3],
      ['t2', 2],
    ]);
    const elsewhere = BASE_OPTIMISERS.meds.advantages(
      input(trajectories, { features, mistakes: memory.map((point) => ({ ...point, taskId: 'other' })) }),
    );
    expect(elsewhere.mistakes!.every(({ penalty }) => penalty === 0)).toBe(true);
  });
});

describe('branching', () => {
  const { branching, tree } = settings();
  const random = new Random(1, 'branching');

  it('probes the mean entropy of the first tokens relative to a uniform vocabulary', () => {
    expect(probeEntropy([Math.log(8), 0, 100], 2, 8)).toBeCloseTo(0.5, 12);
    expect(probeEntropy([], 20, 8)).toBe(0);
  });

  it('is triggered by a rise of entropy in the deterministic reading', () => {
    expect(triggersBranch(0.3, 0.2, branching, random)).toBe(true);
    expect(triggersBranch(0.2, 0.2, branching, random)).toBe(false);
    expect(triggersBranch(0.1, 0.2, branching, random)).toBe(false);
    expect(triggersBranch(0.3, 0.2, { ...branching, threshold: 0.53 }, random)).toBe(false);
  });

  it('is triggered with probability α + β·ΔH in the stochastic reading, clipped', () => {
    const rule = { ...branching, rule: 'stochastic' as const };
    const rate = (probe: number, changed = rule) =>
      Array.from({ length: 4000 }, (_, i) => triggersBranch(probe, 0, changed, random.split(i))).filter(Boolean).length / 4000;
    expect(rate(0)).toBeCloseTo(0.5, 1);
    expect(rate(1)).toBeCloseTo(0.7, 1);
    expect(rate(1, { ...rule, beta: 10 })).toBe(1);
    expect(rate(1, { ...rule, beta: -10 })).toBe(0);
  });

  it('spends the budget on triggers in order, then on fresh starts', () => {
    const plan = entropyPlan(5, 2, branching, random);
    const turn = (trajectory: number, at: number, probe: number) => ({ trajectory, turn: at, probe });
    expect(plan.roots).toBe(2);
    expect(plan.afterRound([turn(0, 0, 0.5), turn(1, 0, 0.5)], 2)).toEqual([]);
    expect(plan.afterRound([turn(0, 1, 0.4), turn(1, 1, 0.6)], 2)).toEqual([{ trajectory: 1, turn: 1 }]);
    // The branch inherits its parent's first probe (0.5), and does not branch at the turn it samples anew.
    expect(plan.afterRound([turn(0, 2, 0.5), turn(1, 2, 0.7), turn(2, 1, 0.9)], 3)).toEqual([{ trajectory: 1, turn: 2 }]);
    expect(plan.afterRound([turn(2, 2, 0.6), turn(0, 3, 0.9)], 4)).toEqual([{ trajectory: 2, turn: 2 }]);
    expect(plan.afterRound([turn(0, 4, 0.9)], 5)).toEqual([]);
    const grown = (count: number) => Array.from({ length: count }, () => ({ turns: 5 }));
    expect(plan.afterEnd(grown(3))).toEqual(['root', 'root']);
    expect(plan.afterEnd(grown(5))).toEqual([]);
  });

  it('never happens for optimisers with independent rollouts', () => {
    const plan = independentPlan(16);
    expect(plan).toMatchObject({ roots: 16, branches: 'never' });
    expect([plan.afterRound([], 16), plan.afterEnd([])]).toEqual([[], []]);
  });

  it('expands every tree at uniformly drawn inner nodes', () => {
    const plan = treePlan({ ...tree, chains: 2, expansions: 200, rounds: 2 }, random);
    // Tree 0: a trunk of four turns. Tree 1: a trunk of one turn, which has no inner node.
    const expansions = plan.afterEnd([{ turns: 4 }, { turns: 1 }]);
    expect(expansions.slice(200)).toEqual(Array(200).fill('root'));
    const first = expansions.slice(0, 200) as { trajectory: number; turn: number }[];
    expect(new Set(first.map(({ turn }) => turn))).toEqual(new Set([1, 2, 3]));
    expect(first.filter(({ turn }) => turn === 1).length).toBeGreaterThan(40);
    const second = plan.afterEnd([{ turns: 4 }, { turns: 1 }, { turns: 6, parent: 0, branchTurn: 3 }]).slice(0, 200);
    const own = (second as { trajectory: number; turn: number }[]).filter(({ trajectory }) => trajectory === 2);
    // The branch's turns 0–2 and the state before turn 3 are its parent's nodes.
    expect(new Set(own.map(({ turn }) => turn))).toEqual(new Set([4, 5]));
    expect(plan.afterEnd([])).toEqual([]);
  });

  it('makes 24 leaves of Tree-GRPO’s default', () => {
    const plan = treePlan(tree, random);
    expect(plan.roots + plan.afterEnd(Array.from({ length: 8 }, () => ({ turns: 3 }))).length).toBe(24);
  });
});

it('PEARL stands on the optimiser named by base', () => {
  expect(baseOptimiser(settings()).id).toBe('arpo');
  expect(baseOptimiser(settings({ base: 'tree-grpo' })).id).toBe('tree-grpo');
  expect(baseOptimiser(settings({ optimiser: 'gigpo', base: 'tree-grpo' })).id).toBe('gigpo');
  for (const base of ['arpo', 'tree-grpo'] as const) expect(BASE_OPTIMISERS[base].branches).toBe(true);
});
