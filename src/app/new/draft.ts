import * as v from 'valibot';
import type { AnyConfig } from '../../lab/any-config.ts';
import { ExperimentConfig } from '../../lab/config.ts';
import { PearlConfig } from '../../lab/pearl-config.ts';

/** A configuration while it is edited: any JSON, valid or not. */
export type Draft = Readonly<Record<string, unknown>>;

export interface Checked {
  /** The complete configuration, when the draft is valid. */
  readonly config?: AnyConfig;
  /** What is wrong, by dotted path; `''` for the whole. */
  readonly errors: ReadonlyMap<string, string>;
}

/** Validates a draft field by field with the schema that runs use. */
export function checkDraft(draft: unknown): Checked {
  const result = isPearl(draft) ? v.safeParse(PearlConfig, draft) : v.safeParse(ExperimentConfig, draft);
  if (result.success) return { config: result.output, errors: new Map() };
  const errors = new Map<string, string>();
  for (const issue of result.issues) {
    const path = v.getDotPath(issue) ?? '';
    if (!errors.has(path)) errors.set(path, describe(issue));
  }
  return { errors };
}

/** Whether a draft means to be a PEARL experiment. */
export function isPearl(draft: unknown): boolean {
  return isRecord(draft) && draft.kind === 'pearl';
}

/** The value at a path, or undefined. */
export function readPath(draft: unknown, path: readonly string[]): unknown {
  let value = draft;
  for (const key of path) value = isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

/** A copy with the value at a path replaced; objects on the way are made where they lack. */
export function writePath(draft: Draft, path: readonly string[], value: unknown): Draft {
  const [key, ...rest] = path;
  if (key === undefined) return draft;
  const inner = draft[key];
  return { ...draft, [key]: rest.length === 0 ? value : writePath(isRecord(inner) ? inner : {}, rest, value) };
}

/** What a number field holds: a number where it is one, else the text itself, which the schema then refuses by name. */
export function readNumber(text: string): unknown {
  const trimmed = text.trim();
  return trimmed !== '' && Number.isFinite(Number(trimmed)) ? Number(trimmed) : text;
}

function describe(issue: v.BaseIssue<unknown>): string {
  switch (issue.type) {
    case 'number':
      return 'This must be a number.';
    case 'integer':
      return 'This must be a whole number.';
    case 'min_value':
      return `The least is ${String(issue.requirement)}.`;
    case 'max_value':
      return `The most is ${String(issue.requirement)}.`;
    case 'min_length':
      return 'This must not be empty.';
    case 'max_length':
      return `At most ${String(issue.requirement)} characters.`;
    default:
      return `${issue.message.replace(/\.$/, '')}.`;
  }
}

function isRecord(value: unknown): value is Draft {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
