import type { Json } from '../../core/types.ts';
import { FORBIDDEN_KEYS } from '../json.ts';
import { readDelimited } from './delimited.ts';
import { unreadable } from './faults.ts';
import { readJsonLines, readJsonList } from './json-rows.ts';

export const FORMATS = ['csv', 'tsv', 'json', 'jsonl'] as const;
export type Format = (typeof FORMATS)[number];

/** One record of a file. */
export interface Row {
  /** From 1, without the header. */
  readonly row: number;
  /** Line where it begins, from 1; absent in JSON lists. */
  readonly line?: number;
  readonly cells: Readonly<Record<string, Json>>;
}

/** A file as records. Cells of delimited files are texts, exactly as they stand; those of JSON keep their types. */
export interface Table {
  readonly file: string;
  readonly format: Format;
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
}

const MAX_BYTES = 64 * 1024 * 1024;
const MAX_ROWS = 100_000;
const MAX_COLUMNS = 1000;

/**
 * Reads a CSV, TSV, JSON or JSONL file. The format follows from the name, else from how the text begins. Line ends of any
 * kind, a byte-order mark, quoted line breaks and empty lines are read as people mean them; nothing is guessed about types:
 * a column of ids stays text, and whole numbers beyond 2^53 in JSON become text.
 *
 * @param file its name, for messages.
 * @throws {NacreError} `import-unreadable` naming file, row, line and column for: broken quotes or JSON, rows with too many or
 *   too few cells, empty, duplicate or forbidden column names, numbers that are not finite, files without records or beyond
 *   64 MiB, 100,000 rows or 1,000 columns.
 */
export function readTable(file: string, content: string | Uint8Array, format?: Format): Table {
  const size = typeof content === 'string' ? content.length : content.byteLength;
  if (size > MAX_BYTES) throw unreadable(file, {}, 'is larger than 64 MiB', 'Import a part of it.');
  const text = normaliseLines(typeof content === 'string' ? content : decodeText(file, content));
  const kind = format ?? guessFormat(file, text);
  const table = kind === 'json' ? readJsonList(file, text) : kind === 'jsonl' ? readJsonLines(file, text) : readDelimited(file, text, kind);
  if (table.rows.length === 0) throw unreadable(file, {}, 'holds no records', 'Choose a file with at least one record.');
  if (table.rows.length > MAX_ROWS) throw unreadable(file, {}, `holds ${table.rows.length} records`, 'Import at most 100,000.');
  checkColumns(file, table.columns);
  return table;
}

/** Text of a file: UTF-8, or UTF-16 with its byte-order mark. @throws {NacreError} `import-unreadable` for anything else. */
export function decodeText(file: string, bytes: Uint8Array): string {
  const [first, second] = bytes;
  const encoding = first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw unreadable(file, {}, `is not ${encoding.toUpperCase()} text`, 'Save the file as UTF-8 and try again.');
  }
}

/** Without a byte-order mark, every line end `\n`: parsers of delimited text leave a `\r` where a file mixes them. */
function normaliseLines(text: string): string {
  return (text.charCodeAt(0) === 0xfeff ? text.slice(1) : text).replace(/\r\n?/g, '\n');
}

function guessFormat(file: string, text: string): Format {
  const extension = /\.([a-z]+)$/i.exec(file)?.[1]?.toLowerCase();
  if (extension === 'ndjson') return 'jsonl';
  const named = FORMATS.find((format) => format === extension);
  if (named) return named;
  const start = text.trimStart();
  if (start.startsWith('[')) return 'json';
  if (start.startsWith('{')) return 'jsonl';
  return 'csv';
}

function checkColumns(file: string, columns: readonly string[]): void {
  if (columns.length > MAX_COLUMNS) throw unreadable(file, {}, `has ${columns.length} columns`, 'Import at most 1,000.');
  const seen = new Set<string>();
  columns.forEach((column, i) => {
    if (column === '') throw unreadable(file, {}, `column ${i + 1} has no name`, 'Give every column a name in the first row.');
    if (FORBIDDEN_KEYS.has(column)) throw unreadable(file, { column }, 'has a name that is not allowed', 'Rename this column.');
    if (seen.has(column)) throw unreadable(file, { column }, 'occurs twice in the header', 'Rename one of the two columns.');
    seen.add(column);
  });
}
