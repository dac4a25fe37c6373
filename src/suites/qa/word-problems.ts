import * as v from 'valibot';
import { unreadable } from '../import/faults.ts';
import { importTable } from '../import/import.ts';
import { Mapping } from '../import/mapping.ts';
import type { ImportedSuite } from '../import/suite-file.ts';
import { readTable, type Table } from '../import/table.ts';
import type { PresetOptions } from './presets.ts';

const INPUT = `{{question}}

Work step by step, then write the final number on a line of its own after ####.`;

/** Whether a table looks like GSM8K: worked solutions that end in `#### number`. */
export function isWordProblemTable({ columns, rows }: Table): boolean {
  const answer = rows[0]?.cells.answer;
  return columns.includes('question') && typeof answer === 'string' && answer.includes('####');
}

/**
 * Arithmetic word problems (GSM8K), scored by the final number. Of the worked solution only what stands after `####` is kept.
 * @throws {NacreError} naming row and column.
 */
export function importWordProblems(file: string, content: string | Uint8Array, options: PresetOptions = {}): ImportedSuite {
  const table = readTable(file, content);
  const rows = table.rows.map((row) => {
    const { answer } = row.cells;
    const mark = typeof answer === 'string' ? answer.lastIndexOf('####') : -1;
    if (typeof answer !== 'string' || mark === -1) {
      throw unreadable(
        file,
        { row: row.row, column: 'answer' },
        'holds no "####" before the final number',
        'Import it as a table instead.',
      );
    }
    return { ...row, cells: { ...row.cells, answer: answer.slice(mark + 4).trim() } };
  });
  const mapping = v.parse(Mapping, {
    input: INPUT,
    answers: ['answer'],
    split: { by: 'seed', ...options.split },
    scorer: { kind: 'numeric' },
  });
  return importTable({ ...table, rows }, mapping, { title: 'Arithmetic word problems', ...options });
}
