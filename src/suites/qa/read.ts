import * as v from 'valibot';
import { NacreError } from '../../core/errors.ts';
import { importTable } from '../import/import.ts';
import { Mapping } from '../import/mapping.ts';
import { checkSuite, type ImportedSuite, isSuiteFile, parseSuiteFile } from '../import/suite-file.ts';
import { decodeText, readTable } from '../import/table.ts';
import { PRESETS, type PresetOptions } from './presets.ts';

/**
 * A suite from any file a user may bring: a suite file is taken as it is, data in a well-known form is recognised, and other
 * tables need a mapping. A mapping always has the last word.
 *
 * @param mapping what `Mapping` describes, from outside.
 * @throws {NacreError} `mapping-needed` naming the columns, `mapping-invalid`, and what reading and importing throw.
 */
export function readSuiteData(file: string, content: Uint8Array, mapping?: unknown, options: PresetOptions = {}): ImportedSuite {
  const text = decodeText(file, content);
  if (isSuiteFile(text)) return parseSuiteFile(file, text);
  const table = readTable(file, text);
  const named = { title: file, ...options };
  if (mapping !== undefined) return checkSuite(file, importTable(table, parseMapping(mapping), named));
  const preset = PRESETS.find((known) => known.matches(table));
  if (preset) return preset.read(file, text, named);
  throw new NacreError(
    'mapping-needed',
    `${file} is a table with the columns ${table.columns.slice(0, 20).join(', ')}; which of them is the question, and which the answer?`,
    'Give a mapping: {"input": "{{question}}", "answers": ["answer"]}.',
  );
}

/** @throws {NacreError} `mapping-invalid` naming each wrong field. */
export function parseMapping(value: unknown): Mapping {
  const result = v.safeParse(Mapping, value);
  if (result.success) return result.output;
  const lines = result.issues.slice(0, 5).map((issue) => `${v.getDotPath(issue) ?? 'the mapping'}: ${issue.message}`);
  throw new NacreError('mapping-invalid', `The mapping is not valid: ${lines.join('; ')}.`, 'Correct the named fields.');
}
