import { SPLITS } from '../core/types.ts';
import { EMPTY_BANKS, pushEntries } from './bank.ts';
import { fitMemory, type PatternMemory } from './clusters.ts';
import { assignCredit } from './credit.ts';
import { promptGroups } from './groups.ts';
import { Learner } from './learner.ts';
import { baseOptimiser } from './optimisers/index.ts';
import { updateRecord } from './record.ts';
import { type PearlRun, phase, secondsKey, streamOf, updateKey } from './run.ts';
import { requirePrompts } from './schedule.ts';
import { checkpoint, evaluate } from './scores.ts';
import type { PearlSettings } from './settings.ts';
import type { Banks, ClusterSnapshot, MistakePoint, PearlEvent, PolicyCheckpoint, UpdateRecord, UpdateUnit } from './types.ts';
import { learn } from './update.ts';

export type { PearlRun } from './run.ts';

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
    const again = await learn(trainer, { trajectories, ...unit }, settings.loss, streamOf(run, update).split('minibatches'));
    if (again.gradientNorm !== unit.record.gradientNorm) emit(resumedElsewhere(update, unit.record.gradientNorm, again.gradientNorm));
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
    const { seconds } = done.record;
    const record = score ? { ...done.record, evaluation: score, seconds: { ...seconds, evaluation: score.seconds } } : done.record;
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

/** The same backend gives the same bits; another one, or another version of the program, need not. */
function resumedElsewhere(update: number, before: number, now: number): PearlEvent {
  return {
    type: 'notice',
    code: 'resume-differs',
    message: `Update ${update} was learned again with a gradient norm of ${now}, which was ${before} the first time: this machine computes a little differently, so the run goes on from weights that are not the same to the bit.`,
  };
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
