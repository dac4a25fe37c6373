import type { Journal } from '../core/journal.ts';
import { Random } from '../core/random.ts';
import type { Episode, Split, Task } from '../core/types.ts';
import type { PearlPolicy } from './policy.ts';
import type { PearlSettings } from './settings.ts';
import type { PearlEvent, PearlPhase } from './types.ts';

export interface PearlRun {
  readonly settings: PearlSettings;
  readonly seed: number;
  readonly tasks: Readonly<Record<Split, readonly Task[]>>;
  open(task: Task, seed: number): Episode;
  /** The suite's limit; the settings may lower it. */
  readonly maxTurns: number;
  /** System text of every rollout. */
  readonly context: string;
  /** Connects the policy, trainable and with the weights to start from; called once, when the journal lacks something. */
  readonly connect: () => Promise<PearlPolicy>;
  readonly journal: Journal;
  /** Keep every trajectory in the journal, to be shown and exported. Without them an update that resumes is played again. */
  readonly keepRollouts: boolean;
  readonly emit: (event: PearlEvent) => void;
  /** Leaves at once; the journal keeps every finished unit. */
  readonly signal: AbortSignal;
  /** Pause and early finish, asked before each update. */
  readonly control: { checkpoint(signal: AbortSignal): Promise<'continue' | 'finish'> };
}

/** Most turns of a rollout. */
export function turnLimit({ settings, maxTurns }: PearlRun): number {
  return settings.rollouts.maxTurns === 0 ? maxTurns : Math.min(maxTurns, settings.rollouts.maxTurns);
}

/** Everything random in an update; the same for every optimiser, so that runs differ by what they learn alone. */
export function streamOf({ seed }: PearlRun, update: number): Random {
  return new Random(seed, 'pearl').split(update);
}

/** Keys of a run's units in its journal. */
export function updateKey(update: number): string {
  return `update ${update}`;
}

export function forestKey(update: number, task: Task): string {
  return `update ${update}/forest/${task.id}`;
}

export function secondsKey(update: number): string {
  return `update ${update}/rollout-seconds`;
}

export function phase(update: number, name: PearlPhase, label: string, done: number, total: number): PearlEvent {
  return { type: 'pearl-phase', update, phase: name, label, done, total };
}
