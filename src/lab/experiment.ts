import type { Journal } from '../core/journal.ts';
import { SPLITS, type Split, type Suite, type Task } from '../core/types.ts';
import type { RolloutModel } from '../models/chat-rollouts.ts';
import { createSuite } from '../suites/registry.ts';
import { runTextual } from '../textual/loop.ts';
import type { RunEvent } from '../textual/types.ts';
import { criticChoice, type ExperimentConfig, type ModelChoice } from './config.ts';
import type { RunControl } from './control.ts';
import { criticModel } from './critic.ts';
import type { ResultModel, RunFindings } from './result.ts';
import { suiteTarget } from './target.ts';
import { takeTasks } from './tasks.ts';

/** Connects a model of a configuration, the same one for the same choice; the caller closes what it opened. */
export type ConnectModel = (choice: ModelChoice) => Promise<RolloutModel>;

export interface ExperimentInput {
  readonly config: ExperimentConfig;
  readonly journal: Journal;
  /** Called when the first unit that is not in the journal needs the target, and likewise for the critic's model. */
  readonly connect: ConnectModel;
  readonly emit: (event: RunEvent) => void;
  readonly control: RunControl;
  readonly signal: AbortSignal;
}

/** Journal key under which the model of the run is remembered. */
const MODEL_KEY = 'model';

/**
 * Runs a TextualRL experiment, or replays what its journal holds and goes on at the first missing unit.
 * @throws {NacreError} of the suite, the model or the journal; the signal's reason when it is aborted
 */
export async function runExperiment(input: ExperimentInput): Promise<{ readonly findings: RunFindings; readonly model: ResultModel }> {
  const { config, journal, connect, emit, control, signal } = input;
  const suite = createSuite(config.suite.id);
  let connecting: Promise<RolloutModel> | undefined;
  const target = async (): Promise<RolloutModel> => {
    connecting ??= connect(config.target);
    const connected = await connecting;
    const { id, parameters, backend, adapter } = connected.info;
    await journal.once<ResultModel>(MODEL_KEY, async () => ({ id, parameters, backend, adapter }));
    return connected;
  };
  const findings = await runTextual({
    settings: config.textual,
    seed: config.seed,
    tasks: selectTasks(suite, config),
    target: suiteTarget(suite, target),
    critic: criticModel(criticChoice(config), connect),
    journal,
    initialContext: config.initialContext,
    emit,
    signal,
    control,
  });
  const model = await journal.peek<ResultModel>(MODEL_KEY);
  return { findings, model: model ?? { id: config.target.model, parameters: 0, backend: 'none', adapter: 'none' } };
}

/** The tasks of each split that a configuration asks for. @throws {NacreError} `split-too-small`. */
export function selectTasks(suite: Suite, config: ExperimentConfig): Readonly<Record<Split, readonly Task[]>> {
  return Object.fromEntries(SPLITS.map((split) => [split, takeTasks(suite, split, config.suite[split])])) as Record<Split, readonly Task[]>;
}
