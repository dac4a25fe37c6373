import type { Random } from '../core/random.ts';
import { matchDecisions, type PatternMemory } from './clusters.ts';
import type { PearlSettings } from './settings.ts';
import type { DecisionMatch, Outcome, PairRecord, ShapedTokens, Trajectory } from './types.ts';

type MemorySettings = PearlSettings['memory'];

/** exp(ρ/T_s) of eq. 6. */
export function multiplierOf(share: number, temperature: number): number {
  return Math.exp(share / temperature);
}

/** How the two sides of each pair stand to the memory; empty objects while there is none. */
export function matchPairs(
  memory: PatternMemory | undefined,
  features: readonly { readonly lower: ArrayLike<number>; readonly higher: ArrayLike<number> }[],
  settings: MemorySettings,
): readonly Pick<PairRecord, 'lowerMatch' | 'higherMatch'>[] {
  if (!memory) return features.map(() => ({}));
  const { failure, success, verdicts } = memory;
  const lower = matchDecisions(
    failure,
    features.map((feature) => feature.lower),
  );
  const higher = matchDecisions(
    success,
    features.map((feature) => feature.higher),
  );
  const entries = success.clusters.reduce((sum, { size }) => sum + size, 0);
  const matched = (found: { cluster: number; strength: number }, side: Outcome, kept: boolean, share: number): DecisionMatch => {
    const shapes = kept && (settings.direction === 'both' || settings.direction === side);
    return { ...found, kept, multiplier: shapes ? multiplierOf(share, settings.temperature) : 1 };
  };
  return features.map((_, i) => {
    const verdict = verdicts[lower[i]!.cluster];
    const cluster = success.clusters[higher[i]!.cluster];
    return {
      lowerMatch: matched(lower[i]!, 'failure', verdict?.kept ?? false, verdict?.share ?? 0),
      higherMatch: matched(higher[i]!, 'success', cluster !== undefined, cluster ? cluster.size / entries : 0),
    };
  });
}

/** Base advantage of each turn of each trajectory, by trajectory id. */
export type TurnAdvantages = Readonly<Record<string, readonly number[]>>;

interface Region {
  readonly pair: PairRecord;
  readonly outcome: Outcome;
  readonly trajectory: Trajectory;
  readonly match: DecisionMatch;
  readonly turn: number;
  readonly firstToken: number;
}

interface TokenPlace {
  readonly turn: number;
  readonly token: number;
}

/**
 * Which tokens are multiplied (eq. 6): those from d to the end of its action, where the decision matched a kept cluster and
 * the advantage is negative (positive on the success side, an ablation). A token that several pairs would multiply takes the
 * largest multiplier, once. With `location: random` as many tokens of the right sign are drawn from the whole trajectory.
 */
export function shapeTokens(
  trajectories: ReadonlyMap<string, Trajectory>,
  pairs: readonly PairRecord[],
  advantages: TurnAdvantages,
  location: MemorySettings['location'],
  random: Random,
): ShapedTokens[] {
  const taken = new Map<string, Set<string>>();
  const shaped: ShapedTokens[] = [];
  for (const region of regionsOf(trajectories, pairs)) {
    const { trajectory, match, outcome, pair } = region;
    const used = taken.get(trajectory.id) ?? new Set();
    taken.set(trajectory.id, used);
    const eligible = ({ turn, token }: TokenPlace): boolean => {
      const advantage = advantages[trajectory.id]?.[turn] ?? 0;
      return (outcome === 'failure' ? advantage < 0 : advantage > 0) && !used.has(`${turn}/${token}`);
    };
    const inRegion = placesOf(trajectory).filter(({ turn, token }) => turn === region.turn && token >= region.firstToken);
    const budget = inRegion.filter(eligible);
    const tokens =
      location === 'pattern' ? budget : drawPlaces(placesOf(trajectory).filter(eligible), budget.length, random.split(pair.id));
    if (tokens.length === 0) continue;
    for (const { turn, token } of tokens) used.add(`${turn}/${token}`);
    const { cluster, multiplier } = match;
    shaped.push({ trajectoryId: trajectory.id, pairId: pair.id, outcome, cluster, multiplier, tokens });
  }
  return shaped;
}

/** Regions that multiply something, the largest multiplier first. */
function regionsOf(trajectories: ReadonlyMap<string, Trajectory>, pairs: readonly PairRecord[]): Region[] {
  const sides = (pair: PairRecord) =>
    [
      ['failure', pair.lower, pair.lowerMatch],
      ['success', pair.higher, pair.higherMatch],
    ] as const;
  return pairs
    .flatMap((pair) =>
      sides(pair).flatMap(([outcome, decision, match]): Region[] => {
        const trajectory = trajectories.get(decision.trajectoryId);
        if (!match?.kept || match.multiplier === 1 || !trajectory) return [];
        return [{ pair, outcome, trajectory, match, turn: decision.turn, firstToken: decision.token }];
      }),
    )
    .sort((a, b) => b.match.multiplier - a.match.multiplier);
}

function placesOf({ turns }: Trajectory): TokenPlace[] {
  return turns.flatMap(({ tokens }, turn) => tokens.ids.map((_, token) => ({ turn, token })));
}

/** Draws without replacement, returned in order of place. */
function drawPlaces(places: readonly TokenPlace[], count: number, random: Random): TokenPlace[] {
  return random
    .shuffle(places)
    .slice(0, count)
    .sort((a, b) => a.turn - b.turn || a.token - b.token);
}

/** Multiplier of each shaped token of a trajectory, keyed `turn/token`. */
export function multipliersOf(shaped: readonly ShapedTokens[], trajectoryId: string): ReadonlyMap<string, number> {
  return new Map(
    shaped
      .filter((entry) => entry.trajectoryId === trajectoryId)
      .flatMap(({ tokens, multiplier }) => tokens.map(({ turn, token }) => [`${turn}/${token}`, multiplier] as const)),
  );
}
