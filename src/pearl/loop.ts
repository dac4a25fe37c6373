import { contentHash } from '../core/hash.ts';
import { type Journal, MemoryJournal } from '../core/journal.ts';
import { Random } from '../core/random.ts';
import { type Episode, SPLITS, type Split, type Task } from '../core/types.ts';
import type { ForestJob } from '../models/own/forest.ts';
import { EMPTY_BANKS, pushEntries } from './bank.ts';
import { fitMemory, type PatternMemory } from './clusters.ts';
import { assignCredit } from './credit.ts';
import { evaluatePolicy, rolloutFailed } from './evaluate.ts';
import { Learner } from './learner.ts';
import { baseOptimiser } from './optimisers/index.ts';
import type { PearlPolicy } from './policy.ts';
import { trajectoryView, updateRecord } from './record.ts';
import { promptsOf, requirePrompts } from './schedule.ts';
import type { PearlSettings } from './settings.ts';
import type {
  Banks,
  ClusterSnapshot,
  MistakePoint,
  PearlEvent,
  PearlPhase,
  PolicyCheckpoint,
  PolicyScore,
  PromptGroup,
  Trajectory,
  UpdateRecord,
  UpdateUnit,
} from './types.ts';
import { learn } from './update.ts';

export interface PearlRun {
  readonly settings: PearlSettings;
  readonly seed: number;
  readonly tasks: Readonly<Record<Split, readonly Task[]>>;
  open(task: Task, seed: number): Episode;
  /** The suite's limit; the settings may lower it. */
  readonly maxTurns: number;
  /** System text of every rollout. */
  readonly context: string;
  /** Connects the policy, trainable and with the weights to start from; called once, when the journal lacks something. */
  readonly connect: () => Promise<PearlPolicy>;
  readonly journal: Journal;
  /** Keep every trajectory in the journal, to be shown and exported. Without them an update that resumes is played again. */
  readonly keepRollouts: boolean;
  readonly emit: (event: PearlEvent) => void;
  /** Leaves at once; the journal keeps every finished unit. */
  readonly signal: AbortSignal;
  /** Pause and early finish, asked before each update. */
  readonly control: { checkpoint(signal: AbortSignal): Promise<'continue' | 'finish'> };
}

export interface PearlOutcome {
  readonly initial: PolicyCheckpoint;
  readonly final: PolicyCheckpoint;
  readonly updates: readonly UpdateRecord[];
  readonly snapshots: readonly ClusterSnapshot[];
  readonly banks: Banks;
  /** Finished early on request. */
  readonly stopped: boolean;
}

/** What one update hands to the next. */
interface LoopState {
  readonly banks: Banks;
  /** The banks as they were at the latest fit, and its update. */
  readonly fitted?: { readonly banks: Banks; readonly update: number };
  readonly snapshot?: ClusterSnapshot;
  readonly mistakes: readonly MistakePoint[];
  readonly activeUpdates: number;
}

const START: LoopState = { banks: EMPTY_BANKS, mistakes: [], activeUpdates: 0 };

/**
 * The PEARL loop. Run again with the same arguments and journal it shows what is stored, brings the weights to where they were
 * (the last stored ones plus the updates since, learned again), and goes on at the first missing unit to the same bits.
 * @throws {NacreError} `too-few-tasks`, `rollout-failed`, `episode-cannot-branch`, `gradient-not-finite`; the abort reason
 */
