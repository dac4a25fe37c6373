import type { Random } from '../core/random.ts';
import type { TrainBatch } from '../transformer/train-batch.ts';
import type { PearlSettings } from './settings.ts';
import { multipliersOf, type TurnAdvantages } from './shaping.ts';
import type { ShapedTokens, Trajectory } from './types.ts';

/** What one update learns from. */
export interface Lesson {
  readonly trajectories: readonly Trajectory[];
  readonly advantages: TurnAdvantages;
  readonly shaped: readonly ShapedTokens[];
}

/** Ã of every sampled token of a trajectory, by turn (eq. 6). */
export function tokenAdvantages(trajectory: Trajectory, { advantages, shaped }: Omit<Lesson, 'trajectories'>): number[][] {
  const multipliers = multipliersOf(shaped, trajectory.id);
  return trajectory.turns.map(({ tokens }, turn) => {
    const advantage = advantages[trajectory.id]?.[turn] ?? 0;
    return tokens.ids.map((_, token) => advantage * (multipliers.get(`${turn}/${token}`) ?? 1));
  });
}

/**
 * A batch for the clipped surrogate of eq. 7, whose row weights make the sum of the rows' losses the mean asked for: over each
 * trajectory's sampled tokens and then over trajectories, or over all sampled tokens. Tokens without advantage count in the
 * means, but trajectories that have none are left out of the work. Undefined when nothing has an advantage.
 */
export function trainingBatch(lesson: Lesson, { aggregation, clip }: PearlSettings['loss']): TrainBatch | undefined {
  const { trajectories } = lesson;
  const sampled = (trajectory: Trajectory): number => trajectory.turns.reduce((sum, { tokens }) => sum + tokens.ids.length, 0);
  const allTokens = trajectories.reduce((sum, trajectory) => sum + sampled(trajectory), 0);
  const weightOf = (trajectory: Trajectory): number =>
    aggregation === 'token' ? 1 / allTokens : 1 / (trajectories.length * sampled(trajectory));
  const taught = trajectories.filter(({ id }) => lesson.advantages[id]?.some((advantage) => advantage !== 0));
  if (taught.length === 0) return undefined;

  const shared = sharedStart(taught);
  const rows = taught.reduce((sum, { ids }) => sum + ids.length - 1 - shared, 0);
  const tokens = new Uint32Array(rows);
  const targets = new Uint32Array(rows);
  const weights = new Float32Array(rows);
  const advantages = new Float32Array(rows);
  const multipliers = new Float32Array(rows).fill(1);
  const behaviour = new Float32Array(rows);
  const starts: number[] = [];
  let at = 0;
  for (const trajectory of taught) {
    const { ids, turns } = trajectory;
    starts.push(at);
    for (let i = shared; i < ids.length - 1; i++) {
      tokens[at + i - shared] = ids[i]!;
      targets[at + i - shared] = ids[i + 1]!;
    }
    const weight = weightOf(trajectory);
    const shaped = multipliersOf(lesson.shaped, trajectory.id);
    turns.forEach(({ span, tokens: { logprobs } }, turn) => {
      const advantage = lesson.advantages[trajectory.id]![turn]!;
      if (advantage === 0) return;
      logprobs.forEach((logprob, token) => {
        const row = at + span.start + token - 1 - shared;
        weights[row] = weight;
        advantages[row] = advantage;
        multipliers[row] = shaped.get(`${turn}/${token}`) ?? 1;
        behaviour[row] = logprob;
      });
    });
    at += ids.length - 1 - shared;
  }
  const prefix = Uint32Array.from(taught[0]!.ids.slice(0, shared));
  const policy = { advantages, multipliers, behaviour, clip };
  return { ...(shared > 0 ? { prefix } : {}), tokens, targets, weights, sequenceStarts: Uint32Array.from(starts), policy };
}

/** Tokens that all begin with, so that a shared context is read once; never so many that a sampled token would stand first. */
function sharedStart(trajectories: readonly Trajectory[]): number {
  const first = trajectories[0]!.ids;
  const most = Math.min(...trajectories.map(({ turns }) => (turns[0]?.span.start ?? 1) - 1));
  let shared = 0;
  while (shared < most && trajectories.every(({ ids }) => ids[shared] === first[shared])) shared++;
  return shared;
}

/** The trajectories of each optimiser step of an epoch. One minibatch keeps their order. */
export function minibatches(trajectories: readonly Trajectory[], count: number, random: Random): Trajectory[][] {
  if (count === 1) return [[...trajectories]];
  const order = random.shuffle(trajectories);
  const size = Math.ceil(order.length / count);
  return Array.from({ length: Math.ceil(order.length / size) }, (_, i) => order.slice(i * size, (i + 1) * size));
}
