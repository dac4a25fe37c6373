import type { TokenTotals } from '../core/ledger.ts';
import type { Rollout, Split, Task } from '../core/types.ts';

/** Outcome route of a group (TextualRL §3.2): s of K rollouts succeed. */
export const ROUTES = ['mixed', 'all-success', 'all-failure'] as const;
export type Route = (typeof ROUTES)[number];

/** One observation about one rollout, as a critic states it (App. A). */
export interface EvidenceCard {
  readonly taskId: string;
  readonly rolloutId: string;
  readonly quote: string;
  readonly condition: string;
  readonly behavior: string;
  readonly observedEffect: string;
}

/** A character range of a rollout's runtime transcript. `start` lies in the named field; `end` too unless `through` is set. */
export interface QuoteLocation {
  readonly turn: number;
  readonly field: 'observation' | 'action';
  readonly start: number;
  readonly end: number;
  /** Where a quote ends that runs on into a later field (then `end` is the length of the first field). */
  readonly through?: { readonly turn: number; readonly field: 'observation' | 'action'; readonly end: number };
}

/** A card whose quote was found in the rollout's runtime transcript. */
export interface VerifiedCard extends EvidenceCard {
  readonly id: string;
  readonly route: Route;
  /** The critique call it came from. */
  readonly callId: string;
  /** Where the quote stands: index of the turn (turns.length = the final observation), the field, and the character range in it. */
  readonly location: QuoteLocation;
  /** The text an ellipsis in the quote stands for. */
  readonly elided?: string;
  /** How many identical cards this one stands for. */
  readonly multiplicity: number;
}

export const CARD_REJECTIONS = [
  'malformed',
  'unknown-task',
  'unknown-trajectory',
  'quote-missing',
  'quote-too-short',
  'quote-too-long',
  'quote-not-found',
  'field-empty',
  'field-too-long',
  'second-card-for-trajectory',
] as const;
export type CardRejection = (typeof CARD_REJECTIONS)[number];

export interface RejectedCard {
  readonly card: Partial<EvidenceCard>;
  readonly reason: CardRejection;
  readonly callId: string;
}

export type EditOp = 'append' | 'insert_after' | 'replace' | 'delete';
export type EditKind = 'corrective' | 'preservation';

/** One bounded text operation on the context (§3.3). */
export interface Edit {
  readonly id: string;
  readonly op: EditOp;
  readonly target?: string;
  readonly content?: string;
  readonly kind: EditKind;
  /** Distinct task ids whose evidence supports it. */
  readonly support: readonly string[];
  /** Ids of the proposals it was merged from; absent on a proposal itself. */
  readonly sources?: readonly string[];
}

export const EDIT_STATUSES = [
  'applied',
  'target-not-found',
  'target-ambiguous',
  'protected',
  'no-op',
  'unknown-op',
  'malformed',
  'too-long',
] as const;
export type EditStatus = (typeof EDIT_STATUSES)[number];

export interface EditReport {
  readonly edit: Edit;
  readonly status: EditStatus;
}

export type ReviewVerdict = 'retain' | 'narrow' | 'revise' | 'insufficient_evidence';

export interface ReviewDecision {
  readonly editId: string;
  readonly verdict: ReviewVerdict;
  readonly reason: string;
  readonly before: Edit;
  /** Absent when the edit was not kept. */
  readonly after?: Edit;
  readonly evidence: readonly {
    readonly taskId: string;
    readonly rolloutId: string;
    readonly relation: 'supports' | 'limits' | 'contradicts';
    readonly reason: string;
  }[];
}

/** One merge call, or a singleton that passed up without one; the list of them is the merge tree. */
export interface MergeNode {
  readonly id: string;
  readonly branch: EditKind | 'combined';
  readonly level: number;
  readonly inputs: readonly string[];
  readonly edits: readonly Edit[];
  readonly call: boolean;
  readonly fallback: boolean;
}

/** Score of one context on one split. `outcomes` is by task id. */
export interface Score {
  readonly split: Split;
  readonly n: number;
  readonly success: number;
  readonly rate: number;
  readonly wilson: readonly [number, number];
  readonly outcomes: Readonly<Record<string, boolean>>;
  readonly byType: Readonly<Record<string, { readonly n: number; readonly success: number }>>;
  /** Rollouts that could not run after retries; excluded from n. */
  readonly errors: number;
}

