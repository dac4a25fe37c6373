import * as v from 'valibot';
import type { Asked, Asker } from './ask.ts';
import { verifyCards } from './cards.ts';
import type { TaskBlock } from './dedupe.ts';
import { type CallRoute, type CritiqueBrief, critiqueMessages } from './prompts.ts';
import { CRITIQUE_JSON, CritiqueAnswer, ProposedEdit } from './protocol.ts';
import type { Edit, EditKind, EditOp, RejectedCard, Route, VerifiedCard } from './types.ts';

/** One critique call to make. */
export interface CritiqueCall {
  readonly id: string;
  readonly route: CallRoute;
  readonly blocks: readonly TaskBlock[];
}

/** What one critique call came to. */
export interface Bundle {
  readonly callId: string;
  readonly route: CallRoute;
  readonly edits: readonly Edit[];
  readonly dropped: readonly { readonly edit: Edit; readonly reason: string }[];
  readonly cards: readonly VerifiedCard[];
  readonly rejectedCards: readonly RejectedCard[];
  readonly unusable: number;
  readonly notes: readonly string[];
}

/** Turns of a trajectory that are kept when a single task does not fit, tried from the left. */
const KEEP_TURNS = [12, 6, 2];

/**
 * Critique calls of a step (§3.2, B.2): a mixed task alone with all its distinct siblings; homogeneous tasks in minibatches; a
 * trailing single task joins the minibatch before it, and a route of one task is skipped.
 */
export function planCritique(
  blocks: readonly TaskBlock[],
  options: { readonly critiqueBatch: number; readonly outcomeRouting: boolean; readonly prefix: string },
): { readonly calls: readonly CritiqueCall[]; readonly skipped: readonly Route[] } {
  const { critiqueBatch, prefix } = options;
  if (!options.outcomeRouting) {
    const pools = poolTrajectories(blocks, critiqueBatch);
    return { calls: pools.map((pool, i) => ({ id: `${prefix}/pooled/${i}`, route: 'pooled', blocks: pool })), skipped: [] };
  }
  const calls: CritiqueCall[] = blocks
    .filter(({ route }) => route === 'mixed')
    .map((block, i) => ({ id: `${prefix}/mixed/${i}`, route: 'mixed', blocks: [block] }));
  const skipped: Route[] = [];
  for (const route of ['all-success', 'all-failure'] as const) {
    const members = blocks.filter((block) => block.route === route);
    if (members.length === 1) skipped.push(route);
    if (members.length < 2) continue;
    minibatches(members, critiqueBatch).forEach((batch, i) => {
      calls.push({ id: `${prefix}/${route}/${i}`, route, blocks: batch });
    });
  }
  return { calls, skipped };
}

/** Pieces of `size`; a last piece of one joins the piece before it. */
export function minibatches<T>(items: readonly T[], size: number): T[][] {
  const batches: T[][] = [];
  for (let at = 0; at < items.length; at += size) batches.push(items.slice(at, at + size));
  const last = batches.at(-1);
  if (last?.length === 1 && batches.length > 1) {
    batches.pop();
    (batches.at(-1) as T[]).push(last[0] as T);
  }
  return batches;
}

/** Without outcome routing (§4.3): minibatches of trajectories, whatever their tasks and outcomes. */
function poolTrajectories(blocks: readonly TaskBlock[], size: number): TaskBlock[][] {
  const all = blocks.flatMap((block) => block.trajectories.map((trajectory) => ({ block, trajectory })));
  const pools: TaskBlock[][] = [];
  for (let at = 0; at < all.length; at += size) {
    const pool: TaskBlock[] = [];
    for (const { block, trajectory } of all.slice(at, at + size)) {
      const last = pool.at(-1);
      if (last?.task.id === block.task.id) pool[pool.length - 1] = { ...last, trajectories: [...last.trajectories, trajectory] };
      else pool.push({ ...block, trajectories: [trajectory] });
    }
    pools.push(pool);
  }
  return pools;
}

/**
 * Makes one critique call. When it does not fit the critic's context, a homogeneous batch of four or more tasks is halved
 * (siblings of a task stay together) and otherwise the middle turns are elided; both are noted.
 */
