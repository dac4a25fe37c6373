import { NacreError, type PlainError } from '../core/errors.ts';
import type { NacreDatabase } from '../storage/database.ts';
import { DexieJournal } from '../storage/dexie-journal.ts';
import type { ExperimentConfig } from './config.ts';
import type { ResultModel } from './result.ts';
import type { RunStatus, RunSummary } from './service.ts';

/** What is stored of a run beside its journal. */
export interface RunRecord {
  readonly id: string;
  readonly name: string;
  readonly kind: 'textual';
  readonly config: ExperimentConfig;
  readonly createdAt: number;
  readonly status: RunStatus;
  readonly seconds: number;
  readonly longestTaskMs: number;
  readonly recorded: boolean;
  readonly model?: ResultModel;
  readonly initialRate?: number;
  readonly bestRate?: number;
  readonly testInitial?: number;
  readonly testBest?: number;
  readonly error?: PlainError;
}

/** The runs kept in this browser. */
export class RunStore {
  constructor(private readonly database: NacreDatabase) {}

  async create(config: ExperimentConfig, recorded = false): Promise<RunRecord> {
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
    await this.database.runs.put({ id: record.id, createdAt, record });
    return record;
  }

  /** @throws {NacreError} `run-unknown`. */
  async get(id: string): Promise<RunRecord> {
    const stored = await this.database.runs.get(id);
    if (!stored)
      throw new NacreError(
        'run-unknown',
        `There is no run "${id}" in this browser.`,
        'It may have been deleted, or the link is from another browser: import its bundle.',
      );
    return stored.record as RunRecord;
  }

  async update(id: string, change: Partial<RunRecord>): Promise<RunRecord> {
    return this.database.transaction('rw', this.database.runs, async () => {
      const record: RunRecord = { ...(await this.get(id)), ...change };
      await this.database.runs.put({ id, createdAt: record.createdAt, record });
      return record;
    });
  }

  async clearError(id: string): Promise<void> {
    await this.database.transaction('rw', this.database.runs, async () => {
      const { error: _, ...record } = await this.get(id);
      await this.database.runs.put({ id, createdAt: record.createdAt, record });
    });
  }

  /** Newest first. */
  async list(): Promise<readonly RunSummary[]> {
    const stored = await this.database.runs.orderBy('createdAt').reverse().toArray();
    return Promise.all(stored.map(async ({ record }) => this.summary(record as RunRecord, false)));
  }

  async summary(record: RunRecord, readOnly: boolean): Promise<RunSummary> {
    const { model: _model, longestTaskMs: _longest, ...shown } = record;
    return { ...shown, seed: record.config.seed, readOnly, bytes: await this.bytes(record.id) };
  }

  journal(id: string): Promise<DexieJournal> {
    return DexieJournal.open(this.database, id);
  }

  /** Stores the units of an imported run. */
  async fill(id: string, units: Iterable<readonly [string, unknown]>): Promise<void> {
    const rows = Array.from(units, ([key, value]) => ({ runId: id, key, value, bytes: JSON.stringify(value)?.length ?? 0 }));
    await this.database.journal.bulkPut(rows);
  }

  /** Deletes a run with its journal and says how many bytes that frees. */
  async delete(id: string): Promise<number> {
    await this.get(id);
    const freed = await this.bytes(id);
    await this.database.transaction('rw', this.database.runs, this.database.journal, async () => {
      await this.database.journal.where('runId').equals(id).delete();
      await this.database.runs.delete(id);
    });
    return freed;
  }

  /** Read from the index alone: no unit is loaded. */
  private async bytes(id: string): Promise<number> {
    const keys = await this.database.journal.where('[runId+bytes]').between([id, 0], [id, Number.POSITIVE_INFINITY], true, true).keys();
    return keys.reduce<number>((sum, key) => sum + (key as unknown as [string, number])[1], 0);
  }
}

function newId(createdAt: number): string {
  const [entropy = 0] = crypto.getRandomValues(new Uint32Array(1));
  return `${createdAt.toString(36)}-${entropy.toString(36)}`;
}
