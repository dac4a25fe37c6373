import type { TokenTotals } from '../core/ledger.ts';
import type { Group, Task } from '../core/types.ts';
import { editBudget } from './budget.ts';
import { type JudgedPatch, screenPatch } from './buffer.ts';
import { deduplicate, type TaskBlock } from './dedupe.ts';
import { judge, type Verdict } from './gate.ts';
import { applyPatch } from './patch.ts';
import type { HistoryEntry } from './prompts.ts';
import { type Proposal, propose } from './propose.ts';
import { routeGroups } from './routing.ts';
import type { TextualSettings } from './settings.ts';
import type { Decision, Edit, EditReport, Phase, Route, RunEvent, Score, StepRecord } from './types.ts';
import type { Units } from './units.ts';

/** What one step hands to the next. */
export interface LoopState {
  readonly context: string;
  readonly reference: Score;
  readonly judged: readonly JudgedPatch[];
  readonly history: readonly HistoryEntry[];
}

export interface StepPlace {
  /** 1-based over the run. */
  readonly step: number;
  readonly total: number;
  /** 1-based. */
  readonly epoch: number;
  /** 1-based within the epoch. */
  readonly batch: number;
}

export interface StepTools {
  readonly settings: TextualSettings;
  readonly units: Units;
  readonly emit: (event: RunEvent) => void;
  readonly validate: (context: string, step: number) => Promise<Score>;
}

export interface Stepped {
  readonly record: StepRecord;
  readonly state: LoopState;
  readonly tokens: TokenTotals;
  readonly candidateScore?: Score;
}

/** One optimisation step (§3): rollouts, routes, critique, merge, review, patch, gate. */
export async function optimisationStep(place: StepPlace, tasks: readonly Task[], state: LoopState, tools: StepTools): Promise<Stepped> {
  const { settings, units, emit } = tools;
  const { step, epoch } = place;
  const prefix = `e${epoch}/b${place.batch}`;
  const started = units.clock();
  const budget = editBudget(step, place.total, settings.editBudget, settings.minEditBudget);
  const k = settings.rolloutsPerTask;
  const taskIds = tasks.map(({ id }) => id);
  emit({ type: 'step-started', step, epoch, taskIds, k, budget, context: state.context });

  const groups = await rolloutGroups(prefix, step, tasks, state.context, tools);
  const { routed, unrouted, errors } = routeGroups(groups, settings.successThreshold);
  const blocks = routed.map((group) => deduplicate(group, settings.successThreshold));
  const ran = routed.reduce((sum, group) => sum + group.rollouts.length, 0);
  const duplicates = ran - blocks.reduce((sum, block) => sum + block.trajectories.length, 0);
  const routeOf = Object.fromEntries(blocks.map(({ task, route }) => [task.id, route]));
  emit({ type: 'routed', step, routeOf, duplicates });

  const proposed = await proposeUnblocked(prefix, blocks, budget, place, state, tools);
  const { proposal, applied, candidate } = proposed;
  emit({ type: 'patch', step, context: state.context, candidate, applied: applied.reports });

  const outcome = await gateCandidate(proposed, blocks, place, state, tools);
  const { seconds } = await units.timed(`step ${prefix}`, started);
  const notes = [...proposal.notes, ...(unrouted.length > 0 ? [`${unrouted.length} tasks had no rollout that could run`] : [])];
  const record: StepRecord = {
    step,
    epoch,
    taskIds,
    budget,
    routes: countRoutes(blocks),
    routeOf,
    rollouts: ran,
    rolloutErrors: errors,
    duplicates,
    skippedRoutes: proposal.skippedRoutes,
    cards: proposal.cards,
    rejectedCards: proposal.rejectedCards,
    edits: { proposed: proposal.proposed, dropped: proposal.dropped, reviewed: proposal.reviews, applied: applied.reports },
    merges: proposal.merges,
    unusableAnswers: proposed.unusable,
    resamples: proposed.resamples,
    context: state.context,
    ...(candidate === state.context ? {} : { candidate }),
    reference: state.reference.rate,
    ...(outcome.score ? { candidateScore: outcome.score } : {}),
    decision: outcome.decision,
    reason: outcome.reason,
    gained: outcome.verdict?.gained ?? [],
    lost: outcome.verdict?.lost ?? [],
    mcnemar: outcome.verdict?.mcnemar ?? 1,
    seconds,
    ...(notes.length > 0 ? { notes } : {}),
    ...(outcome.verdict?.warning === undefined ? {} : { warning: outcome.verdict.warning }),
  };
  return {
    record,
    state: nextState(state, record, effectiveEdits(applied.reports)),
    tokens: units.totals(),
    ...(outcome.score ? { candidateScore: outcome.score } : {}),
  };
}

