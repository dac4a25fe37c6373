import * as v from 'valibot';
import { NacreError } from '../../core/errors.ts';
import { type Json, SPLITS, type Split } from '../../core/types.ts';
import { goldFault } from '../scorers/scorer.ts';
import { type Problem, problemText } from './faults.ts';
import type { Mapping } from './mapping.ts';
import { drawSplits, inputKey, namedSplit } from './split.ts';
import { type ImportedSuite, type ImportedTask, suiteId, TaskId } from './suite-file.ts';
import type { Row, Table } from './table.ts';
import { cellText, columnOf, fillTemplate, parseTemplate, readCell, type Template, templatePaths } from './template.ts';

/** Problems reported in full; the rest are counted. */
const MAX_PROBLEMS = 100;

/** What a mapping makes of a table: everything a preview shows. */
export interface Mapped {
  /** One for each record without an error, in the order of the file. */
  readonly tasks: readonly ImportedTask[];
  readonly counts: Readonly<Record<Split, number>>;
  /** At most 100; `errors` and `warnings` count all. */
  readonly problems: readonly Problem[];
  readonly errors: number;
  readonly warnings: number;
}

/** Applies a mapping to a table. Throws nothing: what is wrong stands in `problems`, with row and column. */
export function mapTable(table: Table, mapping: Mapping): Mapped {
  const report = new Report();
  const template = parseTemplate(mapping.input);
  checkMapping(table, mapping, template, report);
  if (report.errors > 0) return report.result([]);
  const drafts = table.rows.flatMap((row) => readRow(row, mapping, template, table, report) ?? []);
  const tasks = withSplits(drafts, mapping);
  checkTasks(tasks, drafts, mapping, report);
  return report.result(tasks);
}

export interface ImportOptions {
  readonly title: string;
  readonly id?: string;
  /** What the licence of the data asks to be said, or where it is from. */
  readonly note?: string;
}

/** The suite that a mapping makes of a table. @throws {NacreError} `import-invalid` naming file, rows and columns. */
export function importTable(table: Table, mapping: Mapping, { title, id, note }: ImportOptions): ImportedSuite {
  const { tasks, problems, errors } = mapTable(table, mapping);
  if (errors > 0) {
    const named = problems.filter(({ severity }) => severity === 'error').slice(0, 3);
    const more = errors > named.length ? `; and ${errors - named.length} more` : '';
    const hint = 'Correct the file or the mapping; the preview lists every place.';
    throw new NacreError('import-invalid', `${table.file}: ${named.map(problemText).join('; ')}${more}.`, hint);
  }
  return {
    schema: 'nacre.suite/1',
    id: id ?? suiteId(title),
    title,
    origin: { file: table.file, ...(note === undefined ? {} : { note }) },
    scorer: mapping.scorer,
    tasks: [...tasks],
  };
}

/** Collects problems and counts them. */
class Report {
  private readonly problems: Problem[] = [];
  private failures = 0;
  private warnings = 0;

  /** How many so far. */
  get errors(): number {
    return this.failures;
  }

  add(problem: Problem): void {
    if (problem.severity === 'error') this.failures++;
    else this.warnings++;
    if (this.problems.length < MAX_PROBLEMS) this.problems.push(problem);
  }

  result(tasks: readonly ImportedTask[]): Mapped {
    const counts: Record<Split, number> = { train: 0, val: 0, test: 0, unseen: 0 };
    for (const { split } of tasks) counts[split]++;
    return { tasks, counts, problems: this.problems, errors: this.errors, warnings: this.warnings };
  }
}

/** Columns that do not exist, and answers shown in the question. */
function checkMapping(table: Table, mapping: Mapping, template: Template, report: Report): void {
  const known = `the columns are ${table.columns.slice(0, 20).join(', ')}${table.columns.length > 20 ? ', …' : ''}`;
  const missing = (role: string, path: string): void =>
    report.add({ severity: 'error', message: `${role} names "${path}", which is no column; ${known}` });
  const shown = templatePaths(template);
  if (shown.length === 0) report.add({ severity: 'error', message: 'the input shows no column: write {{name}} where one belongs' });
  for (const path of shown) if (columnOf(path, table.columns) === undefined) missing('the input', path);
  for (const path of mapping.answers) {
    if (columnOf(path, table.columns) === undefined) missing('the answer', path);
    else if (shown.some((other) => other === path || path.startsWith(`${other}.`) || other.startsWith(`${path}.`))) {
      report.add({ severity: 'error', column: path, message: 'holds the answer, and the input shows it' });
    }
  }
  const { id, type, split } = mapping;
  if (id !== undefined && columnOf(id, table.columns) === undefined) missing('the id', id);
  if (type !== undefined && columnOf(type, table.columns) === undefined) missing('the type', type);
  if (split.by === 'column' && columnOf(split.column, table.columns) === undefined) missing('the split', split.column);
  if (mapping.answers.length === 0 && mapping.scorer.kind !== 'javascript') {
    report.add({ severity: 'error', message: `the scorer "${mapping.scorer.kind}" needs a column with answers` });
  }
}

