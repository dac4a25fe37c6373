import { strFromU8, strToU8 } from 'fflate';
import * as v from 'valibot';
import { NacreError } from '../core/errors.ts';
import { exportBanks } from '../pearl/export.ts';
import type { Banks } from '../pearl/types.ts';
import { packBundle, parseJson, unpackBundle } from '../storage/bundle.ts';
import { type PearlConfig, parsePearlConfig } from './pearl-config.ts';
import type { PearlResult } from './pearl-result.ts';

/** A PEARL run outside of the browser. */
export interface PearlBundle {
  readonly config: PearlConfig;
  readonly createdAt: number;
  readonly result: PearlResult;
  readonly banks: Banks;
  /** Finished units by key; weights are units as well. */
  readonly units: ReadonlyMap<string, unknown>;
}

const KIND = 'pearl-run';
const Head = v.object({ config: v.unknown(), createdAt: v.pipe(v.number(), v.minValue(0)), seconds: v.optional(v.number(), 0) });
const Unit = v.strictObject({ key: v.string(), value: v.unknown() });

/** A run as a zip: `run.json`, `journal.jsonl`, `result.json`, `banks.json`, `banks.bin`. */
export function exportPearlBundle({ config, createdAt, result, banks, units }: PearlBundle): Promise<Uint8Array> {
  const { json, features } = exportBanks(banks);
  const journal = Array.from(units, ([key, value]) => JSON.stringify({ key, value })).join('\n');
  return packBundle({
    kind: KIND,
    files: new Map([
      ['run.json', strToU8(JSON.stringify({ config, createdAt, seconds: result.seconds }))],
      ['journal.jsonl', strToU8(journal)],
      ['result.json', strToU8(JSON.stringify(result, null, 2))],
      ['banks.json', strToU8(json)],
      ['banks.bin', features],
    ]),
  });
}

export interface ImportedPearlRun {
  readonly config: PearlConfig;
  readonly createdAt: number;
  readonly seconds: number;
  readonly units: ReadonlyMap<string, unknown>;
}

/** @throws {NacreError} `bundle-invalid` or `config-invalid` naming the file, line and field. */
export async function importPearlBundle(zip: Uint8Array): Promise<ImportedPearlRun> {
  const { kind, files } = await unpackBundle(zip);
  if (kind !== KIND) throw invalid(`it holds "${kind}", not a PEARL run`);
  const part = (path: string): Uint8Array => {
    const bytes = files.get(path);
    if (!bytes) throw invalid(`${path} is missing`);
    return bytes;
  };
  const head = v.safeParse(Head, parseJson(part('run.json'), 'run.json'));
  if (!head.success)
    throw invalid(`run.json: ${head.issues.map((issue) => `${v.getDotPath(issue) ?? 'document'}: ${issue.message}`).join('; ')}`);
  const units = new Map<string, unknown>();
  strFromU8(part('journal.jsonl'))
    .split('\n')
    .forEach((line, index) => {
      if (line === '') return;
      const unit = v.safeParse(Unit, parseJson(strToU8(line), `journal.jsonl, line ${index + 1}`));
      if (!unit.success) throw invalid(`journal.jsonl, line ${index + 1} is not {"key", "value"}`);
      units.set(unit.output.key, unit.output.value);
    });
  const { config, createdAt, seconds } = head.output;
  return { config: parsePearlConfig(config), createdAt, seconds, units };
}

function invalid(what: string): NacreError {
  return new NacreError('bundle-invalid', `The bundle cannot be used: ${what}.`, 'Export it again from Nacre.');
}
