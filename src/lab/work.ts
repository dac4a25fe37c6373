import { NacreError } from '../core/errors.ts';
import type { PearlPolicy } from '../pearl/policy.ts';
import type { PearlEvent } from '../pearl/types.ts';
import type { RunEvent } from '../textual/types.ts';
import type { ExperimentConfig } from './config.ts';
import { RunControl } from './control.ts';
import { type ConnectModel, type ExperimentInput, runExperiment } from './experiment.ts';
import type { PearlConfig } from './pearl-config.ts';
import { type PearlExperiment, runPearlExperiment } from './pearl-experiment.ts';
import type { PearlResult } from './pearl-result.ts';
import { buildResult, type TextualResult } from './result.ts';
import type { RunProgress, RunRecord } from './runs.ts';

/** A policy whose weights belong to one run; `close` frees it. */
export interface OwnPolicy {
  readonly policy: PearlPolicy;
  close(): Promise<void>;
}

/** Starts a fresh copy of a model of the own runtime, for training. */
export type ConnectPolicy = (target: PearlConfig['target']) => Promise<OwnPolicy>;

export interface WorkInput extends Pick<ExperimentInput, 'journal' | 'suites' | 'signal'> {
  readonly record: RunRecord;
  readonly connect: ConnectModel;
  readonly connectPolicy: ConnectPolicy;
  readonly emit: (event: RunEvent | PearlEvent) => void;
  readonly control: RunControl;
}

/** Does a run's work, or replays it, and says what its list entry should show. */
export async function workOn(input: WorkInput): Promise<Partial<RunProgress>> {
  const { config } = input.record;
  if (config.kind === 'pearl') {
    const { findings, model } = await pearl(input, config);
    const { initial, final } = findings;
    return entry(model, [initial.scores.val?.rate, final.scores.val?.rate, initial.scores.test?.rate, final.scores.test?.rate]);
  }
  const { findings, model } = await runExperiment({ ...input, config });
  const { initial, best } = findings;
  return entry(model, [initial.scores.val?.rate, best.scores.val?.rate, initial.scores.test?.rate, best.scores.test?.rate]);
}

/** A finished PEARL run: its result and what else it ends with. */
export interface PearlFinished {
  readonly result: PearlResult;
  readonly outcome: PearlExperiment['outcome'];
}

type Replayable = Pick<WorkInput, 'record' | 'journal' | 'suites'>;

/** The result of a finished TextualRL run, rebuilt from its journal. @throws {NacreError} `run-unfinished`. */
export async function textualResultOf(config: ExperimentConfig, input: Replayable): Promise<TextualResult> {
  const { seconds, longestTaskMs } = input.record;
  const { findings, model } = await runExperiment({ ...replay(input), config });
  return buildResult({ config, findings, model, seconds, longestTaskMs });
}

/** The result of a finished PEARL run with its memory, rebuilt from its journal. @throws {NacreError} `run-unfinished`. */
export async function pearlResultOf(config: PearlConfig, input: Replayable): Promise<PearlFinished> {
  const { seconds, longestTaskMs } = input.record;
  const { findings, model, study, outcome } = await pearl(replay(input), config);
  const head = { schema: 'nacre.result/1', kind: 'pearl', config, seed: config.seed } as const;
  return { result: { ...head, seconds, longestTaskMs, model, pearl: findings, ...(study ? { study } : {}) }, outcome };
}

async function pearl(input: WorkInput, config: PearlConfig): Promise<PearlExperiment> {
  let own: OwnPolicy | undefined;
  const connect = async (): Promise<PearlPolicy> => {
    own = await input.connectPolicy(config.target);
    return own.policy;
  };
  try {
    return await runPearlExperiment({ ...input, config, connect });
  } finally {
    await own?.close();
  }
}

function replay({ record, journal, suites }: Replayable): WorkInput {
  const control = new RunControl();
  if (record.status === 'stopped') control.stop();
  const refuse = (): Promise<never> =>
    Promise.reject(
      new NacreError('run-unfinished', 'This run has no result yet.', 'Let it finish, or stop it: then what was found so far is tested.'),
    );
  const signal = new AbortController().signal;
  return { record, journal, suites, connect: refuse, connectPolicy: refuse, emit: () => undefined, control, signal };
}

type Rates = readonly [
  initial: number | undefined,
  best: number | undefined,
  testInitial: number | undefined,
  testBest: number | undefined,
];

function entry(model: RunProgress['model'], [initialRate, bestRate, testInitial, testBest]: Rates): Partial<RunProgress> {
  const known = Object.entries({ model, initialRate, bestRate, testInitial, testBest }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as Partial<RunProgress>;
}
