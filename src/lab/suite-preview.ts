import { importTable, mapTable } from '../suites/import/import.ts';
import { type Mapping, suggestMapping } from '../suites/import/mapping.ts';
import { type ImportedSuite, isSuiteFile, parseSuiteFile, suiteId } from '../suites/import/suite-file.ts';
import { decodeText, readTable } from '../suites/import/table.ts';
import { PRESETS } from '../suites/qa/presets.ts';
import { parseMapping } from '../suites/qa/read.ts';
import type { ImportPreview } from './service.ts';

/** Records and tasks shown of a file; the rest is only counted. */
const SHOWN = 20;

/**
 * What a file would become, before anything is stored. A suite file and data in a well-known form need no mapping; a table gets
 * the given mapping, or a first guess for people to correct. What is wrong with the mapping stands in `problems`.
 * @throws {NacreError} `import-unreadable`, `suite-invalid`, `mapping-invalid`, and for data in a well-known form `import-invalid`
 */
export function previewImport(file: string, content: Uint8Array, given?: unknown): ImportPreview {
  const text = decodeText(file, content);
  if (isSuiteFile(text)) return ofSuite('suite', parseSuiteFile(file, text));
  const table = readTable(file, text);
  const columns = { columns: table.columns, rows: table.rows.length, sample: table.rows.slice(0, SHOWN).map(({ cells }) => cells) };
  const preset = given === undefined ? PRESETS.find((known) => known.matches(table)) : undefined;
  if (preset) return { ...ofSuite(preset.id, preset.read(file, text, { title: titleOf(file) })), ...columns, formTitle: preset.title };
  const mapping: Mapping = given === undefined ? suggestMapping(table) : parseMapping(given);
  const { tasks, counts, problems, errors, warnings } = mapTable(table, mapping);
  const title = titleOf(file);
  return {
    form: 'table',
    formTitle: 'A table of questions',
    ...columns,
    mapping,
    tasks: tasks.slice(0, SHOWN),
    counts,
    problems,
    errors,
    warnings,
    ...(errors > 0 ? {} : { suite: importTable(table, mapping, { title, id: suiteId(title) }) }),
  };
}

function ofSuite(form: ImportPreview['form'], suite: ImportedSuite): ImportPreview {
  const counts = { train: 0, val: 0, test: 0, unseen: 0 };
  for (const { split } of suite.tasks) counts[split]++;
  return {
    form,
    formTitle: 'A suite file',
    columns: [],
    rows: suite.tasks.length,
    sample: [],
    tasks: suite.tasks.slice(0, SHOWN),
    counts,
    problems: [],
    errors: 0,
    warnings: 0,
    suite,
  };
}

function titleOf(file: string): string {
  return file.replace(/\.[a-z0-9]{1,6}$/i, '').slice(0, 120) || file.slice(0, 120);
}