export async function runPearl(run: PearlRun): Promise<PearlOutcome> {
  const { settings, tasks, journal, emit, signal } = run;
  requirePrompts(tasks.train, settings.prompts);
  const learner = new Learner(journal, run.connect, async (update, trainer) => {
    const unit = await journal.once<UpdateUnit>(updateKey(update), () => Promise.reject(new Error(`${updateKey(update)} is missing`)));
    const groups = await promptGroups(run, learner, update);
    const trajectories = groups.flatMap((group) => group.trajectories);
    await learn(trainer, { trajectories, ...unit }, settings.loss, streamOf(run, update).split('minibatches'));
  });
  emit({
    type: 'pearl-started',
    optimiser: settings.optimiser,
    updates: settings.updates,
    settings,
    tasks: SPLITS.flatMap((split) => tasks[split]),
  });
  const initial = await checkpoint(run, learner, 'initial', 0);
  const stoppedAt = (await journal.peek<{ update: number }>('stopped'))?.update;
  const records: UpdateRecord[] = [];
  const snapshots: ClusterSnapshot[] = [];
  let state = START;
  let stopped = false;
  for (let update = 1; update <= settings.updates; update++) {
    if (stoppedAt === update || (stoppedAt === undefined && (await askedToStop(run, update)))) {
      stopped = true;
      break;
    }
    const done = await oneUpdate(run, learner, update, state);
    state = done.state;
    const score = isEvaluated(update, settings) ? await evaluate(run, learner, 'during', update, 'val') : undefined;
    const record = score ? { ...done.record, evaluation: score } : done.record;
    records.push(record);
    if (done.snapshot) snapshots.push(done.snapshot);
    emit({ type: 'update', record, replayed: done.replayed });
  }
  const final = records.length === 0 ? initial : await checkpoint(run, learner, 'final', records.length);
  await learner.store();
  emit(phase(records.length, 'done', 'Done', 1, 1));
  emit({ type: 'pearl-finished', initial, final, stopped });
  signal.throwIfAborted();
  return { initial, final, updates: records, snapshots, banks: state.banks, stopped };
}

async function askedToStop({ journal, control, signal }: PearlRun, update: number): Promise<boolean> {
  // A stored update has been asked for before.
  if ((await journal.peek(updateKey(update))) !== undefined) return false;
  if ((await control.checkpoint(signal)) === 'continue') return false;
  await journal.put('stopped', { update });
  return true;
}

interface Updated {
  readonly state: LoopState;
  readonly record: UpdateRecord;
  readonly snapshot?: ClusterSnapshot;
  readonly replayed: boolean;
}

/** One update of the loop: rollouts, credit, learning, memory. */
async function oneUpdate(run: PearlRun, learner: Learner, update: number, state: LoopState): Promise<Updated> {
  const { settings, journal, emit, signal } = run;
  const replayed = (await journal.peek(updateKey(update))) !== undefined;
  const groups = replayed && !run.keepRollouts ? [] : await promptGroups(run, learner, update, true);
  const unit = await journal.once<UpdateUnit>(updateKey(update), async () => {
    const { policy, trainer } = await learner.at(update - 1);
    const clock = new PhaseClock();
    emit(phase(update, 'features', 'Comparing branches with their parents', 0, 1));
    const memory = memoryOf(state, settings);
    const random = streamOf(run, update);
    const { mistakes } = state;
    const credit = await assignCredit({ update, groups, settings, memory, mistakes, policy, random: random.split('shaping') });
    clock.lap('features');
    signal.throwIfAborted();
    emit(phase(update, 'training', 'Learning', 0, 1));
    const trajectories = groups.flatMap((group) => group.trajectories);
    const learning = await learn(trainer, { trajectories, ...credit }, settings.loss, random.split('minibatches'));
    clock.lap('training');
    const { banks } = pushEntries(state.banks, credit.added, update, settings.memory.window);
    const fitted = isRefitted(update, settings) ? fitMemory(banks, update, settings.memory).snapshot : undefined;
    clock.lap('clustering');
    const snapshot = fitted ?? state.snapshot;
    const rolloutSeconds = (await journal.peek<number>(secondsKey(update))) ?? 0;
    const record = updateRecord({
      update,
      groups,
      plannedRoots: baseOptimiser(settings).plan(settings, random).roots,
      credit,
      learning,
      banks,
      snapshot,
      activeBefore: state.activeUpdates,
      seconds: { rollouts: rolloutSeconds, evaluation: 0, ...clock.seconds() },
    });
    const { advantages, pairs, added, shaped } = credit;
    return {
      record,
      advantages,
      pairs,
      added,
      shaped,
      ...(fitted ? { snapshot: fitted } : {}),
      ...(credit.mistakes ? { mistakes: credit.mistakes } : {}),
    };
  });
  if (!replayed) await learner.learned(update, update % settings.checkpointEvery === 0);
  const { advantages, pairs, shaped, added, record, snapshot, mistakes = [] } = unit;
  const { banks, dropped } = pushEntries(state.banks, added, update, settings.memory.window);
  emit({ type: 'credit', update, advantages, pairs, skipped: record.skipped, shaped, added, dropped });
  if (snapshot) emit({ type: 'clusters', snapshot });
  const next: LoopState = {
    banks,
    mistakes: [...state.mistakes, ...mistakes],
    activeUpdates: record.shaping.activeUpdates,
    ...(snapshot ? { snapshot, fitted: { banks, update } } : { ...part(state, 'snapshot'), ...part(state, 'fitted') }),
  };
  return { state: next, record, replayed, ...(snapshot ? { snapshot } : {}) };
}

