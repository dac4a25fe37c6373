import { NacreError } from '../../core/errors.ts';

/** A place in imported data, in the reader's own numbers. */
export interface Place {
  /** From 1, without the header. */
  readonly row?: number;
  /** Line of the file where the row begins, from 1. */
  readonly line?: number;
  readonly column?: string;
}

/** Something wrong with imported data. Errors must be corrected before the suite can be made; warnings need not. */
export interface Problem extends Place {
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

/** A place in words, e.g. `row 3 (line 7), column "answer"`; empty for the whole. */
export function placeText({ row, line, column }: Place): string {
  const parts: string[] = [];
  if (row !== undefined) parts.push(`row ${row}${line === undefined ? '' : ` (line ${line})`}`);
  else if (line !== undefined) parts.push(`line ${line}`);
  if (column !== undefined) parts.push(`column "${column}"`);
  return parts.join(', ');
}

/** A problem as a sentence. */
export function problemText(problem: Problem): string {
  const place = placeText(problem);
  return place === '' ? problem.message : `${place}: ${problem.message}`;
}

/** The error for a file that cannot be read as a table. */
export function unreadable(file: string, place: Place, message: string, hint: string): NacreError {
  return new NacreError('import-unreadable', `${file}: ${problemText({ ...place, severity: 'error', message })}.`, hint);
}
