import { NacreError, type PlainError } from '../core/errors.ts';
import type { NacreDatabase, StoredRun } from '../storage/database.ts';
import { DexieJournal } from '../storage/dexie-journal.ts';
import type { AnyConfig } from './any-config.ts';
import type { ResultModel } from './result.ts';
import type { RunStatus, RunSummary } from './service.ts';

/** How far a run is: what changes while it works. */
export interface RunProgress {
  readonly status: RunStatus;
  readonly seconds: number;
  readonly longestTaskMs: number;
  readonly model?: ResultModel;
  readonly initialRate?: number;
  readonly bestRate?: number;
  readonly testInitial?: number;
  readonly testBest?: number;
  readonly error?: PlainError;
}

/** What is stored of a run beside its journal. */
export interface RunRecord extends RunProgress {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  readonly recorded: boolean;
  readonly kind: AnyConfig['kind'];
  readonly config: AnyConfig;
}

/** The runs kept in this browser. Takes the database while it opens, so that a failure is told to whoever asks. */
export class RunStore {
  constructor(private readonly opening: Promise<NacreDatabase>) {}

  async create(config: AnyConfig, recorded = false): Promise<RunRecord> {
    const createdAt = Date.now();
    const record: RunRecord = {
      id: newId(createdAt),
      name: config.name,
      kind: config.kind,
      config,
      createdAt,
      status: recorded ? 'finished' : 'new',
      seconds: 0,
      longestTaskMs: 0,
      recorded,
    };
    const database = await this.opening;
    await database.runs.put({ id: record.id, createdAt, record });
    return record;
  }

  /** @throws {NacreError} `run-unknown`. */
  async get(id: string): Promise<RunRecord> {
    return found(id, await (await this.opening).runs.get(id));
  }

  async update(id: string, change: Partial<RunProgress>): Promise<RunRecord> {
    const database = await this.opening;
    return database.transaction('rw', database.runs, async () => {
      const record: RunRecord = { ...found(id, await database.runs.get(id)), ...change };
      await database.runs.put({ id, createdAt: record.createdAt, record });
      return record;
    });
  }

  async clearError(id: string): Promise<void> {
    const database = await this.opening;
    await database.transaction('rw', database.runs, async () => {
      const { error: _, ...record } = found(id, await database.runs.get(id));
      await database.runs.put({ id, createdAt: record.createdAt, record });
    });
  }

  /** Newest first. */
  async list(): Promise<readonly RunSummary[]> {
    const stored = await (await this.opening).runs.orderBy('createdAt').reverse().toArray();
    return Promise.all(stored.map(async ({ record }) => this.summary(record as RunRecord, false)));
  }

  async summary(record: RunRecord, readOnly: boolean): Promise<RunSummary> {
    const { model: _model, longestTaskMs: _longest, ...shown } = record;
    return { ...shown, seed: record.config.seed, readOnly, bytes: await this.bytes(record.id) };
  }

  async journal(id: string): Promise<DexieJournal> {
    return DexieJournal.open(await this.opening, id);
  }

  /** Stores the units of an imported run. */
  async fill(id: string, units: Iterable<readonly [string, unknown]>): Promise<void> {
    const rows = Array.from(units, ([key, value]) => ({ runId: id, key, value, bytes: JSON.stringify(value)?.length ?? 0 }));
    await (await this.opening).journal.bulkPut(rows);
  }

  /** Deletes a run with its journal and says how many bytes that frees. */
  async delete(id: string): Promise<number> {
    await this.get(id);
    const freed = await this.bytes(id);
    const database = await this.opening;
    await database.transaction('rw', database.runs, database.journal, async () => {
      await database.journal.where('runId').equals(id).delete();
      await database.runs.delete(id);
    });
    return freed;
  }

  /** Read from the index alone: no unit is loaded. */
  private async bytes(id: string): Promise<number> {
    const database = await this.opening;
    const keys = await database.journal.where('[runId+bytes]').between([id, 0], [id, Number.POSITIVE_INFINITY], true, true).keys();
    return keys.reduce<number>((sum, key) => sum + (key as unknown as [string, number])[1], 0);
  }
}

function found(id: string, stored: StoredRun | undefined): RunRecord {
  if (stored) return stored.record as RunRecord;
  throw new NacreError(
    'run-unknown',
    `There is no run "${id}" in this browser.`,
    'It may have been deleted, or the link is from another browser: import its bundle.',
  );
}

function newId(createdAt: number): string {
  const [entropy = 0] = crypto.getRandomValues(new Uint32Array(1));
  return `${createdAt.toString(36)}-${entropy.toString(36)}`;
}
