import { monitorEventLoopDelay } from 'node:perf_hooks';
import { exportBundle } from '../../src/lab/bundle.ts';
import { ENDPOINT, parseConfig } from '../../src/lab/config.ts';
import { RunControl } from '../../src/lab/control.ts';
import { runExperiment } from '../../src/lab/experiment.ts';
import type { PearlResult } from '../../src/lab/pearl-result.ts';
import { buildResult, type TextualResult } from '../../src/lab/result.ts';
import { formatSkill } from '../../src/lab/skill.ts';
import { pinSuite } from '../../src/lab/suites.ts';
import { unitProblem } from '../../src/lab/unit-check.ts';
import type { ImportedSuite } from '../../src/suites/import/suite-file.ts';
import type { RunEvent } from '../../src/textual/types.ts';
import { parseJson } from '../../src/transformer/json.ts';
import { type ParsedArgs, requiredOption, seedOption, textOption } from './args.ts';
import { environmentKeys } from './endpoint-keys.ts';
import { readUserText, userPath } from './node-files.ts';
import { NodeModels } from './node-models.ts';
import { isShippedSuite, NodeShelf, readSuite } from './node-suites.ts';
import { RunFolder } from './run-folder.ts';
import { runPearlCommand } from './run-pearl.ts';

/**
 * `run`: a whole experiment into a folder. The folder keeps the journal, so the same command goes on where it was.
 * @throws {NacreError} for bad input, or when the folder belongs to another experiment.
 */
export async function run(args: ParsedArgs, signal: AbortSignal): Promise<TextualResult | PearlResult> {
  const out = userPath(requiredOption(args, 'out'));
  const path = args.positional[0]!;
  const file = textOption(args, 'suite');
  const given = file === undefined || isShippedSuite(file) ? undefined : await readSuite(file, textOption(args, 'mapping'));
  const read = withOptions(await readConfig(path), args, given);
  if (isRecord(read) && read.kind === 'pearl') return runPearlCommand(read, out, signal);
  const shelf = new NodeShelf(path, given);
  const config = await pinSuite(parseConfig(read), shelf);
  const folder = await RunFolder.open(out, config, unitProblem);
  const { journal, createdAt } = folder;
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
      suites: shelf,
      emit(event) {
        report(event);
        // So that a run that is killed does not forget how long it took so far.
        if (event.type === 'step') void journal.put('seconds', seconds());
      },
      control: new RunControl(),
      signal,
    });
    // A finished folder keeps its figures: only the run that finished it writes down how long it took.
    const spent = await journal.once('seconds-total', async () => seconds());
    const longestTaskMs = await journal.once('longest-task-ms', async () => delay.max / 1e6);
    const result = buildResult({ config, findings, model, seconds: spent, longestTaskMs });
    folder.write('result.json', `${JSON.stringify(result, null, 2)}\n`);
    folder.write('SKILL.md', formatSkill(result, new Date(createdAt)));
    folder.write('bundle.zip', await exportBundle({ config, createdAt, result, units: journal.entries() }));
    return result;
  } finally {
    delay.disable();
    await journal.put('seconds', seconds());
    await models.close();
    await shelf.close();
    folder.close();
  }
}

async function readConfig(path: string): Promise<unknown> {
  return parseJson(
    path,
    await readUserText(undefined, path),
    'Correct the file; public/examples/textual-quick.json is a complete example.',
  );
}

/**
 * `--suite`, `--model`, `--endpoint`, `--seed` and `--backend` stand above the file. What is no object is left to the schema to
 * refuse.
 */
function withOptions(config: unknown, args: ParsedArgs, given: ImportedSuite | undefined): unknown {
  if (!isRecord(config)) return config;
  const suite = textOption(args, 'suite');
  return {
    ...config,
    ...(textOption(args, 'seed') === undefined ? {} : { seed: seedOption(args) }),
    ...(suite === undefined ? {} : { suite: suiteOf(isRecord(config.suite) ? config.suite : {}, suite, given) }),
    target: targetOf(isRecord(config.target) ? config.target : {}, args),
  };
}

/** Another suite with the sizes of the file. */
function suiteOf({ train, val, test, unseen, answerTokens }: Fields, id: string, given: ImportedSuite | undefined): Fields {
  const sizes = defined({ train, val, test, unseen });
  return given ? { id: 'imported', name: given.id, ...sizes, ...defined({ answerTokens }) } : { id, ...sizes };
}

function targetOf(target: Fields, args: ParsedArgs): Fields {
  const backend = textOption(args, 'backend');
  const model = textOption(args, 'model');
  const baseUrl = textOption(args, 'endpoint');
  if (baseUrl !== undefined) return { model: ENDPOINT, endpoint: { baseUrl, ...defined({ model }) } };
  const { runtime, endpoint, ...kept } = target;
  return { ...kept, ...(model === undefined ? defined({ runtime, endpoint }) : { model }), ...defined({ backend }) };
}

type Fields = Readonly<Record<string, unknown>>;

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function defined(record: Fields): Fields {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
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
