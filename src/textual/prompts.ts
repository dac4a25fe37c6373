import type { Message } from '../core/types.ts';
import type { TaskBlock } from './dedupe.ts';
import { indent, renderBlock, renderCard, renderEdit } from './render.ts';
import type { Decision, Edit, EditKind, Route, VerifiedCard } from './types.ts';

/** A candidate that earlier steps tried, as later critique calls are told of it. */
export interface HistoryEntry {
  readonly step: number;
  readonly decision: Decision;
  readonly reference: number;
  readonly candidate?: number;
  readonly edits: readonly Edit[];
}

/** What every critique call of a step is told. */
export interface CritiqueBrief {
  readonly context: string;
  readonly maxContextChars: number;
  readonly maxEditChars: number;
  readonly history: readonly HistoryEntry[];
  /** Edits that the step buffer blocked in this step. */
  readonly avoid: readonly Edit[];
}

/** The route of a critique call; `pooled` without outcome routing. */
export type CallRoute = Route | 'pooled';

const ROLE = `You improve the written context that a fixed AI agent reads before each task. The agent's weights never change; only the
context does. You study recorded attempts and answer with JSON only: one object, no prose around it.`;

const EDIT_RULES = `Edits: "append" adds "content" at the end; "insert_after" adds it behind "target"; "replace" puts it in place of "target";
"delete" removes "target". "target" is copied character for character from the context and must stand there exactly once. Text between
protected markers may not change. Write short general instructions that help on tasks not seen here; never name task ids, outcomes,
scores, reference answers or anything else the agent cannot see while it works. "support" lists the ids of the tasks the edit rests on.`;

const CARD_RULES = `Cards: for every attempt worth remembering give one card, also when you propose no edit. "quote" is copied word for word from
that attempt's observations or actions (8 to 800 characters, "..." may skip a middle part). "condition" says in which situation, "behavior" what the
agent did, "observed_effect" what came of it; each at most 300 characters. At most one card an attempt.`;

const CRITIQUE_TASKS: Readonly<Record<CallRoute, string>> = {
  mixed: `All attempts below are of ONE task under the same context; some succeeded and some failed. Find the decision at which they part and state it
in "divergence". Propose at most one edit that would lead the failed attempts onto the successful way.`,
  'all-success': `Every attempt at the tasks below succeeded. Propose a "preservation" edit only for something the agent did while working that at least two
different tasks share and that the context does not secure yet. Otherwise propose nothing and give cards.`,
  'all-failure': `Every attempt at the tasks below failed. Propose a cautious "corrective" edit only where the same observable mechanism of failure shows in
at least two different tasks. Failure alone does not prove a repair. Otherwise propose nothing and give cards.`,
  pooled: `Below are attempts at several tasks with their outcomes. Propose edits that would make failures rarer ("corrective") or keep successes
("preservation").`,
};

const CRITIQUE_FORMAT = `{"divergence": "…", "edits": [{"op": "append", "content": "…", "kind": "corrective", "support": ["task id"]}],
 "cards": [{"task_id": "…", "rollout_id": "…", "quote": "…", "condition": "…", "behavior": "…", "observed_effect": "…"}]}`;

/** Messages of one critique call (C.3.1): context, budget, history and the blocks' trajectories. */
export function critiqueMessages(
  route: CallRoute,
  maxEdits: number,
  brief: CritiqueBrief,
  blocks: readonly TaskBlock[],
  keepTurns?: number,
): Message[] {
  const system = [ROLE, CRITIQUE_TASKS[route], EDIT_RULES, CARD_RULES, `Answer in this form:\n${CRITIQUE_FORMAT}`].join('\n\n');
  const user = [
    `<call kind="critique" route="${route}" max_edits="${maxEdits}" max_edit_chars="${brief.maxEditChars}">`,
    contextSection(brief),
    historySection(brief.history),
    ...(brief.avoid.length > 0 ? [section('avoid', brief.avoid.map(renderEdit))] : []),
    ...blocks.map((block) => renderBlock(block, keepTurns)),
  ].join('\n');
  return [
    { role: 'system', content: system },
    { role: 'user', content: user },
  ];
}

const MERGE_TASK = `Below are edits that were proposed independently from different groups of attempts. Merge them: unite those that say the same, settle those that
conflict, keep distinct ones apart, and drop none that is distinct and useful. In "sources" list the ids of every input edit an output edit comes from.`;

