import type { Asker } from './ask.ts';
import { sameEdit } from './buffer.ts';
import type { Bundle } from './critic.ts';
import { type CritiqueBrief, mergeMessages } from './prompts.ts';
import { MERGE_JSON, MergeAnswer, type ProposedEdit } from './protocol.ts';
import type { Edit, EditKind, EditOp, MergeNode } from './types.ts';

export interface Merged {
  readonly edits: readonly Edit[];
  /** The merge tree, leaves first. */
  readonly nodes: readonly MergeNode[];
  readonly unusable: number;
  readonly notes: readonly string[];
}

interface Heap {
  readonly id: string;
  readonly edits: readonly Edit[];
}

export interface MergeOptions {
  readonly prefix: string;
  readonly mergeBatch: number;
  readonly brief: CritiqueBrief;
  readonly ask: Asker;
}

/** Hierarchical merge of the proposals (§3.3, B.2): corrective and preservation branches apart, then combined. */
export async function mergeProposals(bundles: readonly Bundle[], options: MergeOptions): Promise<Merged> {
  const log = { nodes: [] as MergeNode[], notes: [] as string[], unusable: 0 };
  const branches: Heap[] = [];
  for (const kind of ['corrective', 'preservation'] as const) {
    const heaps = bundles
      .map(({ callId, edits }) => ({ id: callId, edits: edits.filter((edit) => edit.kind === kind) }))
      .filter(({ edits }) => edits.length > 0);
    const top = await mergeBranch(kind, heaps, options, log);
    if (top) branches.push(top);
  }
  if (branches.length === 2) {
    const combined = await mergeOnce('combined', 1, 0, branches, options, log);
    return { ...log, edits: combined.edits };
  }
  return { ...log, edits: branches[0]?.edits ?? [] };
}

interface Log {
  readonly nodes: MergeNode[];
  readonly notes: string[];
  unusable: number;
}

async function mergeBranch(kind: EditKind, leaves: readonly Heap[], options: MergeOptions, log: Log): Promise<Heap | undefined> {
  let heaps = leaves.slice();
  for (let level = 1; heaps.length > 1 || (level === 1 && heaps.length === 1); level++) {
    const next: Heap[] = [];
    for (let at = 0; at < heaps.length; at += options.mergeBatch) {
      next.push(await mergeOnce(kind, level, next.length, heaps.slice(at, at + options.mergeBatch), options, log));
    }
    heaps = next;
  }
  return heaps[0];
}

/** One node of the tree; a single heap passes up without a call. */
async function mergeOnce(
  branch: EditKind | 'combined',
  level: number,
  index: number,
  heaps: readonly Heap[],
  options: MergeOptions,
  log: Log,
): Promise<Heap> {
  const id = `${options.prefix}/${branch}/${level}.${index}`;
  const inputs = heaps.flatMap(({ edits }) => edits);
  const node = { id, branch, level, inputs: heaps.map((heap) => heap.id) };
  if (heaps.length === 1) {
    log.nodes.push({ ...node, edits: inputs, call: false, fallback: false });
    return { id, edits: inputs };
  }
  const known = new Set(inputs.map((edit) => edit.id));
  const asked = await options.ask(`merge ${id}`, 'merge', {
    messages: mergeMessages(
      branch,
      options.brief,
      heaps.map(({ edits }) => edits),
    ),
    schema: MergeAnswer,
    jsonSchema: MERGE_JSON,
    complain: ({ edits }) => {
      if (edits.length === 0) return 'The merged list is empty.';
      const stray = edits.findIndex(({ sources }) => !(sources ?? []).some((source) => known.has(source)));
      return stray === -1 ? undefined : `edits.${stray}.sources names none of the input ids.`;
    },
  });
  log.unusable += asked.unusable;
  const answered = asked.status === 'answered';
  if (!answered)
    log.notes.push(`${id}: merged by concatenation, ${asked.status === 'too-long' ? 'the proposals did not fit' : asked.problem}`);
  const edits = answered ? asked.value.edits.map((edit, i) => mergedEdit(`${id}#${i}`, edit, branch, inputs)) : concatenate(inputs);
  log.nodes.push({ ...node, edits, call: true, fallback: !answered });
  return { id, edits };
}

/** A merged edit; its support and its sources are those of the inputs it names, whatever it claims. */
function mergedEdit(id: string, proposed: ProposedEdit, branch: EditKind | 'combined', inputs: readonly Edit[]): Edit {
  const named = inputs.filter((input) => (proposed.sources ?? []).includes(input.id));
  const said = proposed.kind === 'preservation' || proposed.kind === 'corrective' ? proposed.kind : undefined;
  const kind = branch === 'combined' ? (said ?? named[0]?.kind ?? 'corrective') : branch;
  return {
    id,
    op: proposed.op as EditOp,
    ...(proposed.target == null ? {} : { target: proposed.target }),
    ...(proposed.content == null ? {} : { content: proposed.content.trim() }),
    kind,
    ...provenance(named),
  };
}

function provenance(edits: readonly Edit[]): { readonly support: string[]; readonly sources: string[] } {
  return {
    support: [...new Set(edits.flatMap(({ support }) => support))],
    sources: [...new Set(edits.flatMap((edit) => edit.sources ?? [edit.id]))],
  };
}

/** The merge without a model: everything in order, near-equal edits united. */
export function concatenate(edits: readonly Edit[]): Edit[] {
  const out: Edit[] = [];
  for (const edit of edits) {
    const at = out.findIndex((other) => other.kind === edit.kind && sameEdit(other, edit));
    if (at === -1) out.push({ ...edit, ...provenance([edit]) });
    else out[at] = { ...(out[at] as Edit), ...provenance([out[at] as Edit, edit]) };
  }
  return out;
}