function part<K extends keyof LoopState>(state: LoopState, key: K): Partial<Pick<LoopState, K>> {
  return state[key] === undefined ? {} : ({ [key]: state[key] } as Pick<LoopState, K>);
}

/** Fits are deterministic: the clusters that the latest one gave are made again from its banks. */
function memoryOf({ fitted }: LoopState, settings: PearlSettings): PatternMemory | undefined {
  return fitted && settings.optimiser === 'pearl' ? fitMemory(fitted.banks, fitted.update, settings.memory) : undefined;
}

function isRefitted(update: number, { optimiser, memory }: PearlSettings): boolean {
  return optimiser === 'pearl' && update % memory.refitEvery === 0;
}

function isEvaluated(update: number, { evaluation, updates }: PearlSettings): boolean {
  return evaluation.every > 0 && update % evaluation.every === 0 && update < updates;
}

/** The trajectories of every prompt of an update: one unit of the journal a prompt. */
async function promptGroups(run: PearlRun, learner: Learner, update: number, show = false): Promise<PromptGroup[]> {
  const { settings, journal, emit, signal, context } = run;
  const prompts = promptsOf(update, run.tasks.train, settings.prompts, run.seed);
  const base = baseOptimiser(settings);
  const fresh = new Set<string>();
  const kept = run.keepRollouts ? journal : new MemoryJournal();
  const forests = await kept.onceEach<readonly Trajectory[]>(
    prompts.map((task) => forestKey(update, task)),
    async (missing, store) => {
      const started = performance.now();
      const { policy } = await learner.at(update - 1);
      const random = streamOf(run, update);
      const jobs = prompts
        .filter((task) => missing.includes(forestKey(update, task)))
        .map((task): ForestJob => {
          const stream = random.split(task.id);
          return {
            task,
            open: () => run.open(task, run.seed),
            plan: base.plan(settings, stream.split('plan')),
            name: (index) => ({ id: `u${update}/${task.id}/k${index}`, seed: stream.split(index).uint32() }),
          };
        });
      const total = jobs.length * (base.id === 'tree-grpo' ? leaves(settings) : settings.rollouts.group);
      let ended = 0;
      emit(phase(update, 'rollouts', 'Playing', 0, total));
      await policy.forests(jobs, {
        context,
        contextHash: contentHash(context),
        temperature: settings.rollouts.temperature,
        topP: settings.rollouts.topP,
        maxTurns: turnLimit(run),
        maxTokensPerTurn: settings.rollouts.maxTokensPerTurn,
        probe: { tokens: settings.branching.probeTokens, topK: settings.branching.probeTopK },
        signal,
        onEnded: () => emit(phase(update, 'rollouts', 'Playing', ++ended, total)),
        onForest: ({ task }, trajectories) => {
          const failed = trajectories.find(({ finish }) => finish === 'error');
          if (failed) throw rolloutFailed(failed.id, failed.error);
          store(forestKey(update, task), trajectories);
          fresh.add(task.id);
          if (show) emit(forestEvent(update, task, trajectories, false));
        },
      });
      const before = (await journal.peek<number>(secondsKey(update))) ?? 0;
      await journal.put(secondsKey(update), before + (performance.now() - started) / 1000);
    },
  );
  const groups = prompts.map((task, i) => ({ task, trajectories: forests[i]! }));
  if (show) for (const { task, trajectories } of groups) if (!fresh.has(task.id)) emit(forestEvent(update, task, trajectories, true));
  return groups;
}

