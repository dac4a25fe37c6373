import { type Journal, unitMissing } from '../core/journal.ts';
import { type NacreDatabase, type StoredUnit, storageError } from './database.ts';

/** Units that finish within this time are written in one transaction. */
const FLUSH_MS = 40;

/**
 * The journal of one run in IndexedDB. All units are read once on opening, so that replay is quick; every new unit is
 * durable before `once` returns, and within FLUSH_MS for the members of a batch.
 */
export class DexieJournal implements Journal {
  private readonly units: Map<string, unknown>;
  private pending: StoredUnit[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private writing: Promise<void> = Promise.resolve();

  private constructor(
    private readonly database: NacreDatabase,
    private readonly runId: string,
    stored: readonly StoredUnit[],
  ) {
    this.units = new Map(stored.map((unit) => [unit.key, unit.value]));
  }

  static async open(database: NacreDatabase, runId: string): Promise<DexieJournal> {
    return new DexieJournal(database, runId, await database.journal.where('runId').equals(runId).toArray());
  }

  async once<T>(key: string, compute: () => Promise<T>): Promise<T> {
    if (this.units.has(key)) return structuredClone(this.units.get(key)) as T;
    const value = await compute();
    await this.put(key, value);
    return value;
  }

  async onceEach<T>(
    keys: readonly string[],
    compute: (missing: readonly string[], store: (key: string, value: T) => void) => Promise<void>,
  ): Promise<T[]> {
    const missing = keys.filter((key) => !this.units.has(key));
    if (missing.length > 0) {
      try {
        await compute(missing, (key, value) => this.enqueue(key, value));
      } finally {
        await this.flush();
      }
    }
    return keys.map((key) => {
      if (!this.units.has(key)) throw unitMissing(key);
      return structuredClone(this.units.get(key)) as T;
    });
  }

  async peek<T>(key: string): Promise<T | undefined> {
    return structuredClone(this.units.get(key)) as T | undefined;
  }

  async put<T>(key: string, value: T): Promise<void> {
    this.enqueue(key, value);
    await this.flush();
  }

  entries(): ReadonlyMap<string, unknown> {
    return this.units;
  }

  private enqueue(key: string, value: unknown): void {
    const copy: unknown = structuredClone(value);
    this.units.set(key, copy);
    this.pending.push({ runId: this.runId, key, value: copy, bytes: JSON.stringify(copy)?.length ?? 0 });
    this.timer ??= setTimeout(() => {
      // A failed background write is kept in `writing` and reported by the flush that every unit ends with.
      void this.flush().catch(() => undefined);
    }, FLUSH_MS);
  }

  private flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const batch = this.pending;
    this.pending = [];
    if (batch.length > 0) {
      this.writing = this.writing.then(async () => {
        try {
          await this.database.transaction('rw', this.database.journal, () => this.database.journal.bulkPut(batch));
        } catch (cause) {
          throw storageError(cause);
        }
      });
    }
    return this.writing;
  }
}
