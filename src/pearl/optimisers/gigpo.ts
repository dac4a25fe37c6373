import { independentPlan } from '../branching.ts';
import type { Trajectory } from '../types.ts';
import { standardise } from './group.ts';
import type { BaseOptimiser } from './optimiser.ts';

/**
 * GiGPO (Feng et al. 2025): A = A_episode + w·A_step. Episode statistics count every trajectory once a step, as the released
 * code does. Steps of one prompt that start from the same observation form a group in which their discounted returns are
 * standardised; a step alone in its group gets 0.
 */
export const GIGPO: BaseOptimiser = {
  id: 'gigpo',
  branches: false,
  judgesMistakes: false,
  plan: ({ rollouts }) => independentPlan(rollouts.group),
  advantages({ groups, settings }) {
    const advantages: Record<string, number[]> = {};
    for (const { trajectories } of groups) {
      const episode = standardise(
        trajectories.map(({ reward }) => reward),
        settings.standardise,
        trajectories.map(({ turns }) => turns.length),
      );
      const step = stepAdvantages(trajectories, settings.stepDiscount, settings.standardise);
      trajectories.forEach((trajectory, i) => {
        advantages[trajectory.id] = trajectory.turns.map((_, t) => episode[i]! + settings.stepWeight * step[i]![t]!);
      });
    }
    return { advantages };
  },
};

/** Advantage of every step within its anchor group; rows along the trajectories. */
function stepAdvantages(trajectories: readonly Trajectory[], discount: number, divide: boolean): number[][] {
  const anchors = new Map<string, { readonly row: number; readonly turn: number; readonly value: number }[]>();
  trajectories.forEach((trajectory, row) => {
    discountedReturns(
      trajectory.turns.map(({ reward }) => reward),
      discount,
    ).forEach((value, turn) => {
      const anchor = trajectory.turns[turn]!.observation;
      anchors.set(anchor, [...(anchors.get(anchor) ?? []), { row, turn, value }]);
    });
  });
  const out = trajectories.map(({ turns }) => turns.map(() => 0));
  for (const steps of anchors.values()) {
    const values = standardise(
      steps.map(({ value }) => value),
      divide,
    );
    steps.forEach(({ row, turn }, i) => {
      out[row]![turn] = values[i]!;
    });
  }
  return out;
}

/** G_t = r_t + γ·G_{t+1}. */
export function discountedReturns(rewards: readonly number[], discount: number): number[] {
  const returns = new Array<number>(rewards.length);
  let value = 0;
  for (let t = rewards.length - 1; t >= 0; t--) {
    value = rewards[t]! + discount * value;
    returns[t] = value;
  }
  return returns;
}
