import * as v from 'valibot';
import type { Asker } from './ask.ts';
import { hiddenDependency } from './dependency.ts';
import { type CritiqueBrief, reviewMessages } from './prompts.ts';
import { REVIEW_JSON, ReviewAnswer, ReviewEvidence } from './protocol.ts';
import { words } from './similarity.ts';
import type { Edit, ReviewDecision, VerifiedCard } from './types.ts';

/** Most cards shown with one edit, of which at most so many of one route and of one task. */
const MAX_CARDS = 12;
const PER_ROUTE = 6;
const PER_TASK = 2;

export interface Reviewed {
  readonly edits: readonly Edit[];
  readonly decisions: readonly ReviewDecision[];
  readonly unusable: number;
  readonly notes: readonly string[];
}

export interface ReviewOptions {
  readonly key: string;
  readonly brief: CritiqueBrief;
  readonly ask: Asker;
  /** Ablation (§4.3): an edit may use only cards of the critique calls that gave its sources. */
  readonly intraGroupCardsOnly: boolean;
}

/** Cross-group review (§3.3, C.3.2): each edit is judged against cards pooled from all groups. No cards, no call. */
export async function reviewEdits(edits: readonly Edit[], cards: readonly VerifiedCard[], options: ReviewOptions): Promise<Reviewed> {
  if (edits.length === 0 || cards.length === 0) return { edits, decisions: [], unusable: 0, notes: [] };
  const items = edits.map((edit) => ({
    edit,
    cards: relevantCards(edit, options.intraGroupCardsOnly ? cardsOfSources(edit, cards) : cards),
  }));
  const asked = await options.ask(options.key, 'review', {
    messages: reviewMessages(options.brief, items),
    schema: ReviewAnswer,
    jsonSchema: REVIEW_JSON,
  });
  if (asked.status !== 'answered') {
    const why = asked.status === 'too-long' ? 'it did not fit the critic' : asked.problem;
    return { edits, decisions: [], unusable: asked.unusable, notes: [`no review, ${why}: edits kept as merged`] };
  }
  const decisions = items.map((item) =>
    decide(
      item.edit,
      item.cards,
      asked.value.reviews.find(({ edit_id }) => edit_id === item.edit.id),
    ),
  );
  return { edits: decisions.flatMap(({ after }) => after ?? []), decisions, unusable: asked.unusable, notes: [] };
}

type ReviewOfEdit = v.InferOutput<typeof ReviewAnswer>['reviews'][number];

/** Reads one review. References to cards that were not shown are dropped; the edit does not suffer from them. */
function decide(before: Edit, cards: readonly VerifiedCard[], review: ReviewOfEdit | undefined): ReviewDecision {
  if (!review)
    return { editId: before.id, verdict: 'retain', reason: 'The review did not mention this edit.', before, after: before, evidence: [] };
  const evidence = (review.evidence ?? []).flatMap((entry) => {
    const parsed = v.safeParse(ReviewEvidence, entry);
    if (!parsed.success) return [];
    const { task_id: taskId, rollout_id: rolloutId, relation, reason } = parsed.output;
    const shown = cards.some((card) => card.taskId === taskId && card.rolloutId === rolloutId);
    return shown ? [{ taskId, rolloutId, relation, reason: reason ?? '' }] : [];
  });
  const decision = { editId: before.id, verdict: review.verdict, reason: review.reason ?? '', before, evidence };
  if (review.verdict === 'insufficient_evidence') return decision;
  const supporting = evidence.filter(({ relation }) => relation === 'supports').map(({ taskId }) => taskId);
  const support = [...new Set([...before.support, ...supporting])];
  return { ...decision, after: { ...rewritten(before, review), support } };
}

/** The edit as narrowed or revised; a new wording that leans on hidden information is not taken. */
function rewritten(before: Edit, review: ReviewOfEdit): Edit {
  if (review.verdict === 'retain') return before;
  const content = review.content?.trim();
  const target = review.target?.trim();
  if (content && hiddenDependency(content) !== undefined) return before;
  return {
    ...before,
    ...(content && before.op !== 'delete' ? { content } : {}),
    ...(target && before.op !== 'append' ? { target } : {}),
  };
}

function cardsOfSources(edit: Edit, cards: readonly VerifiedCard[]): VerifiedCard[] {
  const calls = new Set((edit.sources ?? [edit.id]).map((source) => source.replace(/#\d+$/, '')));
  return cards.filter((card) => calls.has(card.callId));
}

/** The cards that speak about what an edit speaks about, best first; many tasks before many attempts at one. */
export function relevantCards(edit: Edit, cards: readonly VerifiedCard[]): VerifiedCard[] {
  const subject = contentWords(`${edit.content ?? ''} ${edit.target ?? ''}`);
  const ranked = cards
    .map((card, order) => {
      const said = contentWords(`${card.condition} ${card.behavior} ${card.observedEffect} ${card.quote}`);
      let shared = 0;
      for (const word of subject) if (said.has(word)) shared++;
      const overlap = subject.size === 0 ? 0 : shared / subject.size;
      return { card, order, score: overlap + (edit.support.includes(card.taskId) ? 0.25 : 0) };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.order - b.order);
  const taken: VerifiedCard[] = [];
  for (const { card } of ranked) {
    if (taken.length === MAX_CARDS) break;
    if (taken.filter(({ route }) => route === card.route).length >= PER_ROUTE) continue;
    if (taken.filter(({ taskId }) => taskId === card.taskId).length >= PER_TASK) continue;
    taken.push(card);
  }
  return taken;
}

const COMMON = new Set(
  'the a an and or of to in on it is was be been that this for with from by at as not you your its then than into before after when'.split(
    ' ',
  ),
);

/** Words that carry a subject, cut to a stem so that `opened` meets `open`. */
function contentWords(text: string): Set<string> {
  return new Set(
    words(text)
      .filter((word) => word.length > 2 && !COMMON.has(word))
      .map((word) => word.replace(/(?:ing|ed|es|s)$/u, '')),
  );
}
