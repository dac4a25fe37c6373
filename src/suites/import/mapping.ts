import * as v from 'valibot';
import { SPLITS } from '../../core/types.ts';
import { ScorerSpec } from '../scorers/spec.ts';
import type { Table } from './table.ts';

const Column = v.pipe(v.string(), v.minLength(1), v.maxLength(1000));
const part = v.optional(v.pipe(v.number(), v.finite(), v.minValue(0)), 0);

/** How large the splits are to each other: `{train: 2, val: 1, test: 1}` halves and quarters. */
export const SplitParts = v.pipe(
  v.strictObject({ train: part, val: part, test: part, unseen: part }),
  v.check((parts) => SPLITS.some((split) => parts[split] > 0), 'at least one part must be above 0'),
);
export type SplitParts = v.InferOutput<typeof SplitParts>;

export const DEFAULT_PARTS: SplitParts = { train: 2, val: 1, test: 1, unseen: 0 };

/** Which split a record belongs to: as a column says, or drawn by seed (types in equal measure, equal inputs together). */
export const SplitRule = v.variant('by', [
  v.strictObject({
    by: v.literal('seed'),
    seed: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(0xffff_ffff)), 0),
    parts: v.optional(SplitParts, DEFAULT_PARTS),
  }),
  v.strictObject({
    by: v.literal('column'),
    column: Column,
    /** What other words than train, val, test and unseen mean; `dev`, `valid` and `validation` are val unless said otherwise. */
    values: v.optional(v.record(v.string(), v.picklist(SPLITS)), {}),
  }),
]);
export type SplitRule = v.InferOutput<typeof SplitRule>;

/** How the columns of a table become questions. */
export const Mapping = v.strictObject({
  /** Text with `{{column}}` places. */
  input: v.pipe(v.string(), v.minLength(1), v.maxLength(100_000)),
  /** Columns with accepted answers; a list in a cell holds several (with the scorers `json` and `cells` a cell is one answer). */
  answers: v.pipe(v.array(Column), v.maxLength(20)),
  id: v.optional(Column),
  type: v.optional(Column),
  split: v.optional(SplitRule, { by: 'seed', seed: 0, parts: DEFAULT_PARTS }),
  scorer: v.optional(ScorerSpec, { kind: 'exact' }),
});
export type Mapping = v.InferOutput<typeof Mapping>;

const GUESSES = {
  question: ['question', 'input', 'prompt', 'problem', 'query', 'text', 'description', 'instruction'],
  context: ['context', 'passage', 'passages', 'document', 'table'],
  answer: ['answer', 'answers', 'gold', 'target', 'label', 'output', 'expected', 'solution'],
  id: ['id', '_id', 'uid', 'key'],
  type: ['type', 'category', 'subject', 'topic', 'level'],
  split: ['split', 'fold', 'set'],
} as const;

/** A first guess from the names of the columns, for people to correct. */
export function suggestMapping(table: Table): Mapping {
  const find = (names: readonly string[]): string | undefined =>
    names.map((name) => table.columns.find((column) => column.toLowerCase() === name)).find((column) => column !== undefined);
  const [first, second = first] = table.columns;
  const context = find(GUESSES.context);
  const question = find(GUESSES.question) ?? first!;
  const answer = find(GUESSES.answer) ?? second!;
  const id = find(GUESSES.id);
  const type = find(GUESSES.type);
  const split = find(GUESSES.split);
  return {
    input: `${context === undefined ? '' : `{{${context}}}\n\n`}{{${question}}}`,
    answers: [answer],
    ...(id === undefined ? {} : { id }),
    ...(type === undefined ? {} : { type }),
    split: split === undefined ? { by: 'seed', seed: 0, parts: DEFAULT_PARTS } : { by: 'column', column: split, values: {} },
    scorer: { kind: 'exact' },
  };
}
