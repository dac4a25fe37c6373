import type { Journal } from '../core/journal.ts';

/** Part of a journal under a prefix, for runs that are made of runs. */
export class ScopedJournal implements Journal {
  private readonly journal: Journal;
  private readonly prefix: string;

  constructor(journal: Journal, prefix: string) {
    this.journal = journal;
    this.prefix = `${prefix}/`;
  }

  once<T>(key: string, compute: () => Promise<T>): Promise<T> {
    return this.journal.once(this.prefix + key, compute);
  }

  onceEach<T>(
    keys: readonly string[],
    compute: (missing: readonly string[], store: (key: string, value: T) => void) => Promise<void>,
  ): Promise<T[]> {
    const { length } = this.prefix;
    return this.journal.onceEach<T>(
      keys.map((key) => this.prefix + key),
      (missing, store) =>
        compute(
          missing.map((key) => key.slice(length)),
          (key, value) => store(this.prefix + key, value),
        ),
    );
  }

  peek<T>(key: string): Promise<T | undefined> {
    return this.journal.peek(this.prefix + key);
  }

  put<T>(key: string, value: T): Promise<void> {
    return this.journal.put(this.prefix + key, value);
  }
}
