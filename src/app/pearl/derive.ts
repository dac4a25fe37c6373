import type {
  BankPoint,
  BankSnapshot,
  ClusterSnapshot,
  ClusterSummary,
  Decision,
  FailureCluster,
  Outcome,
  PairRecord,
  PearlEvent,
  ShapedTokens,
  TrajectoryView,
} from '../../pearl/types.ts';
import { formatRate, plural } from '../format.ts';
import { type ForestView, type PearlView, pointKey, type UpdateView } from './pearl-store.ts';

/** What the page reads off a PEARL run. All pure. */

/** A row of the rollout tree: depth-first, branches below their parents. */
export interface TreeRow {
  readonly trajectory: TrajectoryView;
  /** 0 for a trajectory that starts at the beginning. */
  readonly level: number;
  /** Row of the parent, −1 for none. */
  readonly parentRow: number;
}

/** Trajectories of a prompt in tree order: roots by index, below each its branches by branch turn. A lost parent makes a root. */
export function treeRows({ trajectories }: ForestView): readonly TreeRow[] {
  const known = new Set(trajectories.map(({ id }) => id));
  const children = new Map<string, TrajectoryView[]>();
  const roots: TrajectoryView[] = [];
  for (const trajectory of trajectories) {
    const { parentId } = trajectory;
    if (parentId === undefined || !known.has(parentId)) roots.push(trajectory);
    else children.set(parentId, [...(children.get(parentId) ?? []), trajectory]);
  }
  const rows: TreeRow[] = [];
  const visit = (trajectory: TrajectoryView, level: number, parentRow: number) => {
    const row = rows.length;
    rows.push({ trajectory, level, parentRow });
    const below = children.get(trajectory.id) ?? [];
    below.sort((a, b) => (a.branchTurn ?? 0) - (b.branchTurn ?? 0) || a.index - b.index);
    for (const child of below) visit(child, level + 1, row);
  };
  for (const root of [...roots].sort((a, b) => a.index - b.index)) visit(root, 0, -1);
  return rows;
}

/** Short name of a trajectory inside its prompt: `k3`. */
export function shortId(trajectoryId: string): string {
  return trajectoryId.slice(trajectoryId.lastIndexOf('/') + 1);
}

/** What is to be marked on the tokens of one action. */
export interface TokenMark {
  readonly text: string;
  readonly entropy: number | undefined;
  /** First token in which two trajectories differ. */
  readonly divergent: boolean;
  /** In the region that is compared, from the divergent token to the action's end. */
  readonly inRegion: boolean;
  /** What its advantage was multiplied by; 1 where nothing was. */
  readonly multiplier: number;
}

/** The tokens of a turn with their marks. */
export function tokenMarks(
  trajectory: TrajectoryView,
  turn: number,
  decisions: readonly Decision[],
  shaped: readonly ShapedTokens[],
): readonly TokenMark[] {
  const pieces = trajectory.turns[turn]?.pieces ?? [];
  const here = decisions.filter((decision) => decision.trajectoryId === trajectory.id && decision.turn === turn);
  const multiplied = shaped.filter(({ trajectoryId }) => trajectoryId === trajectory.id);
  return pieces.map((text, token) => ({
    text,
    entropy: trajectory.turns[turn]?.entropies[token],
    divergent: here.some((decision) => decision.token === token),
    inRegion: here.some((decision) => token >= decision.token && token - decision.token < decision.end - decision.position),
    // A token that two pairs shape takes the larger multiplier.
    multiplier: multiplied.reduce(
      (most, entry) =>
        entry.tokens.some((place) => place.turn === turn && place.token === token) ? Math.max(most, entry.multiplier) : most,
      1,
    ),
  }));
}

export interface FoundTrajectory {
  readonly trajectory: TrajectoryView;
  readonly forest: ForestView;
  readonly update: UpdateView;
}

export function findTrajectory(view: PearlView, id: string): FoundTrajectory | undefined {
  for (const update of view.updates.values()) {
    for (const forest of update.forests.values()) {
      const trajectory = forest.trajectories.find((candidate) => candidate.id === id);
      if (trajectory) return { trajectory, forest, update };
    }
  }
  return undefined;
}

