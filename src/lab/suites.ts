import { NacreError } from '../core/errors.ts';
import type { Journal } from '../core/journal.ts';
import { SPLITS, type Split, type Suite, type Task } from '../core/types.ts';
import { checkReference } from '../suites/import/reference.ts';
import { checkSuite, type ImportedSuite, suiteHash } from '../suites/import/suite-file.ts';
import { createSuite, openImportedSuite } from '../suites/registry.ts';
import type { OpenSandbox } from '../suites/scorers/scorer.ts';
import type { ExperimentConfig } from './config.ts';
import { takeTasks } from './tasks.ts';

/** Where the suites that users brought are, and where foreign scorers run. */
export interface SuiteShelf {
  find(id: string): Promise<ImportedSuite | undefined>;
  readonly openSandbox: OpenSandbox;
}

export interface RunSuite {
  readonly suite: Suite;
  /** The tasks that the configuration takes. */
  readonly tasks: Readonly<Record<Split, readonly Task[]>>;
}

/** Journal key under which a run keeps the tasks of an imported suite. */
const SUITE_KEY = 'suite';

/**
 * The configuration with the imported suite it means written down: its hash, and how many tasks each split gives.
 * @throws {NacreError} `suite-missing`, `suite-differs`, `split-too-small`
 */
export async function pinSuite(config: ExperimentConfig, shelf: Pick<SuiteShelf, 'find'>): Promise<ExperimentConfig> {
  if (config.suite.id === 'household') {
    selectTasks(createSuite(config.suite.id), config);
    return config;
  }
  const imported = checkReference(config.suite, await shelf.find(config.suite.name));
  const sizes = Object.fromEntries(
    SPLITS.map((split) => [split, Math.min(config.suite[split], imported.tasks.filter((task) => task.split === split).length)]),
  );
  for (const split of ['train', 'val'] as const) {
    if (sizes[split] === 0) throw noTasks(imported.title, split);
  }
  return { ...config, suite: { ...config.suite, hash: suiteHash(imported), ...sizes } };
}

/**
 * The suite of a run. What is taken of an imported one is kept in the run's journal, so that the run can be shown, resumed and
 * exported when the suite is gone.
 * @throws {NacreError} `split-too-small`; `suite-missing` and `suite-differs` when the run begins
 */
export async function openRunSuite(config: ExperimentConfig, journal: Journal, shelf: SuiteShelf): Promise<RunSuite> {
  const chosen = config.suite;
  if (chosen.id === 'household') {
    const suite = createSuite(chosen.id);
    return { suite, tasks: selectTasks(suite, config) };
  }
  const stored = await journal.once<ImportedSuite>(SUITE_KEY, async () =>
    restrict(checkReference(chosen, await shelf.find(chosen.name)), config),
  );
  const { answerTokens } = chosen;
  const opened = openImportedSuite(checkSuite('The suite in the journal', stored), shelf.openSandbox);
  const suite = answerTokens === undefined ? opened : { ...opened, maxTokensPerTurn: answerTokens };
  return { suite, tasks: selectTasks(suite, config) };
}

/** A suite without the tasks that a configuration does not take. */
function restrict(imported: ImportedSuite, config: ExperimentConfig): ImportedSuite {
  const taken = selectTasks(openImportedSuite(imported, neverScored), config);
  const ids = new Set(Object.values(taken).flatMap((tasks) => tasks.map(({ id }) => id)));
  return { ...imported, tasks: imported.tasks.filter(({ id }) => ids.has(id)) };
}

function neverScored(): never {
  throw new Error('No answer is scored while tasks are chosen.');
}

/** The tasks of each split that a configuration asks for. @throws {NacreError} `split-too-small`. */
export function selectTasks(suite: Suite, config: ExperimentConfig): Readonly<Record<Split, readonly Task[]>> {
  const wanted = (split: Split): number =>
    config.suite.id === 'household' ? config.suite[split] : Math.min(config.suite[split], suite.splits[split].length);
  return Object.fromEntries(SPLITS.map((split) => [split, takeTasks(suite, split, wanted(split))])) as Record<Split, readonly Task[]>;
}

function noTasks(title: string, split: Split): NacreError {
  return new NacreError(
    'tasks-missing',
    `The suite "${title}" has no tasks in its ${split} split.`,
    'TextualRL needs train tasks to learn from and validation tasks for its gate: import the file with other splits.',
  );
}
