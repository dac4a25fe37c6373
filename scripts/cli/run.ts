import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { NacreError } from '../../src/core/errors.ts';
import { exportBundle } from '../../src/lab/bundle.ts';
import { type ExperimentConfig, parseConfig } from '../../src/lab/config.ts';
import { RunControl } from '../../src/lab/control.ts';
import { runExperiment } from '../../src/lab/experiment.ts';
import { buildResult, type TextualResult } from '../../src/lab/result.ts';
import { formatSkill } from '../../src/lab/skill.ts';
import type { RunEvent } from '../../src/textual/types.ts';
import { parseJson } from '../../src/transformer/json.ts';
import { type ParsedArgs, requiredOption, seedOption, textOption } from './args.ts';
import { environmentKeys } from './endpoint-keys.ts';
import { FileJournal } from './file-journal.ts';
import { readUserFile, userPath } from './node-files.ts';
import { NodeModels } from './node-models.ts';

/** What of a run must be the same when a folder is used again. */
interface RunHead {
  readonly config: ExperimentConfig;
  readonly createdAt: number;
}

/**
 * `run`: a whole experiment into a folder. The folder keeps the journal, so the same command goes on where it was.
 * @throws {NacreError} for bad input, or when the folder belongs to another experiment.
 */
export async function run(args: ParsedArgs, signal: AbortSignal): Promise<TextualResult> {
  const out = userPath(requiredOption(args, 'out'));
  const config = withOptions(await readConfig(args.positional[0]!), args);
  mkdirSync(out, { recursive: true });
  const head = openFolder(out, config);
  const journal = new FileJournal(join(out, 'journal.jsonl'));
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const models = new NodeModels(environmentKeys(config, process.env), signal);
  const before = (await journal.peek<number>('seconds')) ?? 0;
  const began = performance.now();
  const seconds = () => before + (performance.now() - began) / 1000;
  try {
    const { findings, model } = await runExperiment({
      config,
      journal,
      connect: (choice) => models.connect(choice),
      emit: report,
      control: new RunControl(),
      signal,
    });
    // A finished folder keeps its figures: only the run that finished it writes down how long it took.
    const spent = await journal.once('seconds-total', async () => seconds());
    const longestTaskMs = await journal.once('longest-task-ms', async () => delay.max / 1e6);
    const result = buildResult({ config, findings, model, seconds: spent, longestTaskMs });
    const createdAt = new Date(head.createdAt);
    writeFileSync(join(out, 'result.json'), `${JSON.stringify(result, null, 2)}\n`);
    writeFileSync(join(out, 'SKILL.md'), formatSkill(result, createdAt));
    writeFileSync(join(out, 'bundle.zip'), await exportBundle({ config, createdAt: head.createdAt, result, units: journal.entries() }));
    return result;
  } finally {
    delay.disable();
    await journal.put('seconds', seconds());
    await models.close();
  }
}

async function readConfig(path: string): Promise<ExperimentConfig> {
  const text = new TextDecoder().decode(await readUserFile('CONFIG.json', path));
  return parseConfig(parseJson(path, text));
}

/** `--seed` and `--backend` stand above the file. */
function withOptions(config: ExperimentConfig, args: ParsedArgs): ExperimentConfig {
  const backend = textOption(args, 'backend');
  return {
    ...config,
    seed: textOption(args, 'seed') === undefined ? config.seed : seedOption(args),
    target: { ...config.target, backend: backend === 'cpu' || backend === 'webgpu' ? backend : config.target.backend },
  };
}

function openFolder(out: string, config: ExperimentConfig): RunHead {
  const path = join(out, 'run.json');
  if (!existsSync(path)) {
    const head: RunHead = { config, createdAt: Date.now() };
    writeFileSync(path, `${JSON.stringify(head, null, 2)}\n`);
    return head;
  }
  const head = JSON.parse(readFileSync(path, 'utf8')) as RunHead;
  if (JSON.stringify(head.config) !== JSON.stringify(config)) {
    throw new NacreError(
      'run-folder-taken',
      `--out: ${out} holds a run of another configuration or seed.`,
      'Choose another folder, or delete that one.',
    );
  }
  return head;
}

/** One line a boundary on stderr. */
function report(event: RunEvent): void {
  const line = describe(event);
  if (line) process.stderr.write(`${line}\n`);
}

function describe(event: RunEvent): string | undefined {
  if (event.type === 'score') return `${event.which} context on ${event.score.split}: ${event.score.rate.toFixed(3)} (n=${event.score.n})`;
  if (event.type !== 'step') return undefined;
  const { step, routes, cards, decision, reference, candidateScore, reason } = event.record;
  const score = candidateScore ? `${reference.toFixed(3)} → ${candidateScore.rate.toFixed(3)}` : reference.toFixed(3);
  return `step ${step}: ${routes.mixed} mixed, ${routes['all-success']} all-success, ${routes['all-failure']} all-failure; ${cards.length} cards; ${score} ${decision} (${reason})`;
}