async function rolloutGroups(prefix: string, step: number, tasks: readonly Task[], context: string, tools: StepTools): Promise<Group[]> {
  const { settings, units, emit } = tools;
  const k = settings.rolloutsPerTask;
  const jobs = tasks.flatMap((task, t) =>
    Array.from({ length: k }, (_, index) => {
      const id = `${prefix}/t${t + 1}/k${index + 1}`;
      return { key: `rollout ${id}`, id, task, index };
    }),
  );
  const report = (done: number) => emit(phase(step, 'rollouts', 'Trying the tasks', done, jobs.length));
  report(0);
  const rollouts = await units.rollouts(jobs, {
    role: 'rollout',
    context,
    temperature: settings.trainTemperature,
    step,
    onProgress: report,
  });
  return tasks.map((task, t) => ({ task, rollouts: rollouts.slice(t * k, (t + 1) * k) }));
}

interface Proposed {
  readonly proposal: Proposal;
  readonly applied: { readonly context: string; readonly reports: readonly EditReport[] };
  readonly candidate: string;
  readonly blocked: boolean;
  readonly resamples: number;
  readonly unusable: number;
}

/** Proposes until the step buffer lets the patch through, with the blocked edits as a growing avoid list. */
async function proposeUnblocked(
  prefix: string,
  blocks: readonly TaskBlock[],
  budget: number,
  place: StepPlace,
  state: LoopState,
  tools: StepTools,
): Promise<Proposed> {
  const { settings, units, emit } = tools;
  const avoid: Edit[] = [];
  let unusable = 0;
  for (let resamples = 0; ; resamples++) {
    const proposal = await propose(blocks, {
      prefix: resamples === 0 ? prefix : `${prefix}/r${resamples}`,
      budget,
      settings,
      brief: {
        context: state.context,
        maxContextChars: settings.maxContextChars,
        maxEditChars: settings.maxEditChars,
        history: state.history,
        avoid,
      },
      ask: units.ask,
      onPhase: (name, label, done, total) => emit(phase(place.step, name, label, done, total)),
      onCards: (cards, rejected) => emit({ type: 'cards', step: place.step, cards, rejected }),
    });
    unusable += proposal.unusable;
    const applied = applyPatch(state.context, proposal.patch, settings);
    const candidate = applied.context;
    const block = screenPatch(effectiveEdits(applied.reports), state.judged);
    if (!block || resamples === settings.resamples) {
      return { proposal, applied, candidate, blocked: block !== undefined, resamples, unusable };
    }
    avoid.push(...block.edits);
  }
}

interface GateOutcome {
  readonly decision: Decision;
  readonly reason: string;
  readonly score?: Score;
  readonly verdict?: Verdict;
}

async function gateCandidate(
  proposed: Proposed,
  blocks: readonly TaskBlock[],
  place: StepPlace,
  state: LoopState,
  tools: StepTools,
): Promise<GateOutcome> {
  const { proposal, candidate, blocked, resamples } = proposed;
  if (blocks.length === 0) return { decision: 'skipped', reason: 'No rollout could run.' };
  if (proposal.calls === 0) return { decision: 'skipped', reason: 'Every route held a single task, so there was nothing to compare.' };
  if (blocked) return { decision: 'blocked', reason: `The step buffer blocked the patch after ${resamples} resamples.` };
  if (candidate === state.context) {
    const why = proposal.patch.length === 0 ? 'No edit came out of the critique.' : 'No edit of the patch could be applied.';
    return { decision: 'no-edit', reason: why };
  }
  const score = await tools.validate(candidate, place.step);
  const verdict = judge(state.reference, score);
  return { decision: verdict.accepted ? 'accepted' : 'rejected', reason: verdict.reason, score, verdict };
}

function nextState(state: LoopState, record: StepRecord, edits: readonly Edit[]): LoopState {
  const { step, decision, candidate, candidateScore } = record;
  const gated = candidateScore !== undefined;
  const entry: HistoryEntry = {
    step,
    decision,
    reference: state.reference.rate,
    ...(gated ? { candidate: candidateScore.rate } : {}),
    edits,
  };
  const history = gated || decision === 'blocked' ? [...state.history, entry] : state.history;
  const judged = gated ? [...state.judged, { edits, accepted: decision === 'accepted' }] : state.judged;
  if (decision !== 'accepted' || candidate === undefined || !gated) return { ...state, history, judged };
  return { context: candidate, reference: candidateScore, history, judged };
}

/** The edits that made the candidate what it is. */
function effectiveEdits(reports: readonly EditReport[]): Edit[] {
  return reports.filter(({ status }) => status === 'applied').map(({ edit }) => edit);
}

function countRoutes(blocks: readonly TaskBlock[]): Record<Route, number> {
  const routes: Record<Route, number> = { mixed: 0, 'all-success': 0, 'all-failure': 0 };
  for (const { route } of blocks) routes[route]++;
  return routes;
}

function phase(step: number, name: Phase, label: string, done: number, total: number): RunEvent {
  return { type: 'phase', step, phase: name, label, done, total };
}
