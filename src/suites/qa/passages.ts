import * as v from 'valibot';
import type { Json } from '../../core/types.ts';
import { unreadable } from '../import/faults.ts';
import { type ImportOptions, importTable } from '../import/import.ts';
import { Mapping } from '../import/mapping.ts';
import type { ImportedSuite } from '../import/suite-file.ts';
import { readTable, type Table } from '../import/table.ts';
import type { PresetOptions } from './presets.ts';

const Sentences = v.array(v.string());
/** Passages as `{title, sentences}`, or as pairs of title and sentences, the form HotpotQA was published in. */
const Passages = v.pipe(
  v.array(
    v.union([
      v.object({ title: v.string(), sentences: Sentences }),
      v.pipe(
        v.tuple([v.string(), Sentences]),
        v.transform(([title, sentences]) => ({ title, sentences })),
      ),
    ]),
  ),
  v.minLength(1),
);

/** What a model is asked. */
const INPUT = `Answer the question from the passages.

{{passages}}

Question: {{question}}

Think if you need to, then give the shortest exact answer between <answer> and </answer>.`;

/** Whether a table looks like reading questions with distractors (HotpotQA). */
export function isPassageTable({ columns }: Table): boolean {
  return ['question', 'answer', 'context'].every((column) => columns.includes(column));
}

/**
 * Reading questions over given passages (HotpotQA's distractor setting), scored by exact match. The passages keep the order of
 * the file; which of them support the answer is not shown.
 * @throws {NacreError} naming row and column.
 */
export function importPassages(file: string, content: string | Uint8Array, options: PresetOptions = {}): ImportedSuite {
  const table = readTable(file, content);
  const rows = table.rows.map((row) => {
    const passages = v.safeParse(Passages, row.cells.context);
    if (!passages.success) {
      throw unreadable(file, { row: row.row, column: 'context' }, 'holds no list of passages', 'Each passage has a title and sentences.');
    }
    return { ...row, cells: { ...row.cells, passages: formatPassages(passages.output) } };
  });
  const id = ['id', '_id'].find((column) => table.columns.includes(column));
  const mapping = v.parse(Mapping, {
    input: INPUT,
    answers: ['answer'],
    ...(id === undefined ? {} : { id }),
    ...(table.columns.includes('type') ? { type: 'type' } : {}),
    split: { by: 'seed', ...options.split },
    scorer: { kind: 'exact' },
  });
  const named: ImportOptions = { title: 'Reading questions over passages', ...options };
  return importTable({ ...table, columns: [...table.columns, 'passages'], rows }, mapping, named);
}

function formatPassages(passages: v.InferOutput<typeof Passages>): Json {
  return passages.map(({ title, sentences }, i) => `[${i + 1}] ${title}\n${sentences.join('').trim()}`).join('\n\n');
}
