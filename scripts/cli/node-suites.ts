import { basename } from 'node:path';
import type { Suite } from '../../src/core/types.ts';
import { readSuiteData } from '../../src/suites/qa/read.ts';
import { createSuite, openImportedSuite, SUITE_IDS } from '../../src/suites/registry.ts';
import { parseJson } from '../../src/transformer/json.ts';
import { nodeSandbox } from '../node-sandbox.ts';
import { readUserFile } from './node-files.ts';

export interface OpenedSuite {
  readonly suite: Suite;
  /** Ends the sandbox, where one was started. */
  close(): Promise<void>;
}

/**
 * The suite that `--suite` names: the id of one that ships with Nacre, or a file — a suite file, data in a well-known form, or
 * a table, whose columns the JSON file of `--mapping` explains.
 * @throws {NacreError} for files that are missing or wrong, naming the place.
 */
export async function openSuite(suite: string, mapping?: string): Promise<OpenedSuite> {
  if (SUITE_IDS.includes(suite) || !/[./\\]/.test(suite)) return { suite: createSuite(suite), close: async () => undefined };
  const explained =
    mapping === undefined ? undefined : parseJson(mapping, new TextDecoder().decode(await readUserFile('mapping', mapping)));
  const imported = readSuiteData(basename(suite), await readUserFile('suite', suite), explained);
  const sandbox = nodeSandbox();
  return { suite: openImportedSuite(imported, () => sandbox), close: () => sandbox.close() };
}
