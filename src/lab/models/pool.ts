import type { RolloutModel } from '../../models/chat-rollouts.ts';
import type { OnTransfer } from '../../models/download.ts';
import { isModelLost } from '../../models/lost.ts';
import { isShipped } from '../../models/own/shipped.ts';
import { choiceKey, ENDPOINT, type ModelChoice } from '../config.ts';

/** Loads a model, or reaches it; its `close` frees everything. */
export type StartModel = (choice: ModelChoice, onTransfer: OnTransfer) => Promise<RolloutModel>;

interface Entry {
  readonly choice: ModelChoice;
  readonly model: Promise<RolloutModel>;
  readonly listeners: Set<OnTransfer>;
}

/**
 * The models that are loaded in this tab. A choice is loaded once and stays for the runs that follow; one that is lost is
 * forgotten, so that the next call loads it again; large ones that nobody uses make room for another.
 */
export class ModelPool {
  private readonly entries = new Map<string, Entry>();

  constructor(private readonly start: StartModel) {}

  /**
   * @param used choices that must stay loaded whatever else is wanted
   * @throws what loading throws; a model that failed to load is not remembered
   */
  async connect(choice: ModelChoice, used: readonly ModelChoice[], onTransfer?: OnTransfer): Promise<RolloutModel> {
    const key = choiceKey(choice);
    const entry = this.entries.get(key) ?? this.open(key, choice, used);
    if (onTransfer) entry.listeners.add(onTransfer);
    try {
      return await entry.model;
    } finally {
      if (onTransfer) entry.listeners.delete(onTransfer);
    }
  }

  /** Choices that are loaded or being loaded. */
  loaded(): readonly ModelChoice[] {
    return [...this.entries.values()].map(({ choice }) => choice);
  }

  /** Closes the models that `doomed` picks. */
  async unload(doomed: (choice: ModelChoice) => boolean): Promise<void> {
    for (const [key, entry] of [...this.entries]) if (doomed(entry.choice)) await this.drop(key, entry);
  }

  private open(key: string, choice: ModelChoice, used: readonly ModelChoice[]): Entry {
    const listeners = new Set<OnTransfer>();
    const keep = new Set([key, ...used.map(choiceKey)]);
    const room = isLarge(choice) ? this.unload((other) => isLarge(other) && !keep.has(choiceKey(other))) : Promise.resolve();
    const model = room.then(async () => {
      const started = await this.start(choice, (progress) => {
        for (const listener of listeners) listener(progress);
      });
      return this.guard(started, key);
    });
    const entry = { choice, model, listeners };
    this.entries.set(key, entry);
    // The caller gets the reason; the next one shall try again.
    model.catch(() => this.forget(key, entry));
    return entry;
  }

  /** The model, forgotten as soon as it proves to be lost. */
  private guard(model: RolloutModel, key: string): RolloutModel {
    const watch = async <T>(work: Promise<T>): Promise<T> => {
      try {
        return await work;
      } catch (thrown) {
        const entry = this.entries.get(key);
        // Nothing of a lost model can be closed in order; its thread is ended all the same.
        if (entry && isModelLost(thrown)) await this.drop(key, entry).catch(() => undefined);
        throw thrown;
      }
    };
    return {
      info: model.info,
      generate: (messages, options) => watch(model.generate(messages, options)),
      rollouts: (jobs, options) => watch(model.rollouts(jobs, options)),
      close: () => model.close(),
    };
  }

  private async drop(key: string, entry: Entry): Promise<void> {
    this.forget(key, entry);
    const [outcome] = await Promise.allSettled([entry.model]);
    // One that failed to load holds nothing.
    if (outcome.status === 'fulfilled') await outcome.value.close();
  }

  private forget(key: string, entry: Entry): void {
    if (this.entries.get(key) === entry) this.entries.delete(key);
  }
}

/** Whether a model takes enough memory that idle ones should make room. */
function isLarge({ model }: ModelChoice): boolean {
  return model !== ENDPOINT && !isShipped(model);
}
