import type { Random } from '../../core/random.ts';
import type { ForestPlan } from '../../models/own/forest.ts';
import type { PearlSettings } from '../settings.ts';
import type { TurnAdvantages } from '../shaping.ts';
import type { MistakePoint, PromptGroup } from '../types.ts';

/** What advantages are computed from. */
export interface AdvantageInput {
  readonly groups: readonly PromptGroup[];
  readonly settings: PearlSettings['advantage'];
  /** Only for optimisers with `judgesMistakes`: features of the wrong trajectories by id, and all wrong ones before them. */
  readonly features: ReadonlyMap<string, readonly number[]>;
  readonly mistakes: readonly MistakePoint[];
}

export interface AdvantageOutput {
  readonly advantages: TurnAdvantages;
  /** New entries of the MEDS-style memory. */
  readonly mistakes?: readonly MistakePoint[];
}

/**
 * What the five base optimisers differ in: how a prompt's trajectories come about, and what advantage each turn gets. Rollouts,
 * loss and optimiser step are the same for all.
 */
export interface BaseOptimiser {
  readonly id: string;
  /** Its rollouts branch, so PEARL can stand on it. */
  readonly branches: boolean;
  /** It needs a feature of every wrong trajectory. */
  readonly judgesMistakes: boolean;
  plan(settings: PearlSettings, random: Random): ForestPlan;
  advantages(input: AdvantageInput): AdvantageOutput;
}
