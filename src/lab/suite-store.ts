import { NacreError } from '../core/errors.ts';
import { SPLITS, type Split } from '../core/types.ts';
import type { NacreDatabase, StoredSuite } from '../storage/database.ts';
import { storageError } from '../storage/database.ts';
import { checkSuite, formatSuiteFile, type ImportedSuite, suiteHash } from '../suites/import/suite-file.ts';
import type { ExportedFile, SuiteSummary } from './service.ts';

/** The suites that a user imported into this browser. */
export class SuiteStore {
  constructor(private readonly opening: Promise<NacreDatabase>) {}

  /**
   * Stores a suite under its id.
   * @throws {NacreError} `suite-invalid` naming the wrong fields, `suite-exists` when another one has this id, `storage-full`
   */
  async put(value: unknown, replace: boolean): Promise<SuiteSummary> {
    const suite = checkSuite('The suite', value);
    const database = await this.opening;
    const before = await database.suites.get(suite.id);
    const hash = suiteHash(suite);
    if (before && !replace && before.hash !== hash) {
      throw new NacreError(
        'suite-exists',
        `There is another suite "${suite.id}" ("${before.title}") in this browser.`,
        'Give the new one another id, or replace the old one: runs already made keep their own tasks.',
      );
    }
    const createdAt = before?.createdAt ?? Date.now();
    const stored: StoredSuite = { id: suite.id, title: suite.title, createdAt, bytes: JSON.stringify(suite).length, hash, suite };
    try {
      await database.suites.put(stored);
    } catch (cause) {
      throw storageError(cause);
    }
    return summaryOf(stored);
  }

  async find(id: string): Promise<ImportedSuite | undefined> {
    return (await (await this.opening).suites.get(id))?.suite as ImportedSuite | undefined;
  }

  /** Newest first. */
  async list(): Promise<readonly SuiteSummary[]> {
    return (await (await this.opening).suites.orderBy('createdAt').reverse().toArray()).map(summaryOf);
  }

  /** @throws {NacreError} `suite-missing`. */
  async delete(id: string): Promise<number> {
    const database = await this.opening;
    const { bytes } = await this.get(id);
    await database.suites.delete(id);
    return bytes;
  }

  /** The suite as a file that can be imported elsewhere. @throws {NacreError} `suite-missing`. */
  async export(id: string): Promise<ExportedFile> {
    const { suite } = await this.get(id);
    const text = formatSuiteFile(suite as ImportedSuite);
    return { name: `${id}.suite.json`, mime: 'application/json', bytes: new TextEncoder().encode(text) };
  }

  private async get(id: string): Promise<StoredSuite> {
    const stored = await (await this.opening).suites.get(id);
    if (!stored) throw new NacreError('suite-missing', `There is no imported suite "${id}".`, 'It may have been deleted in another tab.');
    return stored;
  }
}

function summaryOf({ id, title, createdAt, bytes, hash, suite }: StoredSuite): SuiteSummary {
  const { tasks, scorer, origin } = suite as ImportedSuite;
  const counts: Record<Split, number> = { train: 0, val: 0, test: 0, unseen: 0 };
  for (const { split } of tasks) counts[split]++;
  return {
    id,
    title,
    createdAt,
    bytes,
    hash,
    counts: Object.fromEntries(SPLITS.map((split) => [split, counts[split]])) as Record<Split, number>,
    scorer: scorer.kind,
    ...(origin.note === undefined ? {} : { note: origin.note }),
  };
}
