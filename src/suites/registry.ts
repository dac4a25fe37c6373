import { NacreError } from '../core/errors.ts';
import type { Suite } from '../core/types.ts';
import { createHouseholdSuite } from './household/suite.ts';
import { type ImportedSuite, suiteTasks } from './import/suite-file.ts';
import { createQuestionSuite } from './qa/suite.ts';
import { createScorer, type OpenSandbox } from './scorers/scorer.ts';

const FACTORIES: Readonly<Record<string, () => Suite>> = { household: () => createHouseholdSuite() };

/** The suites that ship with Nacre. */
export const SUITE_IDS: readonly string[] = Object.keys(FACTORIES);

/** A suite that ships with Nacre, by its id. @throws {NacreError} `unknown-suite` naming those that exist. */
export function createSuite(id: string): Suite {
  const factory = Object.hasOwn(FACTORIES, id) ? FACTORIES[id] : undefined;
  if (!factory) throw new NacreError('unknown-suite', `There is no suite "${id}".`, `Suites: ${SUITE_IDS.join(', ')}.`);
  return factory();
}

/**
 * A suite that a user brought, ready to play.
 * @param openSandbox where scorers with foreign code run; called when the first answer is scored.
 * @throws {NacreError} `sandbox-missing` when the suite's scorer needs one and none is given.
 */
export function openImportedSuite(imported: ImportedSuite, openSandbox?: OpenSandbox): Suite {
  const { id, title, scorer } = imported;
  return createQuestionSuite({ id, title, splits: suiteTasks(imported), scorer: createScorer(scorer, openSandbox) });
}
