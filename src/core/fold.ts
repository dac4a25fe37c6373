/**
 * Text folding for comparisons that must survive typography: every fold keeps, for each folded code unit, the range of the
 * original it came from, so that a match in folded text can be shown or edited in the original.
 *
 * - `typography`: line ends to `\n`, Unicode NFKC, curly quotes and primes to `'` and `"`, dashes to `-`.
 * - `spacing`: the same, and every run of white space to one space.
 */
export type FoldLevel = 'typography' | 'spacing';

export interface FoldedText {
  readonly text: string;
  /** Original offset where folded unit i begins. */
  readonly starts: Int32Array;
  /** Original offset just behind folded unit i. */
  readonly ends: Int32Array;
}

export interface TextRange {
  readonly start: number;
  readonly end: number;
}

const SINGLE_QUOTES = /[\u2018\u2019\u201a\u201b\u2032\u02bc\uff07]/gu;
const DOUBLE_QUOTES = /[\u201c\u201d\u201e\u201f\u2033\uff02]/gu;
const DASHES = /[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/gu;

/**
 * Pieces that NFKC may be applied to one by one: a character with the marks that compose with it, or a run of Hangul jamo.
 * (NFKC of the whole differs from NFKC of pieces only where characters compose across them.)
 */
const PIECE = /\r\n?|[\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff]+|[^\p{M}\uff9e\uff9f]?[\p{M}\uff9e\uff9f]+|[\s\S]/gu;
const SPACE = /\s/u;

/** Folds `text`; linear in its length. */
export function foldText(text: string, level: FoldLevel): FoldedText {
  const out: string[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  let inSpace = false;
  for (const match of text.matchAll(PIECE)) {
    const piece = match[0];
    const start = match.index;
    const end = start + piece.length;
    const folded = foldPiece(piece);
    for (let i = 0; i < folded.length; i++) {
      const unit = folded[i] as string;
      if (level === 'spacing' && SPACE.test(unit)) {
        if (inSpace) {
          ends[ends.length - 1] = end;
          continue;
        }
        inSpace = true;
        out.push(' ');
      } else {
        inSpace = false;
        out.push(unit);
      }
      starts.push(start);
      ends.push(end);
    }
  }
  return { text: out.join(''), starts: Int32Array.from(starts), ends: Int32Array.from(ends) };
}

/** The folded text alone, trimmed: a key for equality up to typography and white space. */
export function foldKey(text: string): string {
  return foldText(text, 'spacing').text.trim();
}

/**
 * Every occurrence of the folded `needle` in a folded text, as ranges of the original, overlapping ones included.
 * Matches that begin or end inside one original character (half of a ligature) do not count.
 */
export function findFolded(haystack: FoldedText, needle: string, from = 0): TextRange[] {
  const found: TextRange[] = [];
  if (needle === '') return found;
  for (let at = haystack.text.indexOf(needle, from); at !== -1; at = haystack.text.indexOf(needle, at + 1)) {
    const range = originalRange(haystack, at, at + needle.length);
    if (range) found.push(range);
  }
  return found;
}

/** The original range of folded units [from, to), or undefined when it would split an original character. */
export function originalRange(folded: FoldedText, from: number, to: number): TextRange | undefined {
  const start = folded.starts[from];
  const end = folded.ends[to - 1];
  if (start === undefined || end === undefined) return undefined;
  if (from > 0 && folded.starts[from - 1] === start) return undefined;
  if (to < folded.text.length && folded.ends[to] === end) return undefined;
  return { start, end };
}

function foldPiece(piece: string): string {
  if (piece.length === 1 && piece.charCodeAt(0) < 0x80) return piece === '\r' ? '\n' : piece;
  if (piece === '\r\n') return '\n';
  return foldMarks(foldMarks(piece).normalize('NFKC'));
}

function foldMarks(text: string): string {
  return text.replace(SINGLE_QUOTES, "'").replace(DOUBLE_QUOTES, '"').replace(DASHES, '-');
}
