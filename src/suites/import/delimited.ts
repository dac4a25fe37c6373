import Papa from 'papaparse';
import { unreadable } from './faults.ts';
import type { Row, Table } from './table.ts';

/**
 * Rows of comma-, semicolon-, bar- or tab-separated text whose first row names the columns. Header names are trimmed, cells
 * are kept as they stand. Columns are checked by the caller.
 * @param text with `\n` line ends.
 */
export function readDelimited(file: string, text: string, format: 'csv' | 'tsv'): Table {
  const delimiter = format === 'tsv' ? { delimiter: '\t' } : { delimitersToGuess: [',', ';', '\t', '|'] };
  // Headers are ours to read: the parser would rename duplicates and lose a column called __proto__.
  const { data, errors } = Papa.parse<string[]>(text, { ...delimiter, newline: '\n', header: false, skipEmptyLines: false });
  const lines = lineNumbers(data);
  const fault = errors.find(({ type }) => type === 'Quotes');
  if (fault) {
    const line = lines[fault.row ?? 0] ?? 1;
    throw unreadable(
      file,
      { line },
      `a quoted cell is ${fault.code === 'MissingQuotes' ? 'never closed' : 'followed by other text'}`,
      QUOTES_HINT,
    );
  }
  const filled = data.map((cells, i) => ({ cells, line: lines[i]! })).filter(({ cells }) => cells.some((cell) => cell.trim() !== ''));
  const [header, ...records] = filled;
  if (!header) throw unreadable(file, {}, 'is empty', 'Choose a file with a header and at least one record.');
  const columns = header.cells.map((name) => name.trim());
  const rows = records.map(({ cells, line }, i): Row => {
    if (cells.length !== columns.length) {
      const message = `has ${cells.length} cells where the header has ${columns.length}`;
      throw unreadable(file, { row: i + 1, line }, message, 'Put cells that hold the delimiter or line breaks in double quotes.');
    }
    return { row: i + 1, line, cells: toRecord(columns, cells) };
  });
  return { file, format, columns, rows };
}

const QUOTES_HINT = 'Double the quotes inside a quoted cell ("" for "), and close every cell that begins with one.';

/** The line where each row begins; a row takes one line more than its cells hold line breaks. */
function lineNumbers(rows: readonly (readonly string[])[]): number[] {
  let line = 1;
  return rows.map((cells) => {
    const begin = line;
    line += 1 + cells.reduce((sum, cell) => sum + cell.split('\n').length - 1, 0);
    return begin;
  });
}

/** By definition, not by assignment: a column may be called `__proto__` until the caller has refused it. */
function toRecord(columns: readonly string[], cells: readonly string[]): Record<string, string> {
  return Object.fromEntries(columns.map((column, i) => [column, cells[i]!]));
}
