import * as v from 'valibot';
import { NacreError } from '../../core/errors.ts';
import { contentHash } from '../../core/hash.ts';
import { type Json, SPLITS, type Split, type Task } from '../../core/types.ts';
import { JsonFault, parseExactJson } from '../json.ts';
import { ScorerSpec } from '../scorers/spec.ts';

const text = (max: number) => v.pipe(v.string(), v.minLength(1), v.maxLength(max));

/** A task's id: shown in lists and part of the names of a run's units, so one line of visible characters. */
export const TaskId = v.pipe(text(200), v.regex(/^[^\p{C}]+$/u, 'an id is one line without control characters'), v.trim());

type Fields = Readonly<Record<string, Json>>;
const Fields = v.custom<Fields>((value) => typeof value === 'object' && value !== null && !Array.isArray(value), 'a record of columns');

const ImportedTask = v.strictObject({
  id: TaskId,
  split: v.picklist(SPLITS),
  type: text(200),
  input: text(1_000_000),
  answers: v.pipe(v.array(v.pipe(v.string(), v.maxLength(1_000_000))), v.maxLength(1000)),
  fields: v.optional(Fields, {}),
});
export type ImportedTask = v.InferOutput<typeof ImportedTask>;

export const SuiteId = v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9-]{0,59}$/, 'lower-case letters, digits and hyphens, at most 60'));

/** A suite that a user brought: plain data that can be stored, exported and opened on another machine. */
export const ImportedSuite = v.strictObject({
  schema: v.literal('nacre.suite/1'),
  id: SuiteId,
  title: text(120),
  /** Where it came from: the name of the file, and what its licence asks to be said. */
  origin: v.optional(v.strictObject({ file: v.optional(text(500)), note: v.optional(text(5000)) }), {}),
  scorer: ScorerSpec,
  tasks: v.pipe(
    v.array(ImportedTask),
    v.minLength(1),
    v.maxLength(100_000),
    v.check((tasks) => new Set(tasks.map(({ id }) => id)).size === tasks.length, 'two tasks have the same id'),
  ),
});
export type ImportedSuite = v.InferOutput<typeof ImportedSuite>;

/** An id for a suite from its title or file name. */
export function suiteId(name: string): string {
  const folded = name
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/\.[a-z0-9]{1,6}$/, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, 60)
    .replace(/-+$/, '');
  return folded || 'imported';
}

/** The suite as a file. `parseSuiteFile` gives an equal suite back. */
export function formatSuiteFile(suite: ImportedSuite): string {
  return `${JSON.stringify(suite, null, 1)}\n`;
}

/** Identity of a suite: equal content, equal hash, whatever the order of its keys. */
export function suiteHash(suite: ImportedSuite): string {
  return contentHash(JSON.stringify(v.parse(ImportedSuite, suite)));
}

/** Whether a text claims to be a suite file, of any version. */
export function isSuiteFile(text: string): boolean {
  return /^\ufeff?\s*\{\s*"schema"\s*:\s*"nacre\.suite\//.test(text);
}

/** @throws {NacreError} `suite-invalid` naming the file and each wrong field. */
export function parseSuiteFile(file: string, content: string): ImportedSuite {
  let value: Json;
  try {
    value = parseExactJson(content);
  } catch (thrown) {
    if (!(thrown instanceof JsonFault)) throw thrown;
    throw invalid(file, thrown.path === '' ? thrown.message : `${thrown.path} holds ${thrown.message}`);
  }
  return checkSuite(file, value);
}

/** Checks a stored suite. @throws {NacreError} `suite-invalid` naming the first wrong fields. */
export function checkSuite(file: string, value: unknown): ImportedSuite {
  const result = v.safeParse(ImportedSuite, value);
  if (result.success) return result.output;
  const lines = result.issues.slice(0, 5).map((issue) => `${v.getDotPath(issue) ?? 'the file'}: ${issue.message}`);
  throw invalid(file, lines.join('; '));
}

function invalid(file: string, problem: string): NacreError {
  return new NacreError('suite-invalid', `${file} is not a suite: ${problem}.`, 'Export the suite again, or import the original data.');
}

/** The tasks of a suite by split, in the order of the file. */
export function suiteTasks(suite: ImportedSuite): Readonly<Record<Split, readonly Task[]>> {
  const splits: Record<Split, Task[]> = { train: [], val: [], test: [], unseen: [] };
  for (const { id, split, type, input, answers, fields } of suite.tasks) {
    splits[split].push({ id, split, type, input, data: { answers, fields } });
  }
  return splits;
}
