import type { DiscordantPair, SkipReason, TokenSpan, Trajectory } from './types.ts';

/** Either the pair, or why the two give none. */
export type Compared = { readonly pair: DiscordantPair } | { readonly skipped: SkipReason };

/**
 * Compares a branch with its parent (§3.2, eq. 1): the one with the higher reward is the success, the other the failure, and
 * d is the first position at or after the branch point where their tokens differ. The region of comparison is the rest of the
 * action that holds d, its end token included.
 * Skipped: equal rewards; no difference (also when one text is the beginning of the other); a difference of which either side
 * lies outside an action.
 */
export function comparePair(parent: Trajectory, branch: Trajectory): Compared {
  if (parent.reward === branch.reward) return { skipped: 'equal-reward' };
  const branchTurn = branch.branchTurn ?? 0;
  const from = branchTurn > 0 ? (branch.turns[branchTurn - 1]?.span.end ?? 0) : 0;
  const position = firstDifference(parent.ids, branch.ids, from);
  if (position === undefined) return { skipped: 'no-difference' };
  const inParent = placeOf(parent, position);
  const inBranch = placeOf(branch, position);
  if (!inParent || !inBranch) return { skipped: 'outside-action' };
  const [lower, higher] = parent.reward < branch.reward ? [inParent, inBranch] : [inBranch, inParent];
  const sampledFrom = branch.turns[branchTurn]?.span.start ?? from;
  return {
    pair: {
      id: `${parent.id}~${branch.id}`,
      taskId: parent.taskId,
      parentId: parent.id,
      branchId: branch.id,
      branchTurn,
      sharedTokens: Math.max(0, position - sampledFrom),
      lower,
      higher,
    },
  };
}

/** Compares every branch of a group with its parent. Pairs in the order of the branches; skipped ones by reason. */
export function comparePairs(trajectories: readonly Trajectory[]): {
  readonly pairs: readonly DiscordantPair[];
  readonly skipped: Record<SkipReason, number>;
} {
  const byId = new Map(trajectories.map((trajectory) => [trajectory.id, trajectory]));
  const skipped: Record<SkipReason, number> = { 'equal-reward': 0, 'no-difference': 0, 'outside-action': 0 };
  const pairs: DiscordantPair[] = [];
  for (const branch of trajectories) {
    const parent = branch.parentId === undefined ? undefined : byId.get(branch.parentId);
    if (!parent) continue;
    const compared = comparePair(parent, branch);
    if ('pair' in compared) pairs.push(compared.pair);
    else skipped[compared.skipped]++;
  }
  return { pairs, skipped };
}

function firstDifference(a: readonly number[], b: readonly number[], from: number): number | undefined {
  const end = Math.min(a.length, b.length);
  for (let i = from; i < end; i++) if (a[i] !== b[i]) return i;
  return undefined;
}

function placeOf(trajectory: Trajectory, position: number): DiscordantPair['lower'] | undefined {
  const turn = trajectory.turns.findIndex(({ span }) => holds(span, position));
  const found = trajectory.turns[turn];
  if (!found) return undefined;
  const token = position - found.span.start;
  return {
    trajectoryId: trajectory.id,
    turn,
    token,
    position,
    end: found.span.end,
    tokenId: trajectory.ids[position]!,
    tokenText: found.pieces[token] ?? '',
  };
}

function holds({ start, end }: TokenSpan, position: number): boolean {
  return position >= start && position < end;
}
