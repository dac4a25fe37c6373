import type { Trajectory } from '../types.ts';

/** Added to the standard deviation before dividing by it. */
const EPSILON = 1e-6;

/**
 * Group-relative values: (x − mean)/(std + 1e-6) with the n−1 standard deviation, or x − mean. Equal values, a single one
 * included, give zeros.
 * @param weights how often each value counts; by default once.
 */
export function standardise(values: readonly number[], divide: boolean, weights: readonly number[] = values.map(() => 1)): number[] {
  if (allEqual(values)) return values.map(() => 0);
  const n = weights.reduce((sum, weight) => sum + weight, 0);
  const mean = values.reduce((sum, value, i) => sum + weights[i]! * value, 0) / n;
  const squares = values.reduce((sum, value, i) => sum + weights[i]! * (value - mean) ** 2, 0);
  const scale = divide ? Math.sqrt(squares / (n - 1)) + EPSILON : 1;
  return values.map((value) => (value - mean) / scale);
}

export function allEqual(values: readonly number[]): boolean {
  return values.every((value) => value === values[0]);
}

/** The same advantage for every turn. */
export function everyTurn(trajectory: Trajectory, advantage: number): number[] {
  return trajectory.turns.map(() => advantage);
}

/** The trajectory that sampled a turn, which branches inherit. */
export function samplerOf(trajectories: ReadonlyMap<string, Trajectory>, trajectory: Trajectory, turn: number): Trajectory {
  let owner = trajectory;
  while (owner.parentId !== undefined && owner.branchTurn !== undefined && turn < owner.branchTurn) {
    const parent = trajectories.get(owner.parentId);
    if (!parent) break;
    owner = parent;
  }
  return owner;
}

/** The trajectory a tree of branches grew from. */
export function trunkOf(trajectories: ReadonlyMap<string, Trajectory>, trajectory: Trajectory): Trajectory {
  return samplerOf(trajectories, trajectory, -1);
}

/** *Hard* sharing: a turn that several trajectories share takes the mean of their advantages in all of them. */
export function shareTurns(
  trajectories: readonly Trajectory[],
  advantages: Readonly<Record<string, readonly number[]>>,
): Record<string, number[]> {
  const byId = new Map(trajectories.map((trajectory) => [trajectory.id, trajectory]));
  const keyOf = (trajectory: Trajectory, turn: number): string => `${samplerOf(byId, trajectory, turn).id}/${turn}`;
  const sums = new Map<string, { sum: number; count: number }>();
  for (const trajectory of trajectories) {
    advantages[trajectory.id]!.forEach((advantage, turn) => {
      const key = keyOf(trajectory, turn);
      const { sum, count } = sums.get(key) ?? { sum: 0, count: 0 };
      sums.set(key, { sum: sum + advantage, count: count + 1 });
    });
  }
  return Object.fromEntries(
    trajectories.map((trajectory) => [
      trajectory.id,
      advantages[trajectory.id]!.map((_, turn) => {
        const { sum, count } = sums.get(keyOf(trajectory, turn))!;
        return sum / count;
      }),
    ]),
  );
}
