/**
 * A run is a list of units. `once` returns the stored result of `key`, or computes it, stores it in one transaction and
 * returns it. A run that is opened again replays stored units and goes on at the first missing one.
 */
export interface Journal {
  once<T>(key: string, compute: () => Promise<T>): Promise<T>;
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
