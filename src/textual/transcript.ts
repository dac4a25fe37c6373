import { foldText, type TextRange } from '../core/fold.ts';
import type { Rollout } from '../core/types.ts';
import type { QuoteLocation } from './types.ts';

/** One observation or action of a rollout; the final observation has the turn index `turns.length`. */
export interface TranscriptField {
  readonly turn: number;
  readonly field: 'observation' | 'action';
  readonly text: string;
}

/** What was said and seen at run time, in order: no system text, no context, no reward or evaluator rows. */
export function transcriptFields(rollout: Rollout): TranscriptField[] {
  const fields: TranscriptField[] = [];
  rollout.turns.forEach(({ observation, action }, turn) => {
    fields.push({ turn, field: 'observation', text: observation }, { turn, field: 'action', text: action });
  });
  fields.push({ turn: rollout.turns.length, field: 'observation', text: rollout.finalObservation });
  return fields;
}

export interface LocatedQuote {
  readonly location: QuoteLocation;
  /** The original text that an ellipsis of the quote stands for; several are joined by ` … `. */
  readonly elided?: string;
}

const ELLIPSIS = /\s*\[?(?:\.\s?){2,}\.\]?\s*/u;

/** The pieces of a folded quote around its ellipses; empty ones (a leading or trailing ellipsis) are left out. */
export function quotePieces(foldedQuote: string): string[] {
  return foldedQuote.split(ELLIPSIS).filter((piece) => piece !== '');
}

/**
 * Finds a quote in a rollout's runtime transcript after folding typography and white space on both sides. A quote is taken
 * literally first; if it holds an ellipsis, its pieces must follow each other in order. The first place wins.
 */
export function locateQuote(rollout: Rollout, quote: string): LocatedQuote | undefined {
  const fields = transcriptFields(rollout);
  const text = fields.map((field) => field.text).join('\n');
  const haystack = foldText(text, 'spacing');
  const needle = foldText(quote, 'spacing').text.trim();
  if (needle === '') return undefined;

  const original = (from: number, to: number): TextRange => ({
    start: haystack.starts[from] as number,
    end: haystack.ends[to - 1] as number,
  });
  const whole = haystack.text.indexOf(needle);
  if (whole !== -1) return { location: locationOf(fields, original(whole, whole + needle.length)) };

  const pieces = quotePieces(needle);
  if (pieces.length < 2) {
    const [only] = pieces;
    const at = only === undefined ? -1 : haystack.text.indexOf(only);
    return only === undefined || at === -1 ? undefined : { location: locationOf(fields, original(at, at + only.length)) };
  }
  const ranges: TextRange[] = [];
  let from = 0;
  for (const piece of pieces) {
    const at = haystack.text.indexOf(piece, from);
    if (at === -1) return undefined;
    ranges.push(original(at, at + piece.length));
    from = at + piece.length;
  }
  const gaps = ranges.slice(1).map((range, i) => text.slice((ranges[i] as TextRange).end, range.start));
  const start = (ranges[0] as TextRange).start;
  const end = (ranges.at(-1) as TextRange).end;
  return { location: locationOf(fields, { start, end }), elided: gaps.map((gap) => gap.trim()).join(' … ') };
}

function locationOf(fields: readonly TranscriptField[], range: TextRange): QuoteLocation {
  let offset = 0;
  let first: { readonly field: TranscriptField; readonly start: number } | undefined;
  for (const field of fields) {
    const fieldEnd = offset + field.text.length;
    if (!first && range.start <= fieldEnd) first = { field, start: Math.max(0, range.start - offset) };
    if (first && range.end <= fieldEnd) {
      const { turn, field: name, text } = first.field;
      const end = range.end - offset;
      if (first.field === field) return { turn, field: name, start: first.start, end };
      return { turn, field: name, start: first.start, end: text.length, through: { turn: field.turn, field: field.field, end } };
    }
    offset = fieldEnd + 1;
  }
  throw new RangeError('a quote range lies outside its transcript');
}
