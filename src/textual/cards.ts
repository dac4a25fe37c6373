import * as v from 'valibot';
import { foldKey } from '../core/fold.ts';
import type { TaskBlock } from './dedupe.ts';
import { groupEqual } from './dedupe.ts';
import { locateQuote, quotePieces } from './transcript.ts';
import type { CardRejection, EvidenceCard, RejectedCard, VerifiedCard } from './types.ts';

export const MIN_QUOTE = 8;
export const MAX_QUOTE = 800;
export const MAX_FIELD = 300;

const RawCard = v.object({
  task_id: v.pipe(v.union([v.string(), v.number()]), v.transform(String)),
  rollout_id: v.pipe(v.union([v.string(), v.number()]), v.transform(String)),
  quote: v.optional(v.nullable(v.string()), ''),
  condition: v.optional(v.nullable(v.string()), ''),
  behavior: v.optional(v.nullable(v.string()), ''),
  observed_effect: v.optional(v.nullable(v.string()), ''),
});

/**
 * Checks a critic's cards against what its call displayed (App. A, C.3.2): every card is kept with the place of its quote,
 * or refused with a reason. One card a trajectory; the first valid one stays.
 */
export function verifyCards(
  raw: readonly unknown[],
  blocks: readonly TaskBlock[],
  callId: string,
): { readonly cards: readonly VerifiedCard[]; readonly rejected: readonly RejectedCard[] } {
  const cards: VerifiedCard[] = [];
  const rejected: RejectedCard[] = [];
  const seen = new Set<string>();
  for (const entry of raw) {
    const read = readCard(entry);
    const result = 'reason' in read ? read : checkCard(read.card, blocks, seen);
    if ('reason' in result) {
      rejected.push({ card: result.card, reason: result.reason, callId });
      continue;
    }
    seen.add(trajectoryKey(result.card));
    cards.push({
      ...result.card,
      ...result.place,
      id: `${callId}#card${cards.length}`,
      route: result.block.route,
      callId,
      multiplicity: 1,
    });
  }
  return { cards, rejected };
}

/** One card for all that say the same of the same rollout; multiplicities add up (App. A). */
export function consolidateCards(cards: readonly VerifiedCard[]): VerifiedCard[] {
  const claim = (card: VerifiedCard) =>
    [card.taskId, card.rolloutId, foldKey(card.quote), foldKey(card.behavior).toLowerCase()].join('\u0000');
  return groupEqual(cards, claim).map((same) => ({
    ...(same[0] as VerifiedCard),
    multiplicity: same.reduce((sum, card) => sum + card.multiplicity, 0),
  }));
}

type Refused = { readonly card: Partial<EvidenceCard>; readonly reason: CardRejection };

function readCard(entry: unknown): { readonly card: EvidenceCard } | Refused {
  const parsed = v.safeParse(RawCard, entry);
  if (!parsed.success) return { card: {}, reason: 'malformed' };
  const { task_id, rollout_id, quote, condition, behavior, observed_effect } = parsed.output;
  const text = (value: string | null) => (value ?? '').trim();
  return {
    card: {
      taskId: task_id,
      rolloutId: rollout_id,
      quote: text(quote),
      condition: text(condition),
      behavior: text(behavior),
      observedEffect: text(observed_effect),
    },
  };
}

function checkCard(card: EvidenceCard, blocks: readonly TaskBlock[], seen: ReadonlySet<string>) {
  const refuse = (reason: CardRejection): Refused => ({ card, reason });
  const block = blocks.find(({ task }) => task.id === card.taskId);
  if (!block) return refuse('unknown-task');
  const trajectory = block.trajectories.find(({ rollout }) => rollout.id === card.rolloutId);
  if (!trajectory) return refuse('unknown-trajectory');
  if (seen.has(trajectoryKey(card))) return refuse('second-card-for-trajectory');
  const pieces = quotePieces(foldKey(card.quote));
  if (pieces.length === 0) return refuse('quote-missing');
  if (pieces.reduce((sum, piece) => sum + [...piece].length, 0) < MIN_QUOTE) return refuse('quote-too-short');
  if ([...card.quote].length > MAX_QUOTE) return refuse('quote-too-long');
  const fields = [card.condition, card.behavior, card.observedEffect];
  if (fields.some((field) => field === '')) return refuse('field-empty');
  if (fields.some((field) => [...field].length > MAX_FIELD)) return refuse('field-too-long');
  const place = locateQuote(trajectory.rollout, card.quote);
  return place ? { card, block, place } : refuse('quote-not-found');
}

function trajectoryKey({ taskId, rolloutId }: EvidenceCard): string {
  return `${taskId}\u0000${rolloutId}`;
}
