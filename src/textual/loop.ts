import { NacreError } from '../core/errors.ts';
import { contentHash } from '../core/hash.ts';
import type { Journal } from '../core/journal.ts';
import type { TokenTotals } from '../core/ledger.ts';
import type { Split, Task } from '../core/types.ts';
import type { CriticModel } from './ask.ts';
import { protectedRegions } from './context.ts';
import { scoreRollouts } from './gate.ts';
import { epochBatches, totalSteps } from './schedule.ts';
import type { TextualSettings } from './settings.ts';
import { type LoopState, optimisationStep } from './step.ts';
import type { Checkpoint, Phase, RunEvent, Score, StepRecord, Target } from './types.ts';
import { FinishEarly, type LoopControl, Units } from './units.ts';

export interface TextualRun {
  readonly settings: TextualSettings;
  readonly seed: number;
  readonly tasks: Readonly<Record<Split, readonly Task[]>>;
  /** The frozen model with its suite. It is handed the context as the model reads it, without protected-region markers. */
  readonly target: Target;
  readonly critic: CriticModel;
  readonly journal: Journal;
  readonly initialContext: string;
  readonly emit: (event: RunEvent) => void;
  /** Leaves at once; the journal keeps every finished unit. */
  readonly signal: AbortSignal;
  /** Pause and early finish, asked before each piece of work. */
  readonly control: LoopControl;
}

export interface TextualOutcome {
  readonly initial: Checkpoint;
  readonly best: Checkpoint;
  readonly steps: readonly StepRecord[];
  readonly tokens: TokenTotals;
  /** Finished early, on request or at the token cap. */
  readonly stopped: boolean;
}

/** Why and where a run finished early: stored, so that it ends at the same place when it is shown again. */
interface Stopped {
  readonly step: number;
  readonly reason: 'stopped' | 'token-cap';
  /** All that was spent until then, the abandoned step included. */
  readonly tokens: TokenTotals;
}

/** Order in which the two contexts are tested at the end. */
const TEST_SPLITS: readonly Split[] = ['test', 'unseen', 'train'];

/**
 * The TextualRL loop (§3): optimises the context of a frozen target. Run again with the same arguments and journal it replays
 * what is stored and goes on at the first missing unit, to the same result; over a full journal it calls no model.
 * @throws {NacreError} `context-markers`, `tasks-missing`, `critic-failed`; the abort reason when `signal` is aborted.
 */
export async function runTextual(run: TextualRun): Promise<TextualOutcome> {
  const { settings, seed, tasks, journal, emit } = run;
  protectedRegions(run.initialContext);
  requireTasks(tasks);
  const units = new Units({ ...run, rolloutRetries: settings.rolloutRetries, tokenCap: settings.tokenCap });
  const validate = validator(run, units);
  const total = totalSteps(tasks.train.length, settings.batchTasks, settings.epochs);
  const stopped = await journal.peek<Stopped>('stopped');
  const records: StepRecord[] = [];
  emit({ type: 'started', totalSteps: total, initialContext: run.initialContext, tasks: Object.values(tasks).flat() });

  let initialScore: Score | undefined;
  let best: { context: string; step: number; score: Score } | undefined;
  let early: Stopped | undefined;

  /** Runs one part of the loop; false when the run finishes early there. */
  const part = async (step: number, work: () => Promise<void>): Promise<boolean> => {
    if (stopped?.step === step) {
      units.restore(stopped.tokens);
      early = stopped;
      return false;
    }
    try {
      await work();
      return true;
    } catch (error) {
      if (!(error instanceof FinishEarly)) throw error;
      early = { step, reason: error.reason, tokens: units.totals() };
      await journal.put('stopped', early);
      return false;
    }
  };

  await part(0, async () => {
    emit(phase(0, 'validate-initial', 'Validating the initial context', 0, tasks.val.length));
    const score = await validate(run.initialContext, 0);
    initialScore = score;
    best = { context: run.initialContext, step: 0, score };
    emit({ type: 'score', which: 'initial', step: 0, score });
    emit({ type: 'score', which: 'best', step: 0, score });
  });

  if (initialScore) {
    let state: LoopState = { context: run.initialContext, reference: initialScore, judged: [], history: [] };
    let step = 0;
    optimisation: for (let epoch = 1; epoch <= settings.epochs; epoch++) {
      for (const [index, batch] of epochBatches(tasks.train, settings.batchTasks, seed, epoch).entries()) {
        if (settings.stopAtPerfect && state.reference.rate === 1) break optimisation;
        step++;
        const place = { step, total, epoch, batch: index + 1 };
        const went = await part(step, async () => {
          const stepped = await optimisationStep(place, batch, state, { settings, units, emit, validate });
          state = stepped.state;
          records.push(stepped.record);
          if (best && state.reference.rate > best.score.rate) {
            best = { context: state.context, step, score: state.reference };
            emit({ type: 'score', which: 'best', step, score: state.reference });
          }
          emit({ type: 'step', record: stepped.record });
          emit({ type: 'tokens', totals: units.totals() });
        });
        if (!went) break optimisation;
      }
    }
  }

  units.finishing = true;
  const initial = await testCheckpoint(run, units, 'initial', { context: run.initialContext, step: 0, val: initialScore });
  const bestFound = best ?? { context: run.initialContext, step: 0, score: undefined };
  const tested =
    bestFound.context === run.initialContext
      ? initial
      : await testCheckpoint(run, units, 'best', { context: bestFound.context, step: bestFound.step, val: bestFound.score });
  if (tested === initial) for (const split of TEST_SPLITS) emitScore(run, 'best', 0, initial.scores[split]);
  const tokens = units.totals();
  emit({ type: 'tokens', totals: tokens });
  emit(phase(records.length, 'done', 'Done', 1, 1));
  emit({ type: 'finished', initial, best: tested, stopped: early !== undefined });
  return { initial, best: tested, steps: records, tokens, stopped: early !== undefined };
}