export function findPair(view: PearlView, id: string): { readonly pair: PairRecord; readonly update: UpdateView } | undefined {
  for (const update of view.updates.values()) {
    const pair = update.pairs.find((candidate) => candidate.id === id);
    if (pair) return { pair, update };
  }
  return undefined;
}

/** A point of a bank where the scatter shows it. */
export interface PlacedPoint {
  readonly point: BankPoint;
  readonly x: number;
  readonly y: number;
  /** −1 for noise. */
  readonly cluster: number;
  readonly probability: number;
}

/** All points of a snapshot in its plane, failures first. Points the page does not know are left out. */
export function placedPoints(view: PearlView, snapshot: ClusterSnapshot): readonly PlacedPoint[] {
  const of = (outcome: Outcome, bank: BankSnapshot): PlacedPoint[] =>
    bank.pointIds.flatMap((id, i) => {
      const point = view.points.get(pointKey(outcome, id));
      const at = bank.plane[i];
      return point && at ? [{ point, x: at[0], y: at[1], cluster: bank.labels[i] ?? -1, probability: bank.probabilities[i] ?? 0 }] : [];
    });
  return [...of('failure', snapshot.failure), ...of('success', snapshot.success)];
}

/** Entries in the banks now that the snapshot has not seen. */
export function newerEntries(view: PearlView, snapshot: ClusterSnapshot): number {
  const count = (outcome: Outcome, bank: BankSnapshot) => {
    const seen = new Set(bank.pointIds);
    let unseen = 0;
    for (const id of view.banks[outcome]) if (!seen.has(id)) unseen += 1;
    return unseen;
  };
  return count('failure', snapshot.failure) + count('success', snapshot.success);
}

/** The k points nearest to `point` by cosine; features have length 1, so that is their product. */
export function neighbours(
  points: readonly PlacedPoint[],
  of: BankPoint,
  k: number,
): readonly { readonly placed: PlacedPoint; readonly cosine: number }[] {
  return points
    .filter(({ point }) => point.id !== of.id || point.outcome !== of.outcome)
    .map((placed) => ({ placed, cosine: placed.point.feature.reduce((sum, value, i) => sum + value * (of.feature[i] ?? 0), 0) }))
    .sort((a, b) => b.cosine - a.cosine)
    .slice(0, k);
}

/** `F2` and `S0`: the names of clusters in pictures, tables and words. */
export function clusterName(outcome: Outcome, label: number): string {
  return label < 0 ? 'noise' : `${outcome === 'failure' ? 'F' : 'S'}${label}`;
}

/** `go to 96%, take 4%` */
export function verbsText({ verbs }: Pick<ClusterSummary, 'verbs'>): string {
  return verbs.map(({ verb, share }) => `${verb} ${Math.round(share * 100)}%`).join(', ');
}

/** Multiplier exp(ρ/T) of a kept cluster (eq. 6), 1 for a vetoed one. */
export function clusterMultiplier({ kept, share }: FailureCluster, temperature: number): number {
  return kept ? Math.exp(share / temperature) : 1;
}

/** The entries of a cluster, the surest first. */
export function members(placed: readonly PlacedPoint[], outcome: Outcome, label: number): readonly PlacedPoint[] {
  return placed
    .filter(({ point, cluster }) => point.outcome === outcome && cluster === label)
    .sort((a, b) => b.probability - a.probability || b.point.update - a.point.update);
}

/** What the live region says about an event; nothing for all that is not a boundary. */
export function pearlAnnouncement(event: PearlEvent): string | undefined {
  if (event.type === 'update') {
    const { update, success, pairs, shaping } = event.record;
    const shaped = shaping.active ? `, ${plural(shaping.tokens, 'token')} shaped` : '';
    return `Update ${update}: ${formatRate(success)} of the rollouts succeeded, ${plural(pairs, 'pair')}${shaped}.`;
  }
  if (event.type === 'pearl-finished') {
    const before = event.initial.scores.test ?? event.initial.scores.val;
    const after = event.final.scores.test ?? event.final.scores.val;
    return before && after
      ? `The run has finished. Success ${formatRate(before.rate)} to ${formatRate(after.rate)}.`
      : 'The run has finished.';
  }
  return undefined;
}

/** Whether an event is new work or told again; undefined where it does not say. */
export function isFreshPearl(event: PearlEvent): boolean | undefined {
  return event.type === 'update' || event.type === 'forest' ? !event.replayed : undefined;
}
