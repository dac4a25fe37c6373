import { diffLines, diffWordsWithSpace } from 'diff';

/** One line of a diff. A changed line holds its words with those that differ marked. */
export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed' | 'gap';
  readonly words: readonly { readonly text: string; readonly changed: boolean }[];
}

/** Unchanged lines kept around a change. */
const AROUND = 2;

/** Lines of `before` and `after` with what was added and removed; long unchanged stretches are one `gap` line that counts them. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const lines: DiffLine[] = [];
  const parts = diffLines(before, after);
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!;
    const next = parts[i + 1];
    const texts = splitLines(part.value);
    if (part.removed && next?.added) {
      const added = splitLines(next.value);
      if (texts.length === added.length) {
        const pairs = texts.map((text, line) => wordDiff(text, added[line]!));
        lines.push(...pairs.map(([removed]) => removed), ...pairs.map(([, one]) => one));
        i += 1;
        continue;
      }
    }
    lines.push(
      ...texts.map(
        (text): DiffLine => ({ kind: part.added ? 'added' : part.removed ? 'removed' : 'same', words: [{ text, changed: false }] }),
      ),
    );
  }
  return foldUnchanged(lines);
}

/** How many lines were added and removed. */
export function diffCounts(lines: readonly DiffLine[]): { readonly added: number; readonly removed: number } {
  const count = (kind: DiffLine['kind']) => lines.filter((line) => line.kind === kind).length;
  return { added: count('added'), removed: count('removed') };
}

function wordDiff(before: string, after: string): [DiffLine, DiffLine] {
  const parts = diffWordsWithSpace(before, after);
  const side = (skip: 'added' | 'removed', kind: 'added' | 'removed'): DiffLine => ({
    kind,
    words: parts.filter((part) => !part[skip]).map((part) => ({ text: part.value, changed: part[kind] })),
  });
  return [side('added', 'removed'), side('removed', 'added')];
}

function foldUnchanged(lines: readonly DiffLine[]): DiffLine[] {
  const folded: DiffLine[] = [];
  let at = 0;
  while (at < lines.length) {
    let end = at;
    while (end < lines.length && lines[end]!.kind === 'same') end += 1;
    if (end === at) {
      folded.push(lines[at]!);
      at += 1;
      continue;
    }
    const head = at === 0 ? 0 : AROUND;
    const tail = end === lines.length ? 0 : AROUND;
    const hidden = end - at - head - tail;
    if (hidden > 1) {
      folded.push(
        ...lines.slice(at, at + head),
        { kind: 'gap', words: [{ text: String(hidden), changed: false }] },
        ...lines.slice(end - tail, end),
      );
    } else folded.push(...lines.slice(at, end));
    at = end;
  }
  return folded;
}

function splitLines(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
