import { NacreError } from '../core/errors.ts';
import type { Suite } from '../core/types.ts';
import { createHouseholdSuite } from './household/suite.ts';

const FACTORIES: Readonly<Record<string, () => Suite>> = { household: () => createHouseholdSuite() };

/** The suites that ship with Nacre. */
export const SUITE_IDS: readonly string[] = Object.keys(FACTORIES);

/** A suite by its id. @throws {NacreError} `unknown-suite` naming those that exist. */
export function createSuite(id: string): Suite {
  const factory = Object.hasOwn(FACTORIES, id) ? FACTORIES[id] : undefined;
  if (!factory) throw new NacreError('unknown-suite', `There is no suite "${id}".`, `Suites: ${SUITE_IDS.join(', ')}.`);
  return factory();
}
