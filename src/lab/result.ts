import type { TokenTotals } from '../core/ledger.ts';
import type { Split } from '../core/types.ts';
import type { Checkpoint, Score, StepRecord } from '../textual/types.ts';
import type { ExperimentConfig } from './config.ts';

/** Score of one split as results report it. */
export interface ResultScore {
  readonly n: number;
  readonly success: number;
  readonly rate: number;
  readonly wilson: readonly [number, number];
}

export interface ResultCheckpoint {
  readonly step: number;
  readonly context: string;
  readonly scores: Partial<Record<Split, ResultScore>>;
}

export interface ResultStep {
  readonly step: number;
  readonly routes: { readonly mixed: number; readonly allSuccess: number; readonly allFailure: number };
  readonly rollouts: number;
  readonly duplicates: number;
  readonly cards: { readonly kept: number; readonly rejected: Readonly<Record<string, number>> };
  readonly edits: {
    readonly proposed: number;
    readonly dropped: Readonly<Record<string, number>>;
    readonly reviewed: Readonly<Record<string, number>>;
    readonly applied: number;
  };
  readonly reference: number;
  readonly candidate: number | null;
  readonly decision: StepRecord['decision'];
  readonly gained: number;
  readonly lost: number;
  readonly mcnemar: number;
}

/** Which model acted, on what. */
export interface ResultModel {
  readonly id: string;
  readonly parameters: number;
  readonly backend: string;
  readonly adapter: string;
}

/** `result.json` of a TextualRL run, schema `nacre.result/1`. */
export interface TextualResult {
  readonly schema: 'nacre.result/1';
  readonly kind: 'textual';
  readonly config: ExperimentConfig;
  readonly seed: number;
  /** Seconds of work over all sessions of the run. */
  readonly seconds: number;
  /** Longest block of the coordinating thread: the page's main thread, or the command's main thread without a page. */
  readonly longestTaskMs: number;
  readonly model: ResultModel;
  readonly textual: {
    readonly initial: ResultCheckpoint;
    readonly best: ResultCheckpoint;
    readonly steps: readonly ResultStep[];
    readonly tokens: TokenTotals;
  };
}

/** What a finished loop hands to the report. */
export interface RunFindings {
  readonly initial: Checkpoint;
  readonly best: Checkpoint;
  readonly steps: readonly StepRecord[];
  readonly tokens: TokenTotals;
}

export function buildResult(input: {
  readonly config: ExperimentConfig;
  readonly findings: RunFindings;
  readonly model: ResultModel;
  readonly seconds: number;
  readonly longestTaskMs: number;
}): TextualResult {
  const { config, findings, model, seconds, longestTaskMs } = input;
  return {
    schema: 'nacre.result/1',
    kind: 'textual',
    config,
    seed: config.seed,
    seconds,
    longestTaskMs,
    model,
    textual: {
      initial: resultCheckpoint(findings.initial),
      best: resultCheckpoint(findings.best),
      steps: findings.steps.map(resultStep),
      tokens: findings.tokens,
    },
  };
}

function resultCheckpoint(checkpoint: Checkpoint): ResultCheckpoint {
  const scores = Object.fromEntries(
    Object.entries(checkpoint.scores)
      .filter((entry): entry is [string, Score] => entry[1] !== undefined)
      .map(([split, score]) => [split, resultScore(score)]),
  );
  return { step: checkpoint.step, context: checkpoint.context, scores };
}

function resultScore({ n, success, rate, wilson }: Score): ResultScore {
  return { n, success, rate, wilson };
}

function resultStep(record: StepRecord): ResultStep {
  return {
    step: record.step,
    routes: { mixed: record.routes.mixed, allSuccess: record.routes['all-success'], allFailure: record.routes['all-failure'] },
    rollouts: record.rollouts,
    duplicates: record.duplicates,
    cards: { kept: record.cards.length, rejected: countBy(record.rejectedCards, (card) => card.reason) },
    edits: {
      proposed: record.edits.proposed.length,
      dropped: countBy(record.edits.dropped, (drop) => drop.reason),
      reviewed: countBy(record.edits.reviewed, (review) => review.verdict),
      applied: record.edits.applied.filter((report) => report.status === 'applied').length,
    },
    reference: record.reference,
    candidate: record.candidateScore?.rate ?? null,
    decision: record.decision,
    gained: record.gained.length,
    lost: record.lost.length,
    mcnemar: record.mcnemar,
  };
}

function countBy<T>(items: readonly T[], key: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[key(item)] = (counts[key(item)] ?? 0) + 1;
  return counts;
}
