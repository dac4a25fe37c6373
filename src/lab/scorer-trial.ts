import { type PlainError, toPlainError } from '../core/errors.ts';
import type { ImportedTask } from '../suites/import/suite-file.ts';
import { createScorer, type OpenSandbox } from '../suites/scorers/scorer.ts';
import { ScorerSpec } from '../suites/scorers/spec.ts';
import type { Score } from '../suites/scorers/types.ts';
import { parseWith } from './config.ts';

/** An output to score on a task that is not stored yet. */
export interface ScorerTrial {
  readonly output: string;
  readonly task: ImportedTask;
}

/** What the output earned, or why the scorer itself failed on it. */
export type ScorerVerdict = { readonly score: Score } | { readonly error: PlainError };

/**
 * Scores outputs as a suite with this scorer would, one after the other.
 * @param spec what `ScorerSpec` describes, from outside. @throws {NacreError} `config-invalid` naming the wrong field
 */
export async function tryScorer(
  spec: unknown,
  trials: readonly ScorerTrial[],
  openSandbox: OpenSandbox,
): Promise<readonly ScorerVerdict[]> {
  const scorer = createScorer(parseWith(ScorerSpec, spec, 'The scorer'), openSandbox);
  const verdicts: ScorerVerdict[] = [];
  for (const { output, task } of trials) {
    const { answers, fields, ...rest } = task;
    try {
      verdicts.push({ score: await scorer.score(output, { ...rest, data: { answers, fields } }) });
    } catch (thrown) {
      verdicts.push({ error: toPlainError(thrown) });
    }
  }
  return verdicts;
}
