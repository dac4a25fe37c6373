import { type FoldLevel, findFolded, foldText, type TextRange } from '../core/fold.ts';
import { holdsMarker, protectedRegions } from './context.ts';
import type { Edit, EditOp, EditReport, EditStatus } from './types.ts';

export interface PatchLimits {
  readonly maxEditChars: number;
  readonly maxContextChars: number;
}

const OPS: readonly EditOp[] = ['append', 'insert_after', 'replace', 'delete'];
const LEVELS: readonly FoldLevel[] = ['typography', 'spacing'];

/**
 * Applies edits one after the other and says for each what became of it (§3.3). An edit that cannot be applied exactly where it
 * asks changes nothing. Characters are UTF-16 code units.
 * @throws {NacreError} `context-markers` when the context's own markers are broken.
 */
export function applyPatch(
  context: string,
  edits: readonly Edit[],
  limits: PatchLimits,
): { readonly context: string; readonly reports: readonly EditReport[] } {
  protectedRegions(context);
  let current = context;
  const reports = edits.map((edit): EditReport => {
    const result = applyEdit(current, edit, limits);
    if (result.context !== undefined) current = result.context;
    return { edit, status: result.status };
  });
  return { context: current, reports };
}

type Applied = { readonly status: EditStatus; readonly context?: string };

function applyEdit(context: string, edit: Edit, limits: PatchLimits): Applied {
  const defect = checkShape(edit, limits);
  if (defect) return { status: defect };
  const target = edit.target ?? '';
  const content = edit.content ?? '';
  if (edit.op === 'append') {
    if (hasLines(context, content)) return { status: 'no-op' };
    return settle(context, appended(context, content), limits);
  }
  const place = locateTarget(context, target);
  if (typeof place === 'string') return { status: place };
  if (protectedRegions(context).some((region) => place.start < region.end && place.end > region.start)) return { status: 'protected' };
  if (edit.op === 'insert_after') return settle(context, insertedAfter(context, place.end, content), limits);
  if (edit.op === 'delete') return settle(context, deleted(context, place), limits);
  return settle(context, context.slice(0, place.start) + content + context.slice(place.end), limits);
}

function checkShape(edit: Edit, limits: PatchLimits): EditStatus | undefined {
  if (!OPS.includes(edit.op)) return 'unknown-op';
  const needsContent = edit.op !== 'delete';
  const needsTarget = edit.op !== 'append';
  if (needsContent && !isText(edit.content)) return 'malformed';
  if (needsTarget && !isText(edit.target)) return 'malformed';
  if (needsContent && holdsMarker(edit.content ?? '')) return 'protected';
  if (needsContent && (edit.content ?? '').length > limits.maxEditChars) return 'too-long';
  return undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

/** Accepts a result unless it is the same text, too long (and not shorter than before), or has harmed a region. */
function settle(before: string, after: string, limits: PatchLimits): Applied {
  if (after === before) return { status: 'no-op' };
  if (after.length > limits.maxContextChars && after.length > before.length) return { status: 'too-long' };
  if (!sameRegions(before, after)) return { status: 'protected' };
  return { status: 'applied', context: after };
}

/** Text around an edit may complete a marker that neither held alone; comparing the regions catches that too. */
function sameRegions(before: string, after: string): boolean {
  const texts = (context: string) => protectedRegions(context).map(({ start, end }) => context.slice(start, end));
  let left: string[];
  let right: string[];
  try {
    left = texts(before);
    right = texts(after);
  } catch {
    // `before` was checked on entry, so it is `after` whose markers are broken.
    return false;
  }
  return left.length === right.length && left.every((text, i) => text === right[i]);
}

/** The one place where the target stands, at the first level of folding at which it is found at all. */
export function locateTarget(context: string, target: string): TextRange | 'target-not-found' | 'target-ambiguous' {
  const exact: TextRange[] = [];
  for (let at = context.indexOf(target); at !== -1; at = context.indexOf(target, at + 1))
    exact.push({ start: at, end: at + target.length });
  if (exact.length > 0) return unique(exact);
  for (const level of LEVELS) {
    const folded = foldText(target, level).text;
    const found = findFolded(foldText(context, level), level === 'spacing' ? folded.trim() : folded);
    if (found.length > 0) return unique(found);
  }
  return 'target-not-found';
}

function unique(ranges: readonly TextRange[]): TextRange | 'target-ambiguous' {
  return ranges.length === 1 ? (ranges[0] as TextRange) : 'target-ambiguous';
}

/** Whether the content already stands in the context as lines of its own. */
function hasLines(context: string, content: string): boolean {
  return `\n${context.replace(/\r\n/g, '\n')}\n`.includes(`\n${content.trim().replace(/\r\n/g, '\n')}\n`);
}

/** At the end of the document; before the protected regions that end it, if any do. */
function appended(context: string, content: string): string {
  const regions = protectedRegions(context);
  let at = context.length;
  for (let i = regions.length - 1; i >= 0; i--) {
    const region = regions[i] as { start: number; end: number };
    if (context.slice(region.end, at).trim() !== '') break;
    at = region.start;
  }
  if (at === context.length) {
    const body = context.trimEnd();
    return body === '' ? content : `${body}\n${content}`;
  }
  const before = context.slice(0, at);
  const lead = before === '' || before.endsWith('\n') ? '' : '\n';
  return `${before}${lead}${content.trimEnd()}\n${context.slice(at)}`;
}

/** On lines of its own, directly behind the target. */
function insertedAfter(context: string, at: number, content: string): string {
  const before = context.slice(0, at);
  const after = context.slice(at);
  const lead = before.endsWith('\n') ? '' : '\n';
  const trail = after === '' || (lead !== '' && /^\r?\n/.test(after)) ? '' : '\n';
  return before + lead + content + trail + after;
}

/** The range goes, and its line with it when nothing else is left there. */
function deleted(context: string, { start, end }: TextRange): string {
  const before = context.slice(0, start);
  const after = context.slice(end);
  const startsLine = before === '' || before.endsWith('\n');
  const lineEnd = /^\r?\n/.exec(after);
  if (startsLine && lineEnd) return before + after.slice(lineEnd[0].length);
  if (startsLine && after === '') return before.replace(/\r?\n$/, '');
  return before + after;
}
