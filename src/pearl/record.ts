import type { Credit } from './credit.ts';
import { allEqual } from './optimisers/group.ts';
import type { Banks, ClusterSnapshot, PhaseSeconds, PromptGroup, Trajectory, TrajectoryView, UpdateRecord } from './types.ts';
import type { LearningReport } from './update.ts';

export interface RecordInput {
  readonly update: number;
  readonly groups: readonly PromptGroup[];
  /** Trajectories of a prompt that start at the beginning by plan. */
  readonly plannedRoots: number;
  readonly credit: Credit;
  readonly learning: LearningReport;
  readonly banks: Banks;
  /** The latest fit, made after this update or earlier. */
  readonly snapshot: ClusterSnapshot | undefined;
  readonly activeBefore: number;
  readonly seconds: PhaseSeconds;
}

/** The figures of one update (§4.4). */
export function updateRecord(input: RecordInput): UpdateRecord {
  const { update, groups, credit, learning, banks, snapshot, activeBefore, seconds } = input;
  const trajectories = groups.flatMap((group) => group.trajectories);
  const count = trajectories.length;
  const roots = trajectories.filter(({ parentId }) => parentId === undefined).length;
  const sum = (of: (trajectory: Trajectory) => number): number => trajectories.reduce((total, trajectory) => total + of(trajectory), 0);
  // A branch repeats its parent's turns: what it sampled itself begins at its branch turn.
  const ownTurns = ({ turns, branchTurn = 0 }: Trajectory) => turns.slice(branchTurn);
  const entropies = trajectories.flatMap((trajectory) => ownTurns(trajectory).flatMap(({ tokens }) => tokens.entropies));
  const multiplied = credit.shaped.flatMap(({ tokens, multiplier }) => tokens.map(() => multiplier));
  const active = multiplied.length > 0;
  const kept = snapshot?.failure.clusters.filter((cluster) => cluster.kept).length ?? 0;
  return {
    update,
    taskIds: groups.map(({ task }) => task.id),
    success: sum(({ success }) => (success ? 1 : 0)) / count,
    trajectories: count,
    degenerate: groups.filter((group) => allEqual(group.trajectories.map(({ reward }) => reward))).length,
    branches: count - roots,
    lateRoots: roots - Math.min(roots, input.plannedRoots * groups.length),
    pairs: credit.pairs.length,
    skipped: credit.skipped,
    banks: { failure: banks.failure.length, success: banks.success.length },
    clusters: {
      failure: snapshot?.failure.clusters.length ?? 0,
      success: snapshot?.success.clusters.length ?? 0,
      vetoed: (snapshot?.failure.clusters.length ?? 0) - kept,
      kept,
    },
    noise: snapshot?.failure.noise ?? 0,
    largestShare: snapshot?.largestShare ?? 0,
    refitted: snapshot?.update === update,
    shaping: {
      active,
      tokens: multiplied.length,
      meanMultiplier: active ? multiplied.reduce((total, multiplier) => total + multiplier, 0) / multiplied.length : 1,
      activeUpdates: activeBefore + (active ? 1 : 0),
    },
    entropy: entropies.reduce((total, entropy) => total + entropy, 0) / Math.max(1, entropies.length),
    loss: learning.loss,
    clipFraction: learning.clipFraction,
    gradientNorm: learning.gradientNorm,
    optimiserSteps: learning.optimiserSteps,
    responseLength: sum(({ turns }) => turns.reduce((total, { tokens }) => total + tokens.ids.length, 0)) / count,
    tokens: {
      input: sum(({ usage }) => usage.inputTokens),
      output: sum(({ usage }) => usage.outputTokens),
      trained: learning.trainedTokens,
    },
    seconds,
  };
}

/** A trajectory without what only training needs. */
export function trajectoryView(trajectory: Trajectory): TrajectoryView {
  const { id, taskId, index, parentId, branchTurn, reward, success, finish, finalObservation, turns } = trajectory;
  return {
    id,
    taskId,
    index,
    ...(parentId === undefined || branchTurn === undefined ? {} : { parentId, branchTurn }),
    reward,
    success,
    finish,
    finalObservation,
    turns: turns.map(({ observation, action, pieces, tokens, probe }) => ({
      observation,
      action,
      pieces,
      entropies: tokens.entropies,
      probe,
    })),
  };
}
