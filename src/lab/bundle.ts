import { strFromU8, strToU8 } from 'fflate';
import * as v from 'valibot';
import { NacreError } from '../core/errors.ts';
import { packBundle, parseJson, unpackBundle } from '../storage/bundle.ts';
import { type ExperimentConfig, parseConfig } from './config.ts';
import type { TextualResult } from './result.ts';
import { formatSkill } from './skill.ts';

/** A run outside of the browser: its configuration, result and journal. */
export interface RunBundle {
  readonly config: ExperimentConfig;
  readonly createdAt: number;
  readonly result: TextualResult;
  /** Finished units by key. */
  readonly units: ReadonlyMap<string, unknown>;
}

const Head = v.object({ config: v.unknown(), createdAt: v.pipe(v.number(), v.minValue(0)), seconds: v.optional(v.number(), 0) });
const Unit = v.strictObject({ key: v.string(), value: v.unknown() });

/** A finished run as a zip: `run.json`, `journal.jsonl`, `result.json`, `SKILL.md`. */
export function exportBundle({ config, createdAt, result, units }: RunBundle): Promise<Uint8Array> {
  const journal = Array.from(units, ([key, value]) => JSON.stringify({ key, value })).join('\n');
  return packBundle({
    kind: 'textual-run',
    files: new Map([
      ['run.json', strToU8(JSON.stringify({ config, createdAt, seconds: result.seconds }))],
      ['journal.jsonl', strToU8(journal)],
      ['result.json', strToU8(JSON.stringify(result, null, 2))],
      ['SKILL.md', strToU8(formatSkill(result, new Date(createdAt)))],
    ]),
  });
}

export interface ImportedRun {
  readonly config: ExperimentConfig;
  readonly createdAt: number;
  readonly seconds: number;
  readonly units: ReadonlyMap<string, unknown>;
}

/** @throws {NacreError} `bundle-invalid` or `config-invalid` naming the file, line and field. */
export async function importBundle(zip: Uint8Array): Promise<ImportedRun> {
  const { kind, files } = await unpackBundle(zip);
  if (kind !== 'textual-run') throw invalid(`it holds "${kind}", not a run`);
  const head = v.safeParse(Head, parseJson(file(files, 'run.json'), 'run.json'));
  if (!head.success)
    throw invalid(`run.json: ${head.issues.map((issue) => `${v.getDotPath(issue) ?? 'document'}: ${issue.message}`).join('; ')}`);
  const units = new Map<string, unknown>();
  strFromU8(file(files, 'journal.jsonl'))
    .split('\n')
    .forEach((line, index) => {
      if (line === '') return;
      const unit = v.safeParse(Unit, parseJson(strToU8(line), `journal.jsonl, line ${index + 1}`));
      if (!unit.success) throw invalid(`journal.jsonl, line ${index + 1} is not {"key", "value"}`);
      units.set(unit.output.key, unit.output.value);
    });
  return { config: parseConfig(head.output.config), createdAt: head.output.createdAt, seconds: head.output.seconds, units };
}

function file(files: ReadonlyMap<string, Uint8Array>, path: string): Uint8Array {
  const bytes = files.get(path);
  if (!bytes) throw invalid(`${path} is missing`);
  return bytes;
}

function invalid(what: string): NacreError {
  return new NacreError('bundle-invalid', `The bundle cannot be used: ${what}.`, 'Export it again from Nacre.');
}
