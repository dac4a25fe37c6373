import type { Journal } from '../core/journal.ts';
import type { ParallelTrainer, TrainerState } from '../transformer/parallel.ts';
import { packFloats, unpackFloats } from './floats.ts';
import { type PearlPolicy, SHARDS } from './policy.ts';

/** Weights and optimiser after an update, as the journal keeps them under `WEIGHTS_KEY`. */
export interface StoredWeights {
  readonly update: number;
  readonly optimiserStep: number;
  readonly parameters: string;
  readonly m: string;
  readonly v: string;
}

export const WEIGHTS_KEY = 'weights';

/**
 * The policy of a run with its weights brought to where the journal stands. Connected when something is missing in the
 * journal, so that showing a finished run needs no model.
 */
export class Learner {
  private readonly journal: Journal;
  private readonly connect: () => Promise<PearlPolicy>;
  /** Computes again what one stored update did to the weights. */
  private readonly relearn: (update: number, trainer: ParallelTrainer) => Promise<void>;
  private opened: { readonly policy: PearlPolicy; readonly trainer: ParallelTrainer; at: number } | undefined;

  constructor(journal: Journal, connect: () => Promise<PearlPolicy>, relearn: Learner['relearn']) {
    this.journal = journal;
    this.connect = connect;
    this.relearn = relearn;
  }

  /** The policy with the weights it had after `update`. @throws {NacreError} `bad-parameter-count` when the journal is another model's. */
  async at(update: number): Promise<{ readonly policy: PearlPolicy; readonly trainer: ParallelTrainer }> {
    this.opened ??= await this.open();
    while (this.opened.at < update) {
      await this.relearn(this.opened.at + 1, this.opened.trainer);
      this.opened.at++;
    }
    return this.opened;
  }

  /** Says that the trainer has taken the steps of `update`, which is stored. */
  async learned(update: number, keep: boolean): Promise<void> {
    if (!this.opened) return;
    this.opened.at = update;
    if (keep) await this.store();
  }

  /** Stores the present weights. */
  async store(): Promise<void> {
    if (!this.opened) return;
    const { trainer, at: update } = this.opened;
    await this.journal.put<StoredWeights>(WEIGHTS_KEY, packState(update, await trainer.state()));
  }

  private async open(): Promise<NonNullable<Learner['opened']>> {
    const policy = await this.connect();
    const trainer = policy.trainer(SHARDS);
    const stored = await this.journal.peek<StoredWeights>(WEIGHTS_KEY);
    if (stored) await trainer.load(unpackState(stored));
    else await this.journal.put<StoredWeights>(WEIGHTS_KEY, packState(0, await trainer.state()));
    return { policy, trainer, at: stored?.update ?? 0 };
  }
}

export function packState(update: number, { parameters, optimiser }: TrainerState): StoredWeights {
  return {
    update,
    optimiserStep: optimiser.step,
    parameters: packFloats(parameters),
    m: packFloats(optimiser.m),
    v: packFloats(optimiser.v),
  };
}

/** @throws {NacreError} `bad-floats` */
export function unpackState({ optimiserStep, parameters, m, v }: StoredWeights): TrainerState {
  return {
    parameters: unpackFloats(parameters, 'Stored weights'),
    optimiser: { step: optimiserStep, m: unpackFloats(m, 'Stored optimiser (m)'), v: unpackFloats(v, 'Stored optimiser (v)') },
  };
}
