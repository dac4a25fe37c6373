import type { Journal } from '../core/journal.ts';
import type { RolloutModel } from '../models/chat-rollouts.ts';
import type { OnTransfer } from '../models/download.ts';
import { runTextual } from '../textual/loop.ts';
import type { RunEvent } from '../textual/types.ts';
import { criticChoice, type ExperimentConfig, type ModelChoice } from './config.ts';
import type { RunControl } from './control.ts';
import { criticModel } from './critic.ts';
import type { ResultModel, RunFindings } from './result.ts';
import { openRunSuite, type SuiteShelf } from './suites.ts';
import { suiteTarget } from './target.ts';

/**
 * Connects a model of a configuration, the same one for the same choice as long as it works; the caller closes what it opened.
 * `onTransfer` is told how far a model that must be loaded first has come.
 */
export type ConnectModel = (choice: ModelChoice, onTransfer?: OnTransfer) => Promise<RolloutModel>;

export interface ExperimentInput {
  readonly config: ExperimentConfig;
  readonly journal: Journal;
  /** Called when the first unit that is not in the journal needs the target, and likewise for the critic's model. */
  readonly connect: ConnectModel;
  readonly suites: SuiteShelf;
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
  const { config, journal, connect, suites, emit, control, signal } = input;
  const { suite, tasks } = await openRunSuite(config, journal, suites);
  // Asked for each batch, so that a model that was lost is connected again.
  const target = async (): Promise<RolloutModel> => {
    const connected = await connect(config.target);
    const { id, parameters, backend, adapter } = connected.info;
    await journal.once<ResultModel>(MODEL_KEY, async () => ({ id, parameters, backend, adapter }));
    return connected;
  };
  const findings = await runTextual({
    settings: config.textual,
    seed: config.seed,
    tasks,
    target: suiteTarget(suite, target),
    critic: criticModel(criticChoice(config), connect, config.critic.maxTokens),
    journal,
    initialContext: config.initialContext,
    emit,
    signal,
    control,
  });
  const model = await journal.peek<ResultModel>(MODEL_KEY);
  return { findings, model: model ?? { id: config.target.model, parameters: 0, backend: 'none', adapter: 'none' } };
}
