import * as v from 'valibot';

const tolerance = v.pipe(v.number(), v.finite(), v.minValue(0));

/** Labels of a multiple-choice question unless others are named. */
export const DEFAULT_LABELS: readonly string[] = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'];

const LabelList = v.pipe(
  v.array(v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(40))),
  v.minLength(2),
  v.maxLength(100),
  v.check((labels) => new Set(labels.map((label) => label.toLowerCase())).size === labels.length, 'two labels differ only in case'),
);

/**
 * How answers are scored, as plain data. What the accepted answers of a question mean depends on it: texts (`exact`, `anls`),
 * numbers, labels, regular expressions, JSON, or whatever a script makes of them.
 */
export const ScorerSpec = v.variant('kind', [
  v.strictObject({ kind: v.literal('exact') }),
  v.strictObject({ kind: v.literal('anls'), threshold: v.optional(v.pipe(v.number(), v.minValue(0.5), v.maxValue(1)), 0.999) }),
  v.strictObject({ kind: v.literal('numeric'), absolute: v.optional(tolerance, 1e-6), relative: v.optional(tolerance, 0) }),
  v.strictObject({ kind: v.literal('choice'), labels: v.optional(LabelList, () => [...DEFAULT_LABELS]) }),
  v.strictObject({
    kind: v.literal('regex'),
    /** i: case does not count; m: ^ and $ match at lines; s: . matches line ends. Unicode mode is always on. */
    flags: v.optional(v.pipe(v.string(), v.regex(/^(?!.*(.).*\1)[ims]*$/, 'only the flags i, m and s, each once')), ''),
    /** Whether the pattern must match the whole answer or may match inside it. */
    whole: v.optional(v.boolean(), true),
  }),
  v.strictObject({ kind: v.literal('json') }),
  v.strictObject({ kind: v.literal('cells') }),
  v.strictObject({
    kind: v.literal('javascript'),
    /** Defines `function score({answer, output, task})`; runs in the sandbox. */
    source: v.pipe(v.string(), v.minLength(1), v.maxLength(65_536)),
    /** Milliseconds one call may take. */
    timeMs: v.optional(v.pipe(v.number(), v.integer(), v.minValue(10), v.maxValue(5000)), 500),
  }),
]);
export type ScorerSpec = v.InferOutput<typeof ScorerSpec>;
export type ScorerKind = ScorerSpec['kind'];

/** Every scorer in a sentence, for lists people choose from. */
export const SCORER_TITLES: Readonly<Record<ScorerKind, string>> = {
  exact: 'Exact match: the same words, without case, punctuation and articles',
  anls: 'Nearly exact: the same text up to a few wrong letters (ANLS)',
  numeric: 'Number: the final number agrees within a tolerance',
  choice: 'Multiple choice: the right label',
  regex: 'Regular expression: the answer matches the pattern of its question',
  json: 'JSON: the same value, keys in any order',
  cells: 'Spreadsheet cells: the same grid, numbers to two decimals',
  javascript: 'JavaScript: a function you write, run in a sandbox',
};