function leaves({ tree }: PearlSettings): number {
  return tree.chains * (1 + tree.expansions * tree.rounds);
}

function forestEvent(update: number, { id, type, input }: Task, trajectories: readonly Trajectory[], replayed: boolean): PearlEvent {
  return { type: 'forest', update, task: { id, type, input }, trajectories: trajectories.map(trajectoryView), replayed };
}

/** Scores the policy on every split that has tasks. */
async function checkpoint(run: PearlRun, learner: Learner, which: 'initial' | 'final', update: number): Promise<PolicyCheckpoint> {
  const scores: Partial<Record<Split, PolicyScore>> = {};
  for (const split of ['val', 'test', 'unseen'] as const) {
    if (run.tasks[split].length > 0) scores[split] = await evaluate(run, learner, which, update, split);
  }
  return { update, scores };
}

async function evaluate(
  run: PearlRun,
  learner: Learner,
  which: 'initial' | 'during' | 'final',
  update: number,
  split: Split,
): Promise<PolicyScore> {
  const { settings, tasks, seed, context, signal, journal, emit } = run;
  const score = await journal.once(`score ${update}/${split}`, async () => {
    const { policy } = await learner.at(update);
    const name: PearlPhase = which === 'during' || split === 'val' ? 'evaluation' : 'test';
    return evaluatePolicy({
      policy,
      split,
      update,
      tasks: tasks[split],
      samples: settings.evaluation.samples,
      seed,
      context,
      maxTurns: turnLimit(run),
      maxTokensPerTurn: settings.rollouts.maxTokensPerTurn,
      open: (task, opened) => run.open(task, opened),
      signal,
      onRollout: (done, total) => emit(phase(update, name, `Greedy success on the ${split} tasks`, done, total)),
    });
  });
  emit({ type: 'policy-score', which, score });
  return score;
}

function turnLimit({ settings, maxTurns }: PearlRun): number {
  return settings.rollouts.maxTurns === 0 ? maxTurns : Math.min(maxTurns, settings.rollouts.maxTurns);
}

/** Everything random in an update; the same for every optimiser, so that runs differ by what they learn alone. */
function streamOf({ seed }: PearlRun, update: number): Random {
  return new Random(seed, 'pearl').split(update);
}

function updateKey(update: number): string {
  return `update ${update}`;
}

function forestKey(update: number, task: Task): string {
  return `update ${update}/forest/${task.id}`;
}

function secondsKey(update: number): string {
  return `update ${update}/rollout-seconds`;
}

function phase(update: number, name: PearlPhase, label: string, done: number, total: number): PearlEvent {
  return { type: 'pearl-phase', update, phase: name, label, done, total };
}

class PhaseClock {
  private readonly laps = { features: 0, training: 0, clustering: 0 };
  private last = performance.now();

  lap(name: 'features' | 'training' | 'clustering'): void {
    const now = performance.now();
    this.laps[name] += (now - this.last) / 1000;
    this.last = now;
  }

  seconds(): { readonly features: number; readonly training: number; readonly clustering: number } {
    return this.laps;
  }
}
