import type { Json } from '../../core/types.ts';
import { JsonFault, parseExactJson } from '../json.ts';
import { type Place, unreadable } from './faults.ts';
import type { Row, Table } from './table.ts';

/** The records of a JSON list. Missing cells are null. */
export function readJsonList(file: string, text: string): Table {
  const list = parse(file, text, {});
  if (!Array.isArray(list)) throw unreadable(file, {}, 'is not a JSON list', 'Import a file that is a list of records: [{…}, {…}].');
  return toTable(
    file,
    'json',
    list.map((value: Json, i) => ({ value, row: i + 1 })),
  );
}

/** The records of a file with one JSON record a line. Empty lines are skipped; missing cells are null. */
export function readJsonLines(file: string, text: string): Table {
  const entries: { value: Json; row: number; line: number }[] = [];
  text.split('\n').forEach((line, i) => {
    if (line.trim() === '') return;
    const row = entries.length + 1;
    entries.push({ value: parse(file, line, { row, line: i + 1 }), row, line: i + 1 });
  });
  return toTable(file, 'jsonl', entries);
}

function parse(file: string, text: string, place: Place): Json {
  try {
    return parseExactJson(text);
  } catch (thrown) {
    if (!(thrown instanceof JsonFault)) throw thrown;
    const path = thrown.path === '' ? [] : thrown.path.split('.');
    // In a list the path begins with the index of the record.
    const index = place.row === undefined && /^\d+$/.test(path[0] ?? '') ? Number(path.shift()) : undefined;
    const row = index === undefined ? place.row : index + 1;
    const column = path[0];
    const where = { ...place, ...(row === undefined ? {} : { row }), ...(column === undefined ? {} : { column }) };
    throw unreadable(file, where, thrown.path === '' ? thrown.message : `holds ${thrown.message}`, 'Correct this place and try again.');
  }
}

function toTable(file: string, format: 'json' | 'jsonl', entries: readonly { value: Json; row: number; line?: number }[]): Table {
  const columns = new Set<string>();
  for (const { value, ...place } of entries) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw unreadable(file, place, 'is not a record', 'Every entry must be a JSON object: {"question": …, "answer": …}.');
    }
    for (const column of Object.keys(value)) columns.add(column);
  }
  const names = [...columns];
  const rows = entries.map(({ value, ...place }): Row => {
    const record = value as Readonly<Record<string, Json>>;
    return { ...place, cells: Object.fromEntries(names.map((name) => [name, Object.hasOwn(record, name) ? record[name]! : null])) };
  });
  return { file, format, columns: names, rows };
}