const COMBINE_TASK = `The list holds corrective and preservation edits that were merged apart. Combine them into one list. A corrective edit has priority over a
preservation edit unless it conflicts with a success pattern that several tasks support.`;

/** Messages of one merge call (B.2). */
export function mergeMessages(branch: EditKind | 'combined', brief: CritiqueBrief, bundles: readonly (readonly Edit[])[]): Message[] {
  const task = branch === 'combined' ? COMBINE_TASK : MERGE_TASK;
  const format = `{"edits": [{"op": "append", "content": "…", "kind": "${branch === 'combined' ? 'corrective' : branch}", "sources": ["input edit id"]}]}`;
  const user = [
    `<call kind="merge" branch="${branch}" max_edit_chars="${brief.maxEditChars}">`,
    contextSection(brief),
    historySection(brief.history),
    ...(brief.avoid.length > 0 ? [section('avoid', brief.avoid.map(renderEdit))] : []),
    ...bundles.map((edits) => section('bundle', edits.map(renderEdit))),
  ].join('\n');
  return [
    { role: 'system', content: [ROLE, task, EDIT_RULES, `Answer in this form:\n${format}`].join('\n\n') },
    { role: 'user', content: user },
  ];
}

const REVIEW_TASK = `Judge each proposed edit against the evidence cards listed with it; they come from all groups of attempts, whichever group proposed the edit.
Verdicts: "retain" when the evidence carries it; "narrow" when it holds only under a condition (give the narrowed "content"); "revise" when
the evidence asks for another wording or action (give the new "content"); "insufficient_evidence" when the cards do not carry it. Attempts at one
task are not independent: count tasks, not attempts. For each card you rely on say whether it "supports", "limits" or "contradicts".`;

const REVIEW_FORMAT = `{"reviews": [{"edit_id": "…", "verdict": "retain", "reason": "…",
 "evidence": [{"task_id": "…", "rollout_id": "…", "relation": "supports", "reason": "…"}]}]}`;

/** Messages of the cross-group review (C.3.2). */
export function reviewMessages(
  brief: CritiqueBrief,
  items: readonly { readonly edit: Edit; readonly cards: readonly VerifiedCard[] }[],
): Message[] {
  const user = [
    `<call kind="review" max_edit_chars="${brief.maxEditChars}">`,
    contextSection(brief),
    ...items.map(({ edit, cards }) => section('review', [renderEdit(edit), ...cards.map(renderCard)])),
  ].join('\n');
  return [
    { role: 'system', content: [ROLE, REVIEW_TASK, `Answer in this form:\n${REVIEW_FORMAT}`].join('\n\n') },
    { role: 'user', content: user },
  ];
}

const RANK_TASK = `There are more edits than may be applied at once. Order them by how much they should help on unseen tasks, best first, by their ids.`;

/** Messages of the call that ranks edits above the budget. */
export function rankMessages(brief: CritiqueBrief, edits: readonly Edit[], budget: number): Message[] {
  const user = [
    `<call kind="rank" budget="${budget}">`,
    contextSection(brief),
    historySection(brief.history),
    section('edits', edits.map(renderEdit)),
  ].join('\n');
  return [
    { role: 'system', content: [ROLE, RANK_TASK, 'Answer in this form:\n{"order": ["edit id", "…"]}'].join('\n\n') },
    { role: 'user', content: user },
  ];
}

function contextSection(brief: CritiqueBrief): string {
  return [
    `<context chars="${brief.context.length}" limit="${brief.maxContextChars}">`,
    ...(brief.context === '' ? [] : [indent(brief.context)]),
    '</context>',
  ].join('\n');
}

function historySection(history: readonly HistoryEntry[]): string {
  const entries = history.flatMap(({ step, decision, reference, candidate, edits }) => {
    const scores = candidate === undefined ? `score ${percent(reference)}` : `score ${percent(reference)} -> ${percent(candidate)}`;
    return [`step ${step} ${decision}, ${scores}`, ...edits.map((edit) => indent(renderEdit(edit)))];
  });
  return section('history', entries);
}

function section(name: string, lines: readonly string[]): string {
  return [`<${name}>`, ...lines, `</${name}>`].join('\n');
}

function percent(rate: number): string {
  return `${(100 * rate).toFixed(1)}%`;
}