export type Decision = 'accepted' | 'rejected' | 'blocked' | 'skipped' | 'no-edit';

/** Everything one optimisation step did, for the page, the audit and result.json. */
export interface StepRecord {
  readonly step: number;
  readonly epoch: number;
  readonly taskIds: readonly string[];
  readonly budget: number;
  readonly routes: Readonly<Record<Route, number>>;
  /** Route of each task of the batch. */
  readonly routeOf: Readonly<Record<string, Route>>;
  readonly rollouts: number;
  readonly rolloutErrors: number;
  readonly duplicates: number;
  readonly skippedRoutes: readonly Route[];
  readonly cards: readonly VerifiedCard[];
  readonly rejectedCards: readonly RejectedCard[];
  readonly edits: {
    readonly proposed: readonly Edit[];
    readonly dropped: readonly { readonly edit: Edit; readonly reason: string }[];
    readonly reviewed: readonly ReviewDecision[];
    readonly applied: readonly EditReport[];
  };
  readonly merges: readonly MergeNode[];
  readonly unusableAnswers: number;
  readonly resamples: number;
  readonly context: string;
  readonly candidate?: string;
  readonly reference: number;
  readonly candidateScore?: Score;
  readonly decision: Decision;
  /** Why, in one sentence. */
  readonly reason: string;
  /** Validation task ids the candidate gained and lost against the reference. */
  readonly gained: readonly string[];
  readonly lost: readonly string[];
  /** Exact McNemar p on gained/lost. */
  readonly mcnemar: number;
  readonly seconds: number;
  /** What went another way than planned: fallbacks, halved batches, elided transcripts. */
  readonly notes?: readonly string[];
  /** Set when the validation split is too small to resolve the gain. */
  readonly warning?: string;
}

export interface Checkpoint {
  readonly step: number;
  readonly context: string;
  readonly contextHash: string;
  readonly scores: Partial<Record<Split, Score>>;
}

export type Phase = 'validate-initial' | 'rollouts' | 'critique' | 'merge' | 'review' | 'apply' | 'gate' | 'test' | 'done';

/** What a run tells its observers. A reopened run emits the same events again from its journal (`replayed`). */
export type RunEvent =
  | { readonly type: 'started'; readonly totalSteps: number; readonly initialContext: string; readonly tasks: readonly Task[] }
  | {
      readonly type: 'phase';
      readonly step: number;
      readonly phase: Phase;
      readonly label: string;
      readonly done: number;
      readonly total: number;
    }
  | {
      readonly type: 'step-started';
      readonly step: number;
      readonly epoch: number;
      readonly taskIds: readonly string[];
      readonly k: number;
      readonly budget: number;
      readonly context: string;
    }
  | {
      readonly type: 'rollout';
      readonly step: number;
      readonly role: 'rollout' | 'validation' | 'test';
      readonly rollout: Rollout;
      readonly replayed: boolean;
    }
  | { readonly type: 'routed'; readonly step: number; readonly routeOf: Readonly<Record<string, Route>>; readonly duplicates: number }
  | { readonly type: 'cards'; readonly step: number; readonly cards: readonly VerifiedCard[]; readonly rejected: readonly RejectedCard[] }
  | {
      readonly type: 'patch';
      readonly step: number;
      readonly context: string;
      readonly candidate: string;
      readonly applied: readonly EditReport[];
    }
  | { readonly type: 'step'; readonly record: StepRecord }
  | { readonly type: 'score'; readonly which: 'initial' | 'best'; readonly step: number; readonly score: Score }
  | { readonly type: 'tokens'; readonly totals: TokenTotals }
  | { readonly type: 'finished'; readonly initial: Checkpoint; readonly best: Checkpoint; readonly stopped: boolean };

/** One rollout to run. */
export interface RolloutJob {
  readonly id: string;
  readonly task: Task;
  readonly index: number;
  readonly seed: number;
}

/** The frozen target with its suite: runs many rollouts under one context. Failures to run come back with finish `error`. */
export interface Target {
  rollouts(
    jobs: readonly RolloutJob[],
    options: {
      readonly context: string;
      readonly contextHash: string;
      readonly temperature: number;
      readonly signal: AbortSignal;
      readonly onRollout: (rollout: Rollout) => void;
    },
  ): Promise<readonly Rollout[]>;
}
