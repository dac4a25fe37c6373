import { SPLITS } from '../../core/types.ts';
import type { ListedModel, SuiteSummary } from '../../lab/service.ts';
import { suiteChoiceOf } from '../suites/run-of-suite.ts';
import { type Draft, readPath } from './draft.ts';
import { modelOptions, TYPED, withModel } from './model-options.ts';

/** Values of the list of suites: the shipped one, and imported ones by their ids. */
export const HOUSEHOLD = 'household';
export const IMPORTED = 'imported:';

/**
 * The draft on another suite. Questions need a critic that is a model and a target that can answer, so those are put in where
 * the draft has none and one is at hand.
 */
export function withSuite(draft: Draft, value: string, suites: readonly SuiteSummary[], models: readonly ListedModel[]): Draft {
  const suite = suites.find(({ id }) => value === IMPORTED + id);
  if (!suite) {
    const sizes = Object.fromEntries(SPLITS.map((split) => [split, readPath(draft, ['suite', split])]));
    return { ...draft, suite: { id: HOUSEHOLD, ...sizes } };
  }
  const other = modelOptions(models).find(({ group }) => group !== 'Shipped');
  const isShipped = (readPath(draft, ['target', 'model']) ?? 'nacre-tiny') === 'nacre-tiny';
  const target = isShipped && other ? withModel(draft.target, other) : draft.target;
  const critic = readPath(draft, ['critic', 'kind']) === 'model' ? draft.critic : { ...withModel({}, other ?? TYPED), kind: 'model' };
  return { ...draft, suite: suiteChoiceOf(suite), ...(target === undefined ? {} : { target }), critic };
}
