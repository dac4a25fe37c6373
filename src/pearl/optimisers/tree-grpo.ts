import { treePlan } from '../branching.ts';
import type { Trajectory } from '../types.ts';
import { everyTurn, standardise, trunkOf } from './group.ts';
import type { BaseOptimiser } from './optimiser.ts';

/** Tree-GRPO (Ji et al. 2026): trees of trajectories; A = R standardised over the prompt + R standardised inside its tree. */
export const TREE_GRPO: BaseOptimiser = {
  id: 'tree-grpo',
  branches: true,
  judgesMistakes: false,
  plan: ({ tree }, random) => treePlan(tree, random),
  advantages({ groups, settings }) {
    const advantages: Record<string, number[]> = {};
    for (const { trajectories } of groups) {
      const byId = new Map(trajectories.map((trajectory) => [trajectory.id, trajectory]));
      const trees = new Map<string, Trajectory[]>();
      for (const trajectory of trajectories) {
        const trunk = trunkOf(byId, trajectory).id;
        trees.set(trunk, [...(trees.get(trunk) ?? []), trajectory]);
      }
      const across = relative(trajectories, settings.standardise);
      const within = new Map([...trees.values()].flatMap((tree) => [...relative(tree, settings.standardise)]));
      for (const trajectory of trajectories) {
        advantages[trajectory.id] = everyTurn(trajectory, across.get(trajectory.id)! + within.get(trajectory.id)!);
      }
    }
    return { advantages };
  },
};

function relative(trajectories: readonly Trajectory[], divide: boolean): Map<string, number> {
  const values = standardise(
    trajectories.map(({ reward }) => reward),
    divide,
  );
  return new Map(trajectories.map(({ id }, i) => [id, values[i]!]));
}
