import type { Random } from '../../core/random.ts';
import { RULE_IDS, type RuleId } from '../../suites/household/rules.ts';
import type { Edit } from '../types.ts';
import type { ReadCard, ReadHistory, ReadPrompt } from './parse.ts';
import { adviceOf, CARD_TEXTS, NARROW, sentenceKey } from './wordings.ts';

/** Answers a merge call: edits that advise the same become one, best supported first; fewer after a rejection. */
export function answerMerge(prompt: ReadPrompt, random: Random): object {
  const groups = new Map<string, Edit[]>();
  for (const edit of prompt.bundles.flat()) {
    const name = groupName(edit);
    groups.set(name, [...(groups.get(name) ?? []), edit]);
  }
  const merged = Array.from(groups.values(), (edits) => {
    const chosen = random.pick(edits);
    return {
      op: chosen.op,
      ...(chosen.target === undefined ? {} : { target: chosen.target }),
      ...(chosen.content === undefined ? {} : { content: chosen.content }),
      kind: edits.some(({ kind }) => kind === 'corrective') ? 'corrective' : 'preservation',
      sources: edits.map(({ id }) => id),
      support: new Set(edits.flatMap(({ support }) => support)).size,
    };
  }).sort((a, b) => b.support - a.support);
  const most = mostEdits(prompt.history);
  return { edits: merged.slice(0, most).map(({ support: _, ...edit }) => edit) };
}

/** How many edits to offer at once: after rejections fewer, so that the gate can tell which one helps. */
function mostEdits(history: readonly ReadHistory[]): number {
  const lastAccepted = history.findLastIndex(({ decision }) => decision === 'accepted');
  const rejections = history.length - 1 - lastAccepted;
  return rejections === 0 ? Number.POSITIVE_INFINITY : Math.max(1, 3 - rejections);
}

function groupName(edit: Edit): string {
  const advice = adviceOf(edit.content ?? edit.target ?? '');
  if (!advice) return `${edit.op} ${sentenceKey(edit.content ?? edit.target ?? '')}`;
  const place = edit.op === 'append' ? '' : ` at ${edit.target}`;
  return `${advice.rule} ${advice.follows ? 'for' : 'against'}${place}`;
}

/** Chance that advice without a card is let through all the same: the gate has the last word. */
const LENIENCE = 0.2;

/** Answers a review call by counting the distinct tasks whose cards speak for and against each edit. */
export function answerReview(prompt: ReadPrompt, random: Random): object {
  return {
    reviews: prompt.reviews.map(({ edit, cards }) => {
      const advice = adviceOf(edit.content ?? '');
      const evidence = advice ? cards.flatMap((card) => judgeCard(card, advice.rule, advice.follows)) : [];
      const tasksThat = (relation: string) =>
        new Set(evidence.filter((entry) => entry.relation === relation).map(({ task_id }) => task_id)).size;
      const supporting = tasksThat('supports');
      const contradicting = tasksThat('contradicts');
      const base = { edit_id: edit.id, evidence };
      if (!advice || supporting === 0 || contradicting >= supporting) {
        const reason = advice ? `${supporting} tasks support it, ${contradicting} contradict it.` : 'No card shows what it would change.';
        const verdict = contradicting === 0 && random.chance(LENIENCE) ? 'retain' : 'insufficient_evidence';
        return { ...base, verdict, reason };
      }
      const narrow = NARROW[advice.rule];
      if (supporting === 1 && narrow !== undefined && edit.op === 'append' && random.chance(0.5)) {
        return { ...base, verdict: 'narrow', content: `- ${narrow}`, reason: 'One task shows it: stated with its condition.' };
      }
      return { ...base, verdict: 'retain', reason: `${supporting} tasks support it, ${contradicting} contradict it.` };
    }),
  };
}

function judgeCard(card: ReadCard, rule: RuleId, follows: boolean) {
  const told = RULE_IDS.find((id) => CARD_TEXTS[id].kept === card.behavior || CARD_TEXTS[id].broken === card.behavior);
  if (told !== rule) return [];
  const kept = CARD_TEXTS[rule].kept === card.behavior;
  const success = card.observed_effect === 'The attempt succeeded';
  // A kept rule with success and a broken one with failure speak for it; the other two pairs limit it.
  const agrees = kept === success;
  const relation = agrees === follows ? 'supports' : agrees ? 'contradicts' : 'limits';
  const reason = `${card.behavior}; ${card.observed_effect.toLowerCase()}.`;
  return [{ task_id: card.task_id, rollout_id: card.rollout_id, relation, reason }];
}

/** Answers a ranking call: more supporting tasks first, corrective before preservation. */
export function answerRank(prompt: ReadPrompt): object {
  const edits = prompt.bundles.flat();
  const weight = (edit: Edit) => edit.support.length + (edit.kind === 'corrective' ? 0.5 : 0) - (adviceOf(edit.content ?? '') ? 0 : 5);
  return {
    order: edits
      .slice()
      .sort((a, b) => weight(b) - weight(a))
      .map(({ id }) => id),
  };
}
