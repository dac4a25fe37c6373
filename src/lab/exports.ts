import { strToU8, zipSync } from 'fflate';
import { NacreError } from '../core/errors.ts';
import type { LoadedModel } from '../models/own/source.ts';
import { advantageExport, exportBanks, trainedWeights } from '../pearl/export.ts';
import type { DexieJournal } from '../storage/dexie-journal.ts';
import { visibleText } from '../textual/context.ts';
import { exportBundle } from './bundle.ts';
import type { ExperimentConfig } from './config.ts';
import { exportPearlBundle } from './pearl-bundle.ts';
import type { PearlConfig } from './pearl-config.ts';
import type { RunRecord } from './runs.ts';
import type { ExportedFile, ExportFormat } from './service.ts';
import { formatSkill } from './skill.ts';
import type { SuiteShelf } from './suites.ts';
import { trainedFiles, trainedSafetensors } from './trained-model.ts';
import { pearlResultOf, textualResultOf } from './work.ts';

export interface ExportInput {
  readonly record: RunRecord;
  readonly journal: DexieJournal;
  readonly suites: SuiteShelf;
  /** The model a policy was trained from, for the files that go with its weights. */
  readonly loadModel: (model: string) => Promise<LoadedModel>;
}

/** A finished run as a file. @throws {NacreError} `run-unfinished`, or `export-unknown` for a format this kind of run does not have. */
export function exportRun(input: ExportInput, format: ExportFormat): Promise<ExportedFile> {
  const { config } = input.record;
  return config.kind === 'pearl' ? exportPearl(config, input, format) : exportTextual(config, input, format);
}

async function exportTextual(config: ExperimentConfig, input: ExportInput, format: ExportFormat): Promise<ExportedFile> {
  const { record, journal } = input;
  const result = await textualResultOf(config, input);
  switch (format) {
    case 'skill':
      return text('SKILL.md', 'text/markdown', formatSkill(result, new Date(record.createdAt)));
    case 'prompt':
      return text('prompt.txt', 'text/plain', visibleText(result.textual.best.context));
    case 'result':
      return json('result.json', result);
    case 'bundle':
      return zip(record.id, await exportBundle({ config, createdAt: record.createdAt, result, units: journal.entries() }));
    default:
      throw unknown(format, 'TextualRL');
  }
}

async function exportPearl(config: PearlConfig, input: ExportInput, format: ExportFormat): Promise<ExportedFile> {
  const { record, journal } = input;
  const { result, outcome } = await pearlResultOf(config, input);
  const { banks } = outcome;
  switch (format) {
    case 'result':
      return json('result.json', result);
    case 'bundle':
      return zip(record.id, await exportPearlBundle({ config, createdAt: record.createdAt, result, banks, units: journal.entries() }));
    case 'banks': {
      const files = exportBanks(banks);
      return zip(`${record.id}-banks`, zipSync({ 'banks.json': strToU8(files.json), 'banks.bin': files.features }));
    }
    case 'advantages': {
      let lines = '';
      for await (const line of advantageExport(journal, outcome.updates.length)) lines += line;
      return text('advantages.jsonl', 'application/x-ndjson', lines);
    }
    case 'weights': {
      const { model, parameters } = await trained(config, input);
      const files = Object.fromEntries(Array.from(trainedFiles(model, parameters), ({ path, bytes }) => [path, bytes]));
      return zip(`${record.id}-weights`, zipSync(files, { level: 0 }));
    }
    case 'safetensors': {
      const { model, parameters } = await trained(config, input);
      return { name: 'model.safetensors', mime: 'application/octet-stream', bytes: trainedSafetensors(model, parameters) };
    }
    default:
      throw unknown(format, 'PEARL');
  }
}

async function trained(
  config: PearlConfig,
  { journal, loadModel }: ExportInput,
): Promise<{ model: LoadedModel; parameters: Float32Array }> {
  const stored = await trainedWeights(journal);
  if (!stored)
    throw new NacreError('no-weights', 'This run holds no trained weights.', 'A study keeps none: run the arm you want by itself.');
  return { model: await loadModel(config.target.model), parameters: stored.parameters };
}

function text(name: string, mime: string, content: string): ExportedFile {
  return { name, mime, bytes: new TextEncoder().encode(content) };
}

function json(name: string, content: object): ExportedFile {
  return text(name, 'application/json', `${JSON.stringify(content, null, 2)}\n`);
}

function zip(id: string, bytes: Uint8Array): ExportedFile {
  return { name: `nacre-${id}.zip`, mime: 'application/zip', bytes };
}

function unknown(format: ExportFormat, kind: string): NacreError {
  return new NacreError('export-unknown', `A ${kind} run cannot be exported as "${format}".`, 'Choose one of the formats its page offers.');
}
