import { appendFileSync, existsSync, readFileSync, truncateSync } from 'node:fs';
import { NacreError } from '../../src/core/errors.ts';
import { type Journal, unitMissing } from '../../src/core/journal.ts';

const NEWLINE = 10;

/**
 * A run's journal as one file, a unit a line. Lines are appended, so a run killed at any moment loses at most the line it
 * was writing; that torn last line is cut off when the file is opened again.
 */
export class FileJournal implements Journal {
  private readonly units = new Map<string, unknown>();

  /**
   * @param problem what is wrong with a unit, or undefined
   * @throws {NacreError} `journal-invalid` naming the line that cannot be read (a torn last line is not an error).
   */
  constructor(
    private readonly path: string,
    problem: (key: string, value: unknown) => string | undefined = () => undefined,
  ) {
    if (!existsSync(path)) return;
    const bytes = readFileSync(path);
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    if (end < bytes.length) truncateSync(path, end);
    for (let from = 0, line = 1; from < end; line++) {
      const to = bytes.indexOf(NEWLINE, from);
      if (to > from) {
        const { key, value } = parseLine(bytes.subarray(from, to), path, line);
        const wrong = problem(key, value);
        if (wrong !== undefined) throw broken(path, line, `the unit "${key}" is damaged (${wrong})`);
        this.units.set(key, value);
      }
      from = to + 1;
    }
  }

  async once<T>(key: string, compute: () => Promise<T>): Promise<T> {
    if (!this.units.has(key)) await this.put(key, await compute());
    return structuredClone(this.units.get(key)) as T;
  }

  async onceEach<T>(
    keys: readonly string[],
    compute: (missing: readonly string[], store: (key: string, value: T) => void) => Promise<void>,
  ): Promise<T[]> {
    const missing = keys.filter((key) => !this.units.has(key));
    if (missing.length > 0) await compute(missing, (key, value) => this.append(key, value));
    return keys.map((key) => {
      if (!this.units.has(key)) throw unitMissing(key);
      return structuredClone(this.units.get(key)) as T;
    });
  }

  async peek<T>(key: string): Promise<T | undefined> {
    return structuredClone(this.units.get(key)) as T | undefined;
  }

  async put<T>(key: string, value: T): Promise<void> {
    this.append(key, value);
  }

  entries(): ReadonlyMap<string, unknown> {
    return this.units;
  }

  private append(key: string, value: unknown): void {
    appendFileSync(this.path, `${JSON.stringify({ key, value })}\n`);
    this.units.set(key, structuredClone(value));
  }
}

function parseLine(line: Uint8Array, path: string, number: number): { key: string; value: unknown } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(line));
  } catch (cause) {
    throw broken(path, number, cause instanceof Error ? cause.message : String(cause));
  }
  if (typeof parsed !== 'object' || parsed === null || !('key' in parsed) || typeof parsed.key !== 'string' || !('value' in parsed)) {
    throw broken(path, number, 'it is not {"key", "value"}');
  }
  return { key: parsed.key, value: parsed.value };
}

function broken(path: string, line: number, why: string): NacreError {
  return new NacreError(
    'journal-invalid',
    `${path}, line ${line} cannot be read: ${why}.`,
    'Delete that line (its unit is computed again), or start with an empty folder.',
  );
}
