/** A piece of text, and the id of what it is highlighted for, if anything. */
export interface Piece {
  readonly text: string;
  readonly id?: string;
}

/** Cuts text at marked ranges. Ranges outside of the text are ignored, a range that overlaps an earlier one begins after it. */
export function cutAt(text: string, ranges: readonly { readonly start: number; readonly end: number; readonly id: string }[]): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const range of [...ranges].sort((a, b) => a.start - b.start)) {
    const start = Math.max(at, range.start);
    const end = Math.min(text.length, range.end);
    if (end <= start) continue;
    if (start > at) pieces.push({ text: text.slice(at, start) });
    pieces.push({ text: text.slice(start, end), id: range.id });
    at = end;
  }
  if (at < text.length) pieces.push({ text: text.slice(at) });
  return pieces;
}