export async function critique(call: CritiqueCall, brief: CritiqueBrief, budget: number, ask: Asker): Promise<Bundle[]> {
  const maxEdits = call.route === 'mixed' ? 1 : budget;
  const put = (key: string, keepTurns?: number) =>
    ask(key, 'critique', {
      messages: critiqueMessages(call.route, maxEdits, brief, call.blocks, keepTurns),
      schema: CritiqueAnswer,
      jsonSchema: CRITIQUE_JSON,
    });

  let asked = await put(`critique ${call.id}`);
  const notes: string[] = [];
  if (asked.status === 'too-long' && call.route !== 'mixed' && call.blocks.length >= 4) {
    const half = Math.ceil(call.blocks.length / 2);
    const parts = [call.blocks.slice(0, half), call.blocks.slice(half)];
    const bundles: Bundle[] = [];
    for (const [i, blocks] of parts.entries()) {
      bundles.push(...(await critique({ ...call, id: `${call.id}.${i}`, blocks }, brief, budget, ask)));
    }
    const [first, ...rest] = bundles as [Bundle, ...Bundle[]];
    return [{ ...first, notes: [`${call.id}: halved, ${call.blocks.length} tasks did not fit the critic`, ...first.notes] }, ...rest];
  }
  for (const keep of KEEP_TURNS) {
    if (asked.status !== 'too-long') break;
    notes.push(`${call.id}: middle turns elided, ${keep} kept of each trajectory`);
    asked = await put(`critique ${call.id} keep ${keep}`, keep);
  }
  return [readBundle(call, maxEdits, asked, notes)];
}

function readBundle(call: CritiqueCall, maxEdits: number, asked: Asked<CritiqueAnswer>, notes: readonly string[]): Bundle {
  const base = { callId: call.id, route: call.route, unusable: asked.unusable };
  if (asked.status !== 'answered') {
    const why = asked.status === 'too-long' ? 'did not fit the critic even with its middle elided' : asked.problem;
    return { ...base, edits: [], dropped: [], cards: [], rejectedCards: [], notes: [...notes, `${call.id}: no critique, ${why}`] };
  }
  const { edits: rawEdits, cards: rawCards, divergence } = asked.value;
  const { edits, dropped } = readEdits(call, rawEdits ?? [], maxEdits, (divergence ?? '').trim() !== '');
  const { cards, rejected } = verifyCards(rawCards ?? [], call.blocks, call.id);
  return { ...base, edits, dropped, cards, rejectedCards: rejected, notes };
}

/** Reads proposed edits and holds each to what its route allows (C.3.1). */
function readEdits(
  call: CritiqueCall,
  raw: readonly unknown[],
  maxEdits: number,
  namesDivergence: boolean,
): { readonly edits: Edit[]; readonly dropped: { readonly edit: Edit; readonly reason: string }[] } {
  const edits: Edit[] = [];
  const dropped: { edit: Edit; reason: string }[] = [];
  raw.forEach((entry, i) => {
    const id = `${call.id}#${i}`;
    const parsed = v.safeParse(ProposedEdit, entry);
    if (!parsed.success) {
      dropped.push({ edit: { id, op: 'append', kind: 'corrective', support: [] }, reason: 'malformed' });
      return;
    }
    const edit = toEdit(id, parsed.output, call);
    const reason = routeDefect(call, edit, namesDivergence) ?? (edits.length >= maxEdits ? 'over-call-limit' : undefined);
    if (reason === undefined) edits.push(edit);
    else dropped.push({ edit, reason });
  });
  return { edits, dropped };
}

function toEdit(id: string, proposed: ProposedEdit, call: CritiqueCall): Edit {
  const shown = new Set(call.blocks.map(({ task }) => task.id));
  const named = [...new Set(proposed.support ?? [])].filter((taskId) => shown.has(taskId));
  return {
    id,
    // An unknown operation keeps its name: the patch reports it as such.
    op: proposed.op as EditOp,
    ...(proposed.target == null ? {} : { target: proposed.target }),
    ...(proposed.content == null ? {} : { content: proposed.content.trim() }),
    kind: kindOf(call.route, proposed.kind),
    support: call.route === 'mixed' ? [...shown] : named,
  };
}

function kindOf(route: CallRoute, named: string | null | undefined): EditKind {
  if (route === 'all-success') return 'preservation';
  if (route === 'all-failure') return 'corrective';
  return named === 'preservation' ? 'preservation' : 'corrective';
}

function routeDefect(call: CritiqueCall, edit: Edit, namesDivergence: boolean): string | undefined {
  if (call.route === 'mixed') return namesDivergence ? undefined : 'divergence-not-named';
  if (call.route === 'pooled') return undefined;
  return edit.support.length >= 2 ? undefined : 'support-below-two-tasks';
}