/** Scores contexts on the validation split at the evaluation temperature; the same text is scored once (§3.3). */
function validator(run: TextualRun, units: Units): (context: string, step: number) => Promise<Score> {
  const { settings, tasks, emit } = run;
  const scores = new Map<string, Score>();
  return async (context, step) => {
    const hash = contentHash(context);
    const known = scores.get(hash);
    if (known) return known;
    const jobs = tasks.val.map((task) => ({
      key: `validate ${hash}/${task.id}`,
      id: `validate/${hash.slice(0, 8)}/${task.id}`,
      task,
      index: 0,
    }));
    const name = step === 0 ? 'validate-initial' : 'gate';
    const rollouts = await units.rollouts(jobs, {
      role: 'validation',
      context,
      temperature: settings.evalTemperature,
      step,
      onProgress: (done) => emit(phase(step, name, 'Validating on held-out tasks', done, jobs.length)),
    });
    const score = scoreRollouts('val', tasks.val, rollouts, settings.successThreshold);
    scores.set(hash, score);
    return score;
  };
}

/** Tests one context on everything that was not used to choose it, and on the train split for comparison. */
async function testCheckpoint(
  run: TextualRun,
  units: Units,
  which: 'initial' | 'best',
  found: { readonly context: string; readonly step: number; readonly val: Score | undefined },
): Promise<Checkpoint> {
  const { settings, tasks, emit } = run;
  const { context, step, val } = found;
  const hash = contentHash(context);
  const scores: Partial<Record<Split, Score>> = val ? { val } : {};
  for (const split of TEST_SPLITS) {
    const items = tasks[split];
    if (items.length === 0) continue;
    const label = `Testing the ${which} context (${split})`;
    const jobs = items.map((task) => ({
      key: `test ${hash}/${split}/${task.id}`,
      id: `test/${hash.slice(0, 8)}/${split}/${task.id}`,
      task,
      index: 0,
    }));
    emit(phase(step, 'test', label, 0, jobs.length));
    const rollouts = await units.rollouts(jobs, {
      role: 'test',
      context,
      temperature: settings.evalTemperature,
      step,
      onProgress: (done) => emit(phase(step, 'test', label, done, jobs.length)),
    });
    const score = scoreRollouts(split, items, rollouts, settings.successThreshold);
    scores[split] = score;
    emitScore(run, which, step, score);
  }
  return { step, context, contextHash: hash, scores };
}

function emitScore(run: TextualRun, which: 'initial' | 'best', step: number, score: Score | undefined): void {
  if (score) run.emit({ type: 'score', which, step, score });
}

function phase(step: number, name: Phase, label: string, done: number, total: number): RunEvent {
  return { type: 'phase', step, phase: name, label, done, total };
}

function requireTasks(tasks: TextualRun['tasks']): void {
  for (const split of ['train', 'val'] as const) {
    if (tasks[split].length > 0) continue;
    throw new NacreError(
      'tasks-missing',
      `The ${split} split holds no tasks.`,
      'TextualRL needs train tasks to learn from and validation tasks for its gate.',
    );
  }
}
