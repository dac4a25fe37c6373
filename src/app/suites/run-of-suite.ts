import { SPLITS, type Split } from '../../core/types.ts';
import { parseConfig } from '../../lab/config.ts';
import type { SuiteSummary } from '../../lab/service.ts';

/** Tasks taken of each split unless a person asks for more: enough to see something, few enough to wait for. */
const MOST: Readonly<Record<Split, number>> = { train: 48, val: 32, test: 160, unseen: 96 };

/** The part of a configuration that names an imported suite. */
export function suiteChoiceOf(suite: Pick<SuiteSummary, 'id' | 'hash' | 'counts'>): Readonly<Record<string, unknown>> {
  const sizes = Object.fromEntries(SPLITS.map((split) => [split, Math.min(MOST[split], suite.counts[split])]));
  return { id: 'imported', name: suite.id, hash: suite.hash, ...sizes };
}

/**
 * A configuration to begin from: on the suite, with a critic that is a model, since the analyst knows household tasks only.
 * Which models is left to choose, so it is not valid yet.
 */
export function runOfSuite(suite: SuiteSummary): Readonly<Record<string, unknown>> {
  return {
    schema: 'nacre.experiment/1',
    kind: 'textual',
    name: `TextualRL on ${suite.title}`.slice(0, 120),
    seed: 1,
    suite: suiteChoiceOf(suite),
    critic: { kind: 'model' },
    textual: parseConfig({ schema: 'nacre.experiment/1', kind: 'textual', name: 'Defaults', suite: { id: 'household' } }).textual,
  };
}
