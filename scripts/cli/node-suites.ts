import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Suite } from '../../src/core/types.ts';
import type { SuiteShelf } from '../../src/lab/suites.ts';
import { type ImportedSuite, parseSuiteFile } from '../../src/suites/import/suite-file.ts';
import { decodeText } from '../../src/suites/import/table.ts';
import { readSuiteData } from '../../src/suites/qa/read.ts';
import { createSuite, openImportedSuite, SUITE_IDS } from '../../src/suites/registry.ts';
import type { SupervisedSandbox } from '../../src/suites/sandbox/supervised.ts';
import { parseJson } from '../../src/transformer/json.ts';
import { nodeSandbox } from '../node-sandbox.ts';
import { readUserFile, userPath } from './node-files.ts';

export interface OpenedSuite {
  readonly suite: Suite;
  /** Ends the sandbox, where one was started. */
  close(): Promise<void>;
}

/** Whether `--suite` names a suite that ships with Nacre; anything that looks like a file is one. */
export function isShippedSuite(suite: string): boolean {
  return SUITE_IDS.includes(suite) || !/[./\\]/.test(suite);
}

/**
 * The suite in a file: a suite file, data in a well-known form, or a table, whose columns the JSON file of `--mapping` explains.
 * @throws {NacreError} for files that are missing or wrong, naming the place.
 */
export async function readSuite(file: string, mapping?: string): Promise<ImportedSuite> {
  const explained =
    mapping === undefined ? undefined : parseJson(mapping, new TextDecoder().decode(await readUserFile('mapping', mapping)));
  return readSuiteData(basename(file), await readUserFile('suite', file), explained);
}

/** The suite that `--suite` names: the id of one that ships with Nacre, or a file. @throws {NacreError} as `readSuite` does. */
export async function openSuite(suite: string, mapping?: string): Promise<OpenedSuite> {
  if (isShippedSuite(suite)) return { suite: createSuite(suite), close: async () => undefined };
  const imported = await readSuite(suite, mapping);
  const sandbox = nodeSandbox();
  return { suite: openImportedSuite(imported, () => sandbox), close: () => sandbox.close() };
}

/**
 * The suites that an experiment on the command line may mean: the one that `--suite` gave, or `NAME.suite.json` beside the
 * experiment's file.
 */
export class NodeShelf implements SuiteShelf {
  private sandbox: SupervisedSandbox | undefined;

  constructor(
    private readonly configPath: string,
    private readonly given: ImportedSuite | undefined,
  ) {}

  async find(id: string): Promise<ImportedSuite | undefined> {
    if (this.given?.id === id) return this.given;
    const path = join(dirname(userPath(this.configPath)), `${id}.suite.json`);
    return existsSync(path) ? parseSuiteFile(path, decodeText(path, await readUserFile('suite', path))) : undefined;
  }

  readonly openSandbox = (): SupervisedSandbox => {
    this.sandbox ??= nodeSandbox();
    return this.sandbox;
  };

  async close(): Promise<void> {
    await this.sandbox?.close();
  }
}
