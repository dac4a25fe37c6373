import type { Rollout, Turn } from '../../core/types.ts';

/** Token positions [start, end) of a trajectory. */
export interface TokenSpan {
  readonly start: number;
  readonly end: number;
}

/** A turn with what learning from it needs. */
export interface TrajectoryTurn extends Turn {
  readonly tokens: NonNullable<Turn['tokens']>;
  /** Vocabulary text of each sampled token. */
  readonly pieces: readonly string[];
  /** Where the action's tokens, its end token included, stand in `ids`. */
  readonly span: TokenSpan;
  /** Mean entropy of the turn's first tokens over the probed likeliest ones, divided by ln(vocabulary): in [0, 1]. */
  readonly probe: number;
}

/**
 * A rollout with every token the model read or sampled, so that it can be trained on. A branch repeats its parent's tokens up
 * to the beginning of turn `branchTurn`; both fields of its origin are absent on a trajectory that starts at the beginning.
 */
export interface Trajectory extends Omit<Rollout, 'turns'> {
  readonly turns: readonly TrajectoryTurn[];
  /** All token ids in order, the shared context first. The text after the last action is not part of it. */
  readonly ids: readonly number[];
}
