import type { Asker } from './ask.ts';
import { consolidateCards } from './cards.ts';
import { type Bundle, critique, planCritique } from './critic.ts';
import type { TaskBlock } from './dedupe.ts';
import { filterDependencies } from './dependency.ts';
import { mergeProposals } from './merge.ts';
import type { CritiqueBrief } from './prompts.ts';
import { selectEdits } from './rank.ts';
import { type Reviewed, reviewEdits } from './review.ts';
import type { TextualSettings } from './settings.ts';
import type { Edit, MergeNode, RejectedCard, ReviewDecision, Route, VerifiedCard } from './types.ts';

/** Everything between the trajectories of a step and its patch. */
export interface Proposal {
  readonly patch: readonly Edit[];
  readonly proposed: readonly Edit[];
  readonly dropped: readonly { readonly edit: Edit; readonly reason: string }[];
  readonly cards: readonly VerifiedCard[];
  readonly rejectedCards: readonly RejectedCard[];
  readonly merges: readonly MergeNode[];
  readonly reviews: readonly ReviewDecision[];
  readonly skippedRoutes: readonly Route[];
  readonly calls: number;
  readonly unusable: number;
  readonly notes: readonly string[];
}

export interface ProposeOptions {
  /** Names the units: `e1/b3`, with `/r1` for the first resample. */
  readonly prefix: string;
  readonly budget: number;
  readonly settings: TextualSettings;
  readonly brief: CritiqueBrief;
  readonly ask: Asker;
  readonly onPhase: (phase: 'critique' | 'merge' | 'review', label: string, done: number, total: number) => void;
  readonly onCards: (cards: readonly VerifiedCard[], rejected: readonly RejectedCard[]) => void;
}

/** Groupwise critique (§3.2), then the cross-group update (§3.3) up to the selected patch. */
export async function propose(blocks: readonly TaskBlock[], options: ProposeOptions): Promise<Proposal> {
  const { prefix, budget, settings, brief, ask, onPhase } = options;
  const { ablations, critiqueBatch, mergeBatch } = settings;
  const { calls, skipped } = planCritique(blocks, { critiqueBatch, outcomeRouting: ablations.outcomeRouting, prefix });

  const raw: Bundle[] = [];
  for (const [i, call] of calls.entries()) {
    onPhase('critique', `Comparing attempts (${call.route})`, i, calls.length);
    raw.push(...(await critique(call, brief, budget, ask)));
  }
  const filtered = raw.map((bundle) => ({ bundle, ...filterDependencies(bundle.edits) }));
  const bundles: Bundle[] = filtered.map(({ bundle, kept }) => ({ ...bundle, edits: kept }));
  const dropped = filtered.flatMap((entry) => [...entry.bundle.dropped, ...entry.dropped]);
  const cards = consolidateCards(
    raw.filter((bundle) => ablations.noEditCards || bundle.edits.length > 0).flatMap((bundle) => bundle.cards),
  );
  const rejectedCards = raw.flatMap((bundle) => bundle.rejectedCards);
  options.onCards(cards, rejectedCards);

  onPhase('merge', 'Merging proposals', 0, 1);
  const merged = await mergeProposals(bundles, { prefix, mergeBatch, brief, ask });
  onPhase('review', 'Reviewing against all groups', 0, 1);
  const reviewed: Reviewed = ablations.crossGroupReview
    ? await reviewEdits(merged.edits, cards, { key: `review ${prefix}`, brief, ask, intraGroupCardsOnly: ablations.intraGroupCardsOnly })
    : { edits: merged.edits, decisions: [], unusable: 0, notes: [] };
  // Merging rewrites texts, so what it wrote is screened like any proposal.
  const screened = filterDependencies(reviewed.edits);
  const selected = await selectEdits(screened.kept, budget, { key: `rank ${prefix}`, brief, ask });

  return {
    patch: selected.edits,
    proposed: raw.flatMap((bundle) => [...bundle.edits, ...bundle.dropped.map(({ edit }) => edit)]),
    dropped: [...dropped, ...screened.dropped],
    cards,
    rejectedCards,
    merges: merged.nodes,
    reviews: reviewed.decisions,
    skippedRoutes: skipped,
    calls: calls.length,
    unusable: raw.reduce((sum, bundle) => sum + bundle.unusable, 0) + merged.unusable + reviewed.unusable + selected.unusable,
    notes: [...raw.flatMap((bundle) => bundle.notes), ...merged.notes, ...reviewed.notes, ...selected.notes],
  };
}
