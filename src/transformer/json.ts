import * as v from 'valibot';
import { NacreError } from '../core/errors.ts';

/**
 * Parses JSON that came from a file.
 * @param remedy what to do when it cannot be parsed; by default advice about the files of a model.
 * @throws {NacreError} `bad-json` naming the file and where the text stops being JSON.
 */
export function parseJson(file: string, text: string, remedy = `Download or export ${file} again; it may be cut off.`): unknown {
  // Editors on Windows may put a byte-order mark in front, which JSON.parse refuses.
  const clean = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  try {
    return JSON.parse(clean) as unknown;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new NacreError('bad-json', `${file} is not valid JSON: ${reason}.`, remedy, { cause });
  }
}

/**
 * Checks a value against a schema; the first fault is reported by its path.
 * @param remedy what to do about a fault; by default advice about the files of a model.
 * @throws {NacreError} `bad-field` naming the file and the field.
 */
export function validate<S extends v.GenericSchema>(
  file: string,
  schema: S,
  value: unknown,
  remedy = `Correct this field, or download the model's ${file} again.`,
): v.InferOutput<S> {
  const result = v.safeParse(schema, value, { abortEarly: true });
  if (result.success) return result.output;
  const issue = result.issues[0];
  const path = v.getDotPath(issue);
  const where = path === null ? file : `${file}: field ${path}`;
  const problem = issue.received === 'undefined' ? 'is missing' : lowerFirst(issue.message);
  throw new NacreError('bad-field', `${where} ${problem}.`, remedy);
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
