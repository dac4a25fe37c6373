import type { Json } from '../../core/types.ts';
import { JsonFault, parseExactJson } from '../json.ts';
import { readJsonAnswer } from './json.ts';

/** A date in a cell, written `{"date": "2024-01-31"}` or with a time, `{"date": "2024-01-31T12:00"}`. */
interface DateCell {
  readonly date: string;
}
type Cell = null | boolean | number | string | DateCell;

const DATE = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2}))?)?$/;

/** Days since 1899-12-30, the number a spreadsheet keeps for a date from March 1900 on; undefined where the text is no date. */
export function excelSerial(text: string): number | undefined {
  const parts = DATE.exec(text);
  if (!parts) return undefined;
  const [year, month, day, hour, minute, second] = parts.slice(1).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const time = Date.UTC(year, month - 1, day, hour, minute, second);
  if (new Date(time).getUTCDate() !== day || hour > 23 || minute > 59 || second > 59) return undefined;
  return (time - Date.UTC(1899, 11, 30)) / 86_400_000;
}

/**
 * Whether two cells hold the same (TextualRL, B.1): numbers are rounded to two decimals, an empty text is an empty cell, dates
 * are their serial numbers, and otherwise types must match.
 */
export function equalCells(a: Cell, b: Cell): boolean {
  const [left, right] = [plainCell(a), plainCell(b)];
  if (typeof left === 'number' && typeof right === 'number') return left === right || cents(left) === cents(right);
  return left === right;
}

function plainCell(cell: Cell): Exclude<Cell, DateCell> {
  if (typeof cell === 'object' && cell !== null) return excelSerial(cell.date) ?? cell.date;
  return cell === '' ? null : cell;
}

/** Hundredths, where doubles still have them. */
function cents(value: number): number {
  return Math.abs(value) < 1e13 ? Math.round(value * 100) : value;
}

/** Whether an output's JSON grid (rows of cells) equals one of the accepted grids; missing cells at the edges are empty. */
export function cellsMatch(output: string, golds: readonly string[]): boolean {
  const grid = toGrid(readJsonAnswer(output));
  if (!grid) return false;
  return golds.some((text) => {
    const gold = readGrid(text);
    return gold !== undefined && equalGrids(grid, gold);
  });
}

/** A grid from JSON text, or undefined where it is none. */
export function readGrid(text: string): readonly (readonly Cell[])[] | undefined {
  try {
    return toGrid(parseExactJson(text));
  } catch (thrown) {
    if (thrown instanceof JsonFault) return undefined;
    throw thrown;
  }
}

function equalGrids(a: readonly (readonly Cell[])[], b: readonly (readonly Cell[])[]): boolean {
  for (let row = 0; row < Math.max(a.length, b.length); row++) {
    const [left, right] = [a[row] ?? [], b[row] ?? []];
    for (let column = 0; column < Math.max(left.length, right.length); column++) {
      if (!equalCells(left[column] ?? null, right[column] ?? null)) return false;
    }
  }
  return true;
}

function toGrid(value: Json | undefined): readonly (readonly Cell[])[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.every((row) => Array.isArray(row) && row.every(isCell)) ? (value as readonly (readonly Cell[])[]) : undefined;
}

function isCell(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return 'date' in value && typeof value.date === 'string' && Object.keys(value).length === 1;
}
