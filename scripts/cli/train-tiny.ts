import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { HouseholdStudy } from '../../src/suites/household/study.ts';
import { flattenWeights } from '../../src/transformer/parameters.ts';
import { writeModelCard } from '../model-card.ts';
import { exportTiny, TINY_SETTINGS, trainTiny } from '../train-tiny.ts';
import { numberOption, type ParsedArgs, textOption } from './args.ts';
import { userPath } from './node-files.ts';

const ROOT = resolve(fileURLToPath(new URL('../..', import.meta.url)));

export interface TrainTinyResult {
  readonly folder: string;
  readonly parameters: number;
  readonly tokens: number;
  readonly study: HouseholdStudy;
}

/**
 * `train-tiny`: trains the shipped model, or goes on with a training that was stopped, writes it in MLC format and measures it
 * for its model card. The checkpoint lies in a folder of the settings below `build/train-tiny/`.
 * @throws {NacreError} for bad input; the signal's reason when stopped.
 */
export async function run(args: ParsedArgs, signal: AbortSignal): Promise<TrainTinyResult> {
  const tokens = numberOption(args, 'tokens', { default: TINY_SETTINGS.tokens, min: 1000, max: 1e10, integer: true });
  const seed = numberOption(args, 'seed', { default: TINY_SETTINGS.seed, min: 0, max: 0xffff_ffff, integer: true });
  const out = textOption(args, 'out');
  const folder = out === undefined ? join(ROOT, 'public/models/nacre-tiny') : userPath(out);
  const settings = { ...TINY_SETTINGS, tokens, seed };
  const checkpoints = join(ROOT, 'build/train-tiny', `seed-${seed}-tokens-${tokens}`);
  const weights = await trainTiny({ settings, folder: checkpoints, threads: Math.min(4, availableParallelism()), signal });
  signal.throwIfAborted();
  await exportTiny(weights, settings, checkpoints, folder);
  return { folder, parameters: flattenWeights(weights).length, tokens, study: await writeModelCard(folder) };
}
