import * as v from 'valibot';
import { SPLITS, type Split } from '../../core/types.ts';
import { Mapping } from '../../suites/import/mapping.ts';
import { DEFAULT_LABELS, type ScorerKind, type ScorerSpec } from '../../suites/scorers/spec.ts';

/** What a new script begins with: the shape it must have, and what it is given. */
export const SCRIPT_START = `// answer: what the model answered; output: all it wrote;
// task: {id, split, type, input, answers, fields}
function score({ answer, output, task }) {
  return task.answers.some((gold) => gold.trim() === answer.trim());
  // true, false, a number from 0 to 1, or { reward, reason }
}
`;

/** A scorer of a kind with its usual parameters. */
export function newScorer(kind: ScorerKind): ScorerSpec {
  switch (kind) {
    case 'anls':
      return { kind, threshold: 0.999 };
    case 'numeric':
      return { kind, absolute: 1e-6, relative: 0 };
    case 'choice':
      return { kind, labels: [...DEFAULT_LABELS] };
    case 'regex':
      return { kind, flags: '', whole: true };
    case 'javascript':
      return { kind, source: SCRIPT_START, timeMs: 500 };
    default:
      return { kind };
  }
}

/** What of a mapping cannot be used, by dotted path. */
export function mappingErrors(mapping: unknown): ReadonlyMap<string, string> {
  const result = v.safeParse(Mapping, mapping);
  const errors = new Map<string, string>();
  if (result.success) return errors;
  for (const issue of result.issues) {
    const path = v.getDotPath(issue) ?? '';
    if (!errors.has(path)) errors.set(path, `${issue.message.replace(/\.$/, '')}.`);
  }
  return errors;
}

/** A place for a column in a template, put where the caret is; the text after it and where the caret goes. */
export function insertPlace(text: string, column: string, from: number, to: number): { readonly text: string; readonly caret: number } {
  const place = `{{${column}}}`;
  return { text: text.slice(0, from) + place + text.slice(to), caret: from + place.length };
}

/** `dev2=val, holdout=test` as the words of a split column; parts that name no split are left out. */
export function parseWords(text: string): Record<string, Split> {
  const pairs = text.split(',').flatMap((part): [string, Split][] => {
    const at = part.lastIndexOf('=');
    const word = part.slice(0, at).trim();
    const split = SPLITS.find(
      (known) =>
        known ===
        part
          .slice(at + 1)
          .trim()
          .toLowerCase(),
    );
    return at < 0 || word === '' || split === undefined ? [] : [[word, split]];
  });
  return Object.fromEntries(pairs);
}

export function formatWords(words: Readonly<Record<string, Split>>): string {
  return Object.entries(words)
    .map(([word, split]) => `${word}=${split}`)
    .join(', ');
}

/** Text or number of a field as a number; NaN where it is none, which the schema refuses by name. */
export function readDecimal(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text);
}
