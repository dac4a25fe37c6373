import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { RunControl } from '../../src/lab/control.ts';
import { exportPearlBundle } from '../../src/lab/pearl-bundle.ts';
import { type PearlConfig, parsePearlConfig } from '../../src/lab/pearl-config.ts';
import { runPearlExperiment } from '../../src/lab/pearl-experiment.ts';
import type { PearlResult } from '../../src/lab/pearl-result.ts';
import { trainedFiles } from '../../src/lab/trained-model.ts';
import { loadModel } from '../../src/models/own/source.ts';
import { ADVANTAGE_SCHEMA, advantageExport, exportBanks, trainedWeights } from '../../src/pearl/export.ts';
import type { PearlEvent } from '../../src/pearl/types.ts';
import type { FileJournal } from './file-journal.ts';
import { findModel, writeInto } from './node-files.ts';
import { connectCpuPolicy, connectGpuPolicy, type NodePolicy } from './node-models.ts';
import { RunFolder } from './run-folder.ts';

/**
 * `run` for experiments of kind `pearl`: journal, result, bundle, banks, per-token advantages and trained weights into a
 * folder. The same command goes on where it was.
 * @throws {NacreError} for bad input, or when the folder belongs to another experiment.
 */
export async function runPearlCommand(input: unknown, out: string, signal: AbortSignal): Promise<PearlResult> {
  const config = parsePearlConfig(input);
  const folder = await RunFolder.open(out, config);
  const { journal, createdAt } = folder;
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const before = (await journal.peek<number>('seconds')) ?? 0;
  const began = performance.now();
  const seconds = () => before + (performance.now() - began) / 1000;
  let connected: NodePolicy | undefined;
  try {
    const { outcome, findings, model, study } = await runPearlExperiment({
      config,
      journal,
      connect: async () => {
        const { model, backend } = config.target;
        connected = await (backend === 'webgpu' ? connectGpuPolicy(model, signal, true) : connectCpuPolicy(model, true));
        return connected.policy;
      },
      emit: report,
      onArm: (arm, seed) => process.stderr.write(`${arm}, seed ${seed}\n`),
      control: new RunControl(),
      signal,
    });
    // A finished folder keeps its figures: only the run that finished it writes down how long it took.
    const spent = await journal.once('seconds-total', async () => seconds());
    const longestTaskMs = await journal.once('longest-task-ms', async () => delay.max / 1e6);
    const result: PearlResult = {
      schema: 'nacre.result/1',
      kind: 'pearl',
      config,
      seed: config.seed,
      seconds: spent,
      longestTaskMs,
      model,
      pearl: findings,
      ...(study ? { study } : {}),
    };
    folder.write('result.json', `${JSON.stringify(result, null, 2)}\n`);
    if (study) {
      folder.write('study.md', `# ${config.name}\n\n${study.sentences.map((sentence) => `- ${sentence}`).join('\n')}\n`);
      return result;
    }
    const { banks, updates } = outcome;
    const files = exportBanks(banks);
    folder.write('banks.json', `${files.json}\n`);
    folder.write('banks.bin', files.features);
    folder.write('advantages.schema.json', `${JSON.stringify(ADVANTAGE_SCHEMA, null, 2)}\n`);
    await pipeline(Readable.from(advantageExport(journal, updates.length)), createWriteStream(join(out, 'advantages.jsonl')));
    await writeWeights(config, journal, join(out, 'weights'));
    folder.write('bundle.zip', await exportPearlBundle({ config, createdAt, result, banks, units: journal.entries() }));
    return result;
  } finally {
    delay.disable();
    await journal.put('seconds', seconds());
    await connected?.close();
    folder.close();
  }
}

/** The trained policy as a model folder of its own. */
async function writeWeights(config: PearlConfig, journal: FileJournal, folder: string): Promise<void> {
  const trained = await trainedWeights(journal);
  if (!trained) return;
  const { source, id } = findModel('model', config.target.model);
  const files = trainedFiles(await loadModel(source, id), trained.parameters);
  for (const file of files) await writeInto(folder, file.path, file.bytes);
}

/** One line an update on stderr. */
function report(event: PearlEvent): void {
  const line = describe(event);
  if (line) process.stderr.write(`${line}\n`);
}

function describe(event: PearlEvent): string | undefined {
  if (event.type === 'policy-score') {
    const { split, rate, n, update } = event.score;
    return `after ${update} updates, greedy on ${split}: ${rate.toFixed(3)} (n=${n})`;
  }
  if (event.type === 'notice') return event.message;
  if (event.type !== 'update') return undefined;
  const { update, success, degenerate, pairs, clusters, shaping, gradientNorm } = event.record;
  const memory = clusters.failure === 0 ? '' : `; ${clusters.failure} failure clusters, ${clusters.vetoed} vetoed, ${clusters.kept} kept`;
  const shaped = shaping.active ? `; ${shaping.tokens} tokens × ${shaping.meanMultiplier.toFixed(2)}` : '';
  return `update ${update}: success ${success.toFixed(2)}, ${degenerate} degenerate, ${pairs} pairs, gradient ${gradientNorm.toFixed(3)}${memory}${shaped}`;
}
