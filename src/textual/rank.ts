import type { Asker } from './ask.ts';
import { type CritiqueBrief, rankMessages } from './prompts.ts';
import { RANK_JSON, RankAnswer } from './protocol.ts';
import type { Edit } from './types.ts';

export interface Selection {
  readonly edits: readonly Edit[];
  readonly unusable: number;
  readonly notes: readonly string[];
}

/** Keeps at most `budget` edits: all if they fit, else by a ranking call, else by support and then order. */
export async function selectEdits(
  edits: readonly Edit[],
  budget: number,
  options: { readonly key: string; readonly brief: CritiqueBrief; readonly ask: Asker },
): Promise<Selection> {
  if (edits.length <= budget) return { edits, unusable: 0, notes: [] };
  const asked = await options.ask(options.key, 'rank', {
    messages: rankMessages(options.brief, edits, budget),
    schema: RankAnswer,
    jsonSchema: RANK_JSON,
    complain: ({ order }) => (order.some((id) => edits.some((edit) => edit.id === id)) ? undefined : 'order names none of the edit ids.'),
  });
  const byRank = rankBySupport(edits);
  if (asked.status !== 'answered') {
    const why = asked.status === 'too-long' ? 'the edits did not fit' : asked.problem;
    return { edits: byRank.slice(0, budget), unusable: asked.unusable, notes: [`ranked by support, ${why}`] };
  }
  const { order } = asked.value;
  const named = [...new Set(order)].flatMap((id) => edits.find((edit) => edit.id === id) ?? []);
  const rest = byRank.filter((edit) => !named.includes(edit));
  return { edits: [...named, ...rest].slice(0, budget), unusable: asked.unusable, notes: [] };
}

/** More supporting tasks first, then the order they came in. */
export function rankBySupport(edits: readonly Edit[]): Edit[] {
  return edits.slice().sort((a, b) => b.support.length - a.support.length);
}
