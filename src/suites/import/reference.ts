import * as v from 'valibot';
import { NacreError } from '../../core/errors.ts';
import { type ImportedSuite, SuiteId, suiteHash } from './suite-file.ts';

/** Fields by which a configuration names a suite that a user brought. The suite itself is stored apart from it. */
export const IMPORTED_SUITE_FIELDS = {
  id: v.literal('imported'),
  /** Id of the stored suite. */
  name: SuiteId,
  /** `suiteHash` of the suite that was meant; a run with another one is refused. */
  hash: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/, '32 hexadecimal digits'))),
} as const;

export interface SuiteReference {
  readonly name: string;
  readonly hash?: string | undefined;
}

/** @throws {NacreError} `suite-missing` where there is no suite, `suite-differs` where it is another one than was meant. */
export function checkReference({ name, hash }: SuiteReference, suite: ImportedSuite | undefined): ImportedSuite {
  if (!suite) throw new NacreError('suite-missing', `suite.name: there is no imported suite "${name}".`, 'Import its file first.');
  if (hash !== undefined && suiteHash(suite) !== hash) {
    throw new NacreError(
      'suite-differs',
      `suite.hash: the suite "${name}" here holds other tasks than the one this experiment was made with.`,
      'Import the original suite file, or remove suite.hash to run on this one.',
    );
  }
  return suite;
}
