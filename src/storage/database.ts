import { Dexie, type EntityTable, type Table } from 'dexie';
import { NacreError } from '../core/errors.ts';

/** A run as stored. `record` is the lab's business; the fields beside it are what lists need without reading the journal. */
export interface StoredRun {
  readonly id: string;
  readonly createdAt: number;
  readonly record: unknown;
}

/** One finished unit of a run's journal, or a piece of its state. */
export interface StoredUnit {
  readonly runId: string;
  readonly key: string;
  readonly value: unknown;
  /** Approximate size as JSON, so that deleting can say what it frees. */
  readonly bytes: number;
}

/** A suite that a user imported. `suite` is the suites' business; the fields beside it are what lists need. */
export interface StoredSuite {
  readonly id: string;
  readonly title: string;
  readonly createdAt: number;
  /** Approximate size as JSON. */
  readonly bytes: number;
  /** Identity of its content. */
  readonly hash: string;
  readonly suite: unknown;
}

export interface StoredSetting {
  readonly key: string;
  readonly value: unknown;
}

/** The browser database. Version numbers only grow; a newer database than the code is refused with a clear error. */
export class NacreDatabase extends Dexie {
  declare runs: EntityTable<StoredRun, 'id'>;
  declare journal: Table<StoredUnit, [string, string]>;
  declare settings: EntityTable<StoredSetting, 'key'>;
  declare suites: EntityTable<StoredSuite, 'id'>;

  constructor(name = 'nacre') {
    super(name, { cache: 'disabled' });
    this.version(1).stores({ runs: 'id, createdAt', journal: '[runId+key], runId, [runId+bytes]', settings: 'key' });
    this.version(2).stores({ suites: 'id, createdAt' });
  }
}

/** Opens the database. @throws {NacreError} `storage-unavailable` | `storage-newer` with the remedy. */
export async function openDatabase(name?: string): Promise<NacreDatabase> {
  const database = new NacreDatabase(name);
  try {
    await database.open();
  } catch (cause) {
    if (cause instanceof Error && cause.name === 'VersionError') {
      throw new NacreError(
        'storage-newer',
        'The stored data was written by a newer Nacre than this page.',
        'Reload without the cache (Ctrl-Shift-R), and close other tabs of Nacre.',
        { cause },
      );
    }
    throw storageError(cause);
  }
  return database;
}

/** A storage failure as an error with its remedy. */
export function storageError(cause: unknown): NacreError {
  const name = cause instanceof Error ? cause.name : '';
  const text = cause instanceof Error ? cause.message : String(cause);
  if (name === 'QuotaExceededError' || /quota/i.test(text)) {
    return new NacreError(
      'storage-full',
      'The browser has no room left for this run.',
      'Delete old runs on the home page, then resume: what was finished is kept.',
      {
        cause,
      },
    );
  }
  return new NacreError(
    'storage-unavailable',
    `The browser's storage could not be used: ${text}`,
    'Leave private browsing or allow site data for this page, then reload.',
    { cause },
  );
}
