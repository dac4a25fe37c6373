import * as v from 'valibot';
import { NO_USAGE } from '../../../src/core/ledger.ts';
import type { Task } from '../../../src/core/types.ts';
import type { Trajectory, TrajectoryTurn } from '../../../src/models/own/trajectory.ts';
import { PearlSettings } from '../../../src/pearl/settings.ts';
import type { BankPoint, Outcome, PairRecord } from '../../../src/pearl/types.ts';

/** The id that ends every action. */
export const END = 9;

export interface TurnSpec {
  /** Ids of the observation and of the action; the action's end token is added unless `open`. */
  readonly see: readonly number[];
  readonly act: readonly number[];
  readonly open?: boolean;
  readonly observation?: string;
  readonly reward?: number;
  readonly logprob?: number;
}

/** A trajectory from the ids of its turns, behind a context of one token 0. */
export function trajectory(id: string, reward: number, turns: readonly TurnSpec[], changes: Partial<Trajectory> = {}): Trajectory {
  const ids = [0];
  const built = turns.map((turn, t): TrajectoryTurn => {
    ids.push(...turn.see);
    const start = ids.length;
    const sampled = turn.open ? [...turn.act] : [...turn.act, END];
    ids.push(...sampled);
    return {
      observation: turn.observation ?? `see ${turn.see.join(' ')}`,
      action: `act ${turn.act.join(' ')}`,
      reward: turn.reward ?? (t === turns.length - 1 ? reward : 0),
      tokens: { ids: sampled, logprobs: sampled.map(() => turn.logprob ?? -0.5), entropies: sampled.map(() => 0.1) },
      pieces: sampled.map((token) => `<${token}>`),
      span: { start, end: ids.length },
      probe: 0.1,
    };
  });
  return {
    id,
    taskId: 'task',
    index: 0,
    contextHash: '',
    turns: built,
    ids,
    finalObservation: 'the end',
    answer: '',
    reward,
    success: reward === 1,
    finish: 'done',
    usage: NO_USAGE,
    seed: 0,
    ...changes,
  };
}

export function task(id = 'task'): Task {
  return { id, split: 'train', type: 'toy', input: `do ${id}`, data: null };
}

export function settings(changes: object = {}): PearlSettings {
  return v.parse(PearlSettings, changes);
}

export function bankPoint(id: string, feature: readonly number[], changes: Partial<BankPoint> = {}): BankPoint {
  return {
    id,
    outcome: 'failure',
    update: 1,
    taskId: 'task',
    trajectoryId: id,
    pairId: 'p',
    turn: 0,
    token: 0,
    tokenText: '',
    feature,
    taskInput: '',
    observation: '',
    action: 'go there',
    reply: '',
    finish: 'done',
    reward: 0,
    ...changes,
  };
}

/** `count` points close around a direction, each a little off so that no two are equal. */
export function bunch(
  name: string,
  direction: readonly number[],
  count: number,
  outcome: Outcome = 'failure',
  spread = 0.001,
): BankPoint[] {
  return Array.from({ length: count }, (_, i) => {
    const off = direction.map((x, c) => x + spread * Math.sin(1 + 7 * i + 3 * c));
    const length = Math.hypot(...off);
    return bankPoint(
      `${name}${i}`,
      off.map((x) => x / length),
      { outcome },
    );
  });
}

/** A pair of two trajectories that differ at one token, with matches as wanted. */
export function pair(changes: Partial<PairRecord> & Pick<PairRecord, 'lower' | 'higher'>): PairRecord {
  const curve = { raw: [], normed: [] };
  return {
    id: 'pair',
    taskId: 'task',
    parentId: changes.lower.trajectoryId,
    branchId: changes.higher.trajectoryId,
    branchTurn: 0,
    sharedTokens: 0,
    lowerCurve: curve,
    higherCurve: curve,
    ...changes,
  };
}