type Draft = Omit<ImportedTask, 'split'> & { readonly row: Row; readonly split: Split | undefined };

/** The task of one record, or undefined where it has an error. */
function readRow(row: Row, mapping: Mapping, template: Template, table: Table, report: Report): Draft | undefined {
  const before = report.errors;
  const wrong = (column: string | undefined, message: string): void =>
    report.add({ ...placeOf(row), ...(column === undefined ? {} : { column }), severity: 'error', message });
  const input = fillTemplate(template, row.cells);
  const empty = templatePaths(template).filter((path) => cellText(readCell(row.cells, path)).trim() === '');
  if (empty.length === templatePaths(template).length) wrong(empty[0], 'is empty, and so is the input');
  const answers = readAnswers(row, mapping, wrong);
  const id = mapping.id === undefined ? `row-${String(row.row).padStart(4, '0')}` : cellText(readCell(row.cells, mapping.id)).trim();
  if (!v.is(TaskId, id)) wrong(mapping.id, id === '' ? 'is empty where an id should be' : 'holds an id that is too long or not one line');
  const type = mapping.type === undefined ? 'question' : cellText(readCell(row.cells, mapping.type)).trim().slice(0, 200) || 'other';
  let split: Split | undefined;
  if (mapping.split.by === 'column') {
    const { column, values } = mapping.split;
    const word = cellText(readCell(row.cells, column));
    split = namedSplit(word, values);
    if (split === undefined) wrong(column, `"${word.slice(0, 40)}" is no split; say which of ${SPLITS.join(', ')} it means`);
  }
  const fields = mapping.scorer.kind === 'javascript' ? keptFields(row, mapping, template, table) : {};
  return report.errors > before ? undefined : { id, type, input, answers, fields, split, row };
}

function placeOf({ row, line }: Row): Pick<Problem, 'row' | 'line'> {
  return { row, ...(line === undefined ? {} : { line }) };
}

function readAnswers(row: Row, mapping: Mapping, wrong: (column: string, message: string) => void): string[] {
  const { scorer } = mapping;
  const asJson = scorer.kind === 'json' || scorer.kind === 'cells';
  return mapping.answers.flatMap((path) => {
    const cell = readCell(row.cells, path);
    const answers = asJson ? [jsonText(cell)] : Array.isArray(cell) ? cell.map((item: Json) => cellText(item)) : [cellText(cell)];
    if (answers.length === 0) wrong(path, 'holds an empty list of answers');
    for (const answer of answers) {
      const fault = goldFault(scorer, answer);
      if (fault !== undefined) wrong(path, `${answer.trim() === '' ? 'the answer' : `"${answer.trim().slice(0, 40)}"`} ${fault}`);
    }
    return answers;
  });
}

/** A cell as JSON text. A text is taken to be JSON already, as in delimited files. */
function jsonText(cell: Json): string {
  return typeof cell === 'string' ? cell : JSON.stringify(cell);
}

/** What a scorer written by the user may look at: the columns that neither the input nor the answers hold already. */
function keptFields(row: Row, mapping: Mapping, template: Template, table: Table): Record<string, Json> {
  const used = new Set([...templatePaths(template), ...mapping.answers]);
  return Object.fromEntries(table.columns.filter((column) => !used.has(column)).map((column) => [column, row.cells[column]!]));
}

function withSplits(drafts: readonly Draft[], { split: rule }: Mapping): ImportedTask[] {
  const drawn = rule.by === 'seed' ? drawSplits(drafts, rule.parts, rule.seed) : undefined;
  return drafts.map(({ row: _, split, ...task }, i) => ({ ...task, split: drawn?.[i] ?? split! }));
}

/** Ids that occur twice, questions that occur in two splits, splits without tasks. */
function checkTasks(tasks: readonly ImportedTask[], drafts: readonly Draft[], mapping: Mapping, report: Report): void {
  const ids = new Map<string, number>();
  const inputs = new Map<string, { split: Split; row: number }>();
  tasks.forEach(({ id, input, split }, i) => {
    const { row } = drafts[i]!;
    const twin = ids.get(id);
    if (twin !== undefined) {
      const column = mapping.id === undefined ? {} : { column: mapping.id };
      report.add({ ...placeOf(row), ...column, severity: 'error', message: `the id "${id.slice(0, 60)}" was used in row ${twin}` });
    }
    ids.set(id, twin ?? row.row);
    const key = inputKey(input);
    const seen = inputs.get(key);
    if (seen && seen.split !== split) {
      const message = `the same question stands in row ${seen.row}, which is in ${seen.split}; this one is in ${split}`;
      report.add({ ...placeOf(row), severity: 'warning', message });
    }
    inputs.set(key, seen ?? { split, row: row.row });
  });
  for (const split of ['train', 'val'] as const) {
    if (!tasks.some((task) => task.split === split))
      report.add({ severity: 'warning', message: `no record is in ${split}, which training needs` });
  }
}
