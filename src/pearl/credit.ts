import type { Random } from '../core/random.ts';
import { bankEntries, EMPTY_BANKS } from './bank.ts';
import type { PatternMemory } from './clusters.ts';
import { comparePairs } from './divergence.ts';
import { decisionFeature, featureProbe, layerCurve, trajectoryFeature, trajectoryProbe } from './features.ts';
import { shareTurns } from './optimisers/group.ts';
import { baseOptimiser } from './optimisers/index.ts';
import { isWrong } from './optimisers/meds.ts';
import type { PearlPolicy } from './policy.ts';
import type { PearlSettings } from './settings.ts';
import { matchPairs, shapeTokens, type TurnAdvantages } from './shaping.ts';
import type { Banks, MistakePoint, PairRecord, PromptGroup, ShapedTokens, SkipReason } from './types.ts';

/** What one update's trajectories say about their tokens. */
export interface Credit {
  readonly advantages: TurnAdvantages;
  readonly pairs: readonly PairRecord[];
  readonly skipped: Readonly<Record<SkipReason, number>>;
  readonly added: Banks;
  readonly shaped: readonly ShapedTokens[];
  readonly mistakes?: readonly MistakePoint[];
}

export interface CreditInput {
  readonly update: number;
  readonly groups: readonly PromptGroup[];
  readonly settings: PearlSettings;
  /** Fitted before this update; undefined until the first fit, and for optimisers without PEARL. */
  readonly memory: PatternMemory | undefined;
  readonly mistakes: readonly MistakePoint[];
  readonly policy: Pick<PearlPolicy, 'probes'>;
  readonly random: Random;
}

/**
 * Base advantages, then PEARL's share: discordant pairs, their features under the weights that sampled them, their match with
 * the clusters fitted before, and the tokens that are multiplied. Reading features changes nothing in the policy, so without a
 * match the result is the base optimiser's to the bit. A base optimiser that branches has pairs too, but no banks.
 */
export async function assignCredit(input: CreditInput): Promise<Credit> {
  const { update, groups, settings, memory, policy, random } = input;
  const { sharedPrefix } = settings.advantage;
  const base = baseOptimiser(settings);
  const trajectories = groups.flatMap((group) => group.trajectories);
  const features = base.judgesMistakes ? await mistakeFeatures(policy, groups) : new Map<string, number[]>();
  const judged = base.advantages({ groups, settings: settings.advantage, features, mistakes: input.mistakes });
  const advantages = sharedPrefix === 'hard' ? shareTurns(trajectories, judged.advantages) : judged.advantages;

  const byId = new Map(trajectories.map((trajectory) => [trajectory.id, trajectory]));
  const { pairs, skipped } = comparePairs(trajectories);
  const { feature } = settings.memory;
  const probes = pairs.flatMap((pair) =>
    [pair.lower, pair.higher].map((side) => featureProbe(byId.get(side.trajectoryId)!.ids, side, feature)),
  );
  const read = await policy.probes(probes);
  const sides = pairs.map((_, i) => ({
    lower: decisionFeature(read[2 * i]!, feature),
    higher: decisionFeature(read[2 * i + 1]!, feature),
  }));
  const matches = matchPairs(memory, sides, settings.memory);
  const records = pairs.map(
    (pair, i): PairRecord => ({
      ...pair,
      lowerCurve: layerCurve(read[2 * i]!),
      higherCurve: layerCurve(read[2 * i + 1]!),
      ...matches[i],
    }),
  );
  const zipped = records.map((pair, i) => ({ pair, ...sides[i]! }));
  return {
    advantages,
    pairs: records,
    skipped,
    added: settings.optimiser === 'pearl' ? bankEntries(update, groups, zipped) : EMPTY_BANKS,
    shaped: shapeTokens(byId, records, advantages, settings.memory.location, random),
    ...(judged.mistakes ? { mistakes: judged.mistakes } : {}),
  };
}

async function mistakeFeatures(policy: Pick<PearlPolicy, 'probes'>, groups: readonly PromptGroup[]): Promise<Map<string, number[]>> {
  const wrong = groups.flatMap((group) => group.trajectories.filter(isWrong));
  const read = await policy.probes(wrong.map(trajectoryProbe));
  return new Map(wrong.map(({ id }, i) => [id, Array.from(trajectoryFeature(read[i]!))]));
}
