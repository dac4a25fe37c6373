import { entropyPlan, independentPlan } from '../branching.ts';
import type { Trajectory } from '../types.ts';
import { everyTurn, standardise } from './group.ts';
import type { AdvantageInput, AdvantageOutput, BaseOptimiser } from './optimiser.ts';

/** GRPO's advantages (Shao et al. 2024): the reward relative to the prompt's other trajectories, on every token. */
function groupRelative(
  { groups, settings }: AdvantageInput,
  rewardOf = (trajectory: Trajectory): number => trajectory.reward,
): AdvantageOutput {
  const advantages = groups.flatMap(({ trajectories }) => {
    const values = standardise(trajectories.map(rewardOf), settings.standardise);
    return trajectories.map((trajectory, i) => [trajectory.id, everyTurn(trajectory, values[i]!)] as const);
  });
  return { advantages: Object.fromEntries(advantages) };
}

/** Independent trajectories, group-relative rewards. */
export const GRPO: BaseOptimiser = {
  id: 'grpo',
  branches: false,
  judgesMistakes: false,
  plan: ({ rollouts }) => independentPlan(rollouts.group),
  advantages: (input) => groupRelative(input),
};

/** GRPO's advantages over trajectories of which some branch where the entropy rose (Dong et al. 2026). */
export const ARPO: BaseOptimiser = {
  id: 'arpo',
  branches: true,
  judgesMistakes: false,
  plan: ({ rollouts, branching }, random) => entropyPlan(rollouts.group, rollouts.roots, branching, random),
  advantages: (input) => groupRelative(input),
};

export { groupRelative };
