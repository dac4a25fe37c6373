import { NacreError } from './errors.ts';

/**
 * A run is a list of units. `once` returns the stored result of `key`, or computes it, stores it in one transaction and
 * returns it. A run that is opened again replays stored units and goes on at the first missing one.
 */
export interface Journal {
  once<T>(key: string, compute: () => Promise<T>): Promise<T>;
  /**
   * Many units computed together (a batch of rollouts): stored ones are returned, `compute` gets the missing keys and hands
   * each result to `store` as soon as it is finished, so that an interrupted batch keeps what was done. Order as `keys`.
   * @throws {NacreError} `unit-missing` when `compute` returns without having stored every missing key.
   */
  onceEach<T>(
    keys: readonly string[],
    compute: (missing: readonly string[], store: (key: string, value: T) => void) => Promise<void>,
  ): Promise<T[]>;
  /** The stored unit, or undefined; never computes. */
  peek<T>(key: string): Promise<T | undefined>;
  /** Stores or replaces state that is not a unit of work, such as the run's status. */
  put<T>(key: string, value: T): Promise<void>;
}

/** A journal that lives as long as the page: for tests and for work that need not survive. */
export class MemoryJournal implements Journal {
  private readonly units = new Map<string, unknown>();

  async once<T>(key: string, compute: () => Promise<T>): Promise<T> {
    if (this.units.has(key)) return structuredClone(this.units.get(key)) as T;
    const value = await compute();
    this.units.set(key, structuredClone(value));
    return value;
  }

  async onceEach<T>(
    keys: readonly string[],
    compute: (missing: readonly string[], store: (key: string, value: T) => void) => Promise<void>,
  ): Promise<T[]> {
    const missing = keys.filter((key) => !this.units.has(key));
    if (missing.length > 0) await compute(missing, (key, value) => this.units.set(key, structuredClone(value)));
    return keys.map((key) => {
      if (!this.units.has(key)) throw unitMissing(key);
      return structuredClone(this.units.get(key)) as T;
    });
  }

  async peek<T>(key: string): Promise<T | undefined> {
    return structuredClone(this.units.get(key)) as T | undefined;
  }

  async put<T>(key: string, value: T): Promise<void> {
    this.units.set(key, structuredClone(value));
  }

  keys(): string[] {
    return [...this.units.keys()];
  }
}

/** The error of a batch that ended without one of its units. */
export function unitMissing(key: string): NacreError {
  return new NacreError('unit-missing', `The unit "${key}" was not computed.`, 'Resume the run: finished units are kept.');
}
