import { similarity, words } from './similarity.ts';
import type { Edit } from './types.ts';

export const SAME_FIELD = 0.88;
export const SAME_FAMILY = 0.72;
export const FAMILY_STRIKES = 3;

/** A candidate that went through the gate. */
export interface JudgedPatch {
  readonly edits: readonly Edit[];
  readonly accepted: boolean;
}

/** Why the step buffer blocks a patch, or undefined when it may be validated. */
export interface Block {
  readonly reason: 'repeated-combination' | 'exhausted-family';
  /** The edits to avoid when proposing again. */
  readonly edits: readonly Edit[];
}

/**
 * The step buffer (App. A): blocks a patch that repeats a rejected combination of edits, or holds an edit whose family was in
 * three distinct rejected candidates and in no accepted one.
 */
export function screenPatch(patch: readonly Edit[], judged: readonly JudgedPatch[]): Block | undefined {
  const rejected = distinctPatches(judged.filter(({ accepted }) => !accepted).map(({ edits }) => edits));
  if (rejected.some((edits) => sameCombination(patch, edits))) return { reason: 'repeated-combination', edits: patch };
  const accepted = judged.filter((candidate) => candidate.accepted).flatMap(({ edits }) => edits);
  const exhausted = patch.filter((edit) => {
    if (accepted.some((other) => sameFamily(edit, other))) return false;
    return rejected.filter((edits) => edits.some((other) => sameFamily(edit, other))).length >= FAMILY_STRIKES;
  });
  return exhausted.length > 0 ? { reason: 'exhausted-family', edits: exhausted } : undefined;
}

/** Near-equal edits: same operation, and every field similar. */
export function sameEdit(a: Edit, b: Edit): boolean {
  if (a.op !== b.op) return false;
  const alike = (left: string | undefined, right: string | undefined) => similarity(left ?? '', right ?? '') >= SAME_FIELD;
  const content = a.op === 'delete' || (alike(a.content, b.content) && polarity(a.content ?? '') === polarity(b.content ?? ''));
  return content && (a.op === 'append' || alike(a.target, b.target));
}

/** Whether two lists of edits can be matched one to one. */
export function sameCombination(a: readonly Edit[], b: readonly Edit[]): boolean {
  if (a.length !== b.length) return false;
  const owner = new Array<number>(b.length).fill(-1);
  // Augmenting paths: greedy matching could miss a perfect one where edits resemble several others.
  const assign = (i: number, tried: Set<number>): boolean =>
    b.some((other, j) => {
      if (tried.has(j) || !sameEdit(a[i] as Edit, other)) return false;
      tried.add(j);
      const previous = owner[j] as number;
      if (previous !== -1 && !assign(previous, tried)) return false;
      owner[j] = i;
      return true;
    });
  return a.every((_, i) => assign(i, new Set()));
}

/** Edits that say about the same, whatever their operation and target: similar text of the same polarity. */
export function sameFamily(a: Edit, b: Edit): boolean {
  const left = a.content ?? a.target ?? '';
  const right = b.content ?? b.target ?? '';
  return polarity(left) === polarity(right) && similarity(left, right) >= SAME_FAMILY;
}

const NEGATORS = new Set(['never', 'not', 'no', 'avoid', 'without', 'cannot', 'ignore', 'stop', 'skip', 'neither', 'nor']);
const OMITTERS = new Set(['forget', 'fail', 'neglect', 'omit', 'miss']);

/** `+` for an instruction to do, `-` for one not to: the parity of its negations (`never forget to` is `+`). */
export function polarity(text: string): '+' | '-' {
  const turns = words(text).filter((word) => NEGATORS.has(word) || OMITTERS.has(word) || /n['’]t$/u.test(word)).length;
  return turns % 2 === 0 ? '+' : '-';
}

/** Rejected candidates without their repetitions: a duplicate adds no strike. */
function distinctPatches(patches: readonly (readonly Edit[])[]): (readonly Edit[])[] {
  const distinct: (readonly Edit[])[] = [];
  for (const patch of patches) if (!distinct.some((other) => sameCombination(patch, other))) distinct.push(patch);
  return distinct;
}
