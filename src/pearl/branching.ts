import type { Random } from '../core/random.ts';
import type { BranchPoint, ForestPlan, Grown } from '../models/own/forest.ts';
import type { PearlSettings } from './settings.ts';

type BranchRule = PearlSettings['branching'];

/**
 * Whether a turn triggers a branch (ARPO): ΔH = H_t − H_init, entropies relative to a uniform vocabulary.
 * `deterministic`: iff α + β·ΔH > τ. `stochastic`: with probability α + β·ΔH, clipped to [0, 1].
 */
export function triggersBranch(probe: number, initial: number, rule: BranchRule, random: Random): boolean {
  const score = rule.alpha + rule.beta * (probe - initial);
  return rule.rule === 'deterministic' ? score > rule.threshold : random.chance(Math.min(1, Math.max(0, score)));
}

/** All trajectories start at the beginning: GRPO, GiGPO and the MEDS-style optimiser. */
export function independentPlan(group: number): ForestPlan {
  return { roots: group, branches: 'never', afterRound: () => [], afterEnd: () => [] };
}

/**
 * ARPO's plan: `roots` trajectories start, and every turn after an environment's reply whose entropy has risen enough starts
 * one branch from the state before it, until the prompt has `group` trajectories. What is left when all have ended are fresh
 * starts. A branch inherits its parent's H_init, and is itself probed from the turn after the one it samples anew: that one
 * stands on the state that has just triggered, and would trigger again and again.
 */
export function entropyPlan(group: number, roots: number, rule: BranchRule, random: Random): ForestPlan {
  const initial: number[] = [];
  const firstProbed: number[] = [];
  return {
    roots,
    branches: roots < group ? 'latest' : 'never',
    afterRound(played, made) {
      const branches: BranchPoint[] = [];
      for (const { trajectory, turn, probe } of played) {
        initial[trajectory] ??= probe;
        if (turn < (firstProbed[trajectory] ?? 1) || made + branches.length >= group) continue;
        if (!triggersBranch(probe, initial[trajectory], rule, random.split(trajectory).split(turn))) continue;
        const child = made + branches.length;
        initial[child] = initial[trajectory];
        firstProbed[child] = turn + 1;
        branches.push({ trajectory, turn });
      }
      return branches;
    },
    afterEnd: (grown) => Array.from({ length: group - grown.length }, () => 'root' as const),
  };
}

/**
 * Tree-GRPO's plan: `chains` whole trajectories, each the trunk of a tree; then `rounds` rounds in which every tree gets
 * `expansions` new leaves, each from a node drawn uniformly from its turns that have a successor. A tree whose trunk has one
 * turn has no such node: a fresh start takes the leaf's place.
 */
export function treePlan(tree: PearlSettings['tree'], random: Random): ForestPlan {
  let round = 0;
  return {
    roots: tree.chains,
    branches: 'anywhere',
    afterRound: () => [],
    afterEnd(grown) {
      if (round === tree.rounds) return [];
      const stream = random.split(round++);
      return Array.from({ length: tree.chains }, (_, trunk) => {
        const nodes = innerNodes(grown, trunk);
        const draw = stream.split(trunk);
        return Array.from({ length: tree.expansions }, () => (nodes.length === 0 ? ('root' as const) : draw.pick(nodes)));
      }).flat();
    },
  };
}

/** Index of the trajectory at the root of another's tree. */
export function trunkOf(grown: readonly Pick<Grown, 'parent'>[], index: number): number {
  let trunk = index;
  for (let parent = grown[trunk]?.parent; parent !== undefined; parent = grown[trunk]?.parent) trunk = parent;
  return trunk;
}

/** Branch points behind the nodes of one tree that have a successor; a node that several trajectories share counts once. */
function innerNodes(grown: readonly Grown[], trunk: number): BranchPoint[] {
  return grown.flatMap(({ turns, branchTurn = 0 }, trajectory) => {
    if (trunkOf(grown, trajectory) !== trunk) return [];
    const own = branchTurn + 1;
    return Array.from({ length: Math.max(0, turns - own) }, (_, i) => ({ trajectory, turn: own + i }));
  });
}
