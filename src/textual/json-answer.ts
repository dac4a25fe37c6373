import { jsonrepair } from 'jsonrepair';
import * as v from 'valibot';
import { NacreError } from '../core/errors.ts';
import { stripThinking } from '../models/think.ts';

export { stripThinking };

/** A model's answer read as JSON: the value, or what was wrong with it in words a model can act on. */
export type JsonAnswer<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

/** Characters that may be tried per character of the answer: what keeps reading linear whatever is nested in what. */
const EFFORT = 8;
const MIN_EFFORT = 4096;

/**
 * The last complete JSON object or array of an answer that fits `schema`. Reasoning (`<think>…</think>`) is never content.
 * Linear in the length of the answer.
 * @param work counts the characters looked at, for tests.
 */
export function readJsonAnswer<T>(
  text: string,
  schema: v.GenericSchema<unknown, T>,
  work: { chars: number } = { chars: 0 },
): JsonAnswer<T> {
  const visible = stripThinking(text);
  if (visible.trim() === '') return { ok: false, problem: 'The answer was empty.' };
  let problem = 'The answer held no complete JSON object.';
  let parsedOne = false;
  const limit = work.chars + Math.max(MIN_EFFORT, EFFORT * visible.length);
  const tried = new Set<string>();
  for (const rawNewlines of [true, false]) {
    work.chars += visible.length;
    for (const { start, end } of jsonSpans(visible, rawNewlines)) {
      const name = `${start}-${end}`;
      if (tried.has(name)) continue;
      tried.add(name);
      work.chars += end - start;
      if (work.chars > limit) return { ok: false, problem };
      const value = parseLeniently(visible.slice(start, end));
      if (value === undefined) continue;
      const result = v.safeParse(schema, value.json);
      if (result.success) return { ok: true, value: result.output };
      if (!parsedOne) problem = describeIssues(result.issues);
      parsedOne = true;
    }
  }
  return { ok: false, problem };
}

/**
 * Spans of balanced brackets, those that end last first and the widest of them before what they hold. Quotes count only inside
 * brackets; unless `rawNewlines`, a line break ends a string, so that a stray quote in prose cannot hide the rest.
 */
function jsonSpans(text: string, rawNewlines: boolean): { readonly start: number; readonly end: number }[] {
  const spans: { start: number; end: number }[] = [];
  const open: number[] = [];
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const unit = text[i];
    if (inString) {
      if (unit === '\\') i++;
      else if (unit === '"' || (unit === '\n' && !rawNewlines)) inString = false;
    } else if (unit === '{' || unit === '[') {
      open.push(i);
    } else if (unit === '"') {
      inString = open.length > 0;
    } else if (unit === '}' || unit === ']') {
      const start = open.at(-1);
      if (start === undefined) continue;
      if ((text[start] === '{') !== (unit === '}')) continue;
      open.pop();
      spans.push({ start, end: i + 1 });
    }
  }
  return spans.reverse();
}

function parseLeniently(text: string): { readonly json: unknown } | undefined {
  const strict = tryParse(text);
  if (strict) return strict;
  let repaired: string;
  try {
    repaired = jsonrepair(text);
  } catch {
    // jsonrepair throws on what is no JSON at all: prose in brackets.
    return undefined;
  }
  return skeleton(repaired) === skeleton(text) ? tryParse(repaired) : undefined;
}

/** What a repair must not change: everything but white space, commas, quotes and their escapes. */
function skeleton(text: string): string {
  return text.replace(/\\["'nrtbf]|[\s,"'`´‘’“”]/gu, '');
}

function tryParse(text: string): { readonly json: unknown } | undefined {
  try {
    return { json: JSON.parse(text) as unknown };
  } catch {
    // Not JSON: the caller goes on to the next span.
    return undefined;
  }
}

function describeIssues(issues: readonly v.BaseIssue<unknown>[]): string {
  const lines = issues.slice(0, 4).map((issue) => `${v.getDotPath(issue) ?? 'answer'}: ${issue.message}`);
  return `The JSON does not fit: ${lines.join('; ')}.`;
}

/** The error for answers that stayed unusable after all re-asks. */
export function unusableAnswer(role: string, problem: string): NacreError {
  return new NacreError(
    'answer-unusable',
    `The ${role} answer could not be used: ${problem}`,
    'A stronger critic model answers in JSON more reliably.',
  );
}
