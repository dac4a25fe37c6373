import type { Journal } from '../core/journal.ts';
import { mean } from '../core/stats.ts';
import { SPLITS, type Split, type Suite, type Task } from '../core/types.ts';
import { type PearlOutcome, type PearlRun, runPearl } from '../pearl/loop.ts';
import { type PearlPolicy, SHARDS } from '../pearl/policy.ts';
import { type ArmRun, type StudyReport, studyReport } from '../pearl/report.ts';
import type { PearlEvent } from '../pearl/types.ts';
import { createSuite } from '../suites/registry.ts';
import type { TrainerState } from '../transformer/parallel.ts';
import { type PearlConfig, type StudyArm, studyArms } from './pearl-config.ts';
import { type PearlFindings, pearlFindings } from './pearl-result.ts';
import type { ResultModel } from './result.ts';
import { ScopedJournal } from './scoped-journal.ts';
import { takeTasks } from './tasks.ts';

export interface PearlExperimentInput {
  readonly config: PearlConfig;
  readonly journal: Journal;
  /** Connects the target with weights that can be trained; called when the first unit is missing. The caller closes it. */
  readonly connect: () => Promise<PearlPolicy>;
  readonly emit: (event: PearlEvent) => void;
  /** In a study, which arm and seed the following events belong to. */
  readonly onArm?: (arm: string, seed: number) => void;
  readonly signal: AbortSignal;
  readonly control: PearlRun['control'];
}

export interface PearlExperiment {
  readonly outcome: PearlOutcome;
  readonly findings: PearlFindings;
  readonly model: ResultModel;
  readonly study?: StudyReport;
}

/** Journal key under which the model of the run is remembered. */
const MODEL_KEY = 'model';

/**
 * Runs a PEARL experiment, or replays what its journal holds and goes on at the first missing unit. A study runs its arms one
 * after the other, each from the same initial weights and in a part of the journal of its own, without keeping trajectories.
 * @throws {NacreError} of the suite, the model, the loop or the journal; the signal's reason when it is aborted
 */
export async function runPearlExperiment(input: PearlExperimentInput): Promise<PearlExperiment> {
  const { config, journal } = input;
  const suite = createSuite(config.suite.id);
  const connect = remembered(input);
  const finished =
    config.study === undefined
      ? await single(input, suite, connect)
      : await study(input, suite, connect, studyArms(config), config.study.seeds, config.study.reference);
  const model = await journal.peek<ResultModel>(MODEL_KEY);
  return { ...finished, model: model ?? { id: config.target.model, parameters: 0, backend: 'none', adapter: 'none' } };
}

/** Connects once, and writes down which model it was. */
function remembered({ connect, journal }: PearlExperimentInput): () => Promise<PearlPolicy> {
  let connecting: Promise<PearlPolicy> | undefined;
  return async () => {
    connecting ??= connect();
    const policy = await connecting;
    const { id, parameters, backend, adapter } = policy.info;
    await journal.once<ResultModel>(MODEL_KEY, async () => ({ id, parameters, backend, adapter }));
    return policy;
  };
}

async function single(
  input: PearlExperimentInput,
  suite: Suite,
  connect: () => Promise<PearlPolicy>,
): Promise<Omit<PearlExperiment, 'model'>> {
  const { config, journal } = input;
  const outcome = await runPearl({
    ...runOf(input, suite),
    settings: config.pearl,
    seed: config.seed,
    journal,
    connect,
    keepRollouts: true,
  });
  return { outcome, findings: pearlFindings(config.pearl.optimiser, outcome) };
}

async function study(
  input: PearlExperimentInput,
  suite: Suite,
  connect: () => Promise<PearlPolicy>,
  arms: readonly StudyArm[],
  seeds: readonly number[],
  reference: string,
): Promise<Omit<PearlExperiment, 'model'>> {
  let initial: Promise<TrainerState> | undefined;
  const fresh = async (): Promise<PearlPolicy> => {
    const policy = await connect();
    const trainer = policy.trainer(SHARDS);
    initial ??= trainer.state();
    await trainer.load(await initial);
    return policy;
  };
  const runs: ArmRun[] = [];
  let first: Omit<PearlExperiment, 'model'> | undefined;
  // Seed by seed, so that a study that is stopped early compares all arms on equal terms.
  for (const seed of seeds) {
    for (const { name, settings } of arms) {
      input.onArm?.(name, seed);
      const journal = new ScopedJournal(input.journal, `${name}/${seed}`);
      const outcome = await runPearl({ ...runOf(input, suite), settings, seed, journal, connect: fresh, keepRollouts: false });
      first ??= { outcome, findings: pearlFindings(settings.optimiser, outcome) };
      if (outcome.stopped) return concluded(first, runs, reference);
      runs.push(armRun(name, seed, outcome));
    }
  }
  return concluded(first!, runs, reference);
}

/** The report on the arms that ran to their end. */
function concluded(first: Omit<PearlExperiment, 'model'>, runs: readonly ArmRun[], reference: string): Omit<PearlExperiment, 'model'> {
  if (!runs.some(({ arm }) => arm === reference)) return first;
  return { ...first, study: studyReport(runs, reference, finalScore(first.outcome)?.n ?? 0) };
}

function armRun(arm: string, seed: number, outcome: PearlOutcome): ArmRun {
  const { updates } = outcome;
  return {
    arm,
    seed,
    final: finalScore(outcome)?.rate ?? 0,
    training: updates.length === 0 ? 0 : mean(updates.map(({ success }) => success)),
    activeUpdates: updates.at(-1)?.shaping.activeUpdates ?? 0,
  };
}

/** The split that nothing was watched on, if there is one. */
function finalScore({ final }: PearlOutcome) {
  return final.scores.test ?? final.scores.val;
}

type Common = Omit<PearlRun, 'settings' | 'seed' | 'journal' | 'connect' | 'keepRollouts'>;

function runOf({ config, emit, signal, control }: PearlExperimentInput, suite: Suite): Common {
  const tasks = Object.fromEntries(SPLITS.map((split) => [split, takeTasks(suite, split, config.suite[split])])) as Record<
    Split,
    readonly Task[]
  >;
  return { tasks, open: (task, seed) => suite.open(task, seed), maxTurns: suite.maxTurns, context: config.context, emit, signal, control };
}
