import { NacreError, toPlainError } from '../../core/errors.ts';
import { addUsage, NO_USAGE } from '../../core/ledger.ts';
import type { Episode, RolloutFinish, Task, Usage } from '../../core/types.ts';
import type { SamplingOptions } from '../types.ts';
import type { EngineHandle, EngineTurn, EngineTurnResult, OpenedPrefix } from './engine.ts';
import type { Trajectory, TrajectoryTurn } from './trajectory.ts';

/** A place to branch from: the state before turn `turn` of the trajectory with that index. */
export interface BranchPoint {
  readonly trajectory: number;
  readonly turn: number;
}

/** A turn that has just been sampled. */
export interface PlayedTurn extends BranchPoint {
  readonly probe: number;
}

/** A trajectory's shape: where it came from and how many turns it has. */
export interface Grown {
  readonly turns: number;
  readonly parent?: number;
  readonly branchTurn?: number;
}

/** Decides how the trajectories of one prompt come about. One plan a prompt; it may keep state. */
export interface ForestPlan {
  /** Trajectories that start at the beginning. */
  readonly roots: number;
  /** Where branches may start: nowhere, before the turn just sampled, or before any turn of any trajectory but the first turn. */
  readonly branches: 'never' | 'latest' | 'anywhere';
  /** Branches to start after each round, from the turns just sampled (in order of trajectory). */
  afterRound(played: readonly PlayedTurn[], made: number): readonly BranchPoint[];
  /** What to start when all trajectories have ended; nothing ends the forest. */
  afterEnd(grown: readonly Grown[]): readonly (BranchPoint | 'root')[];
}

/** One prompt to play many times. */
export interface ForestJob {
  readonly task: Task;
  /** Opens the environment afresh. */
  open(): Episode;
  /** Id and seed of the trajectory with this index. */
  name(index: number): { readonly id: string; readonly seed: number };
  readonly plan: ForestPlan;
}

export interface ForestOptions extends SamplingOptions {
  /** System text of every trajectory. */
  readonly context: string;
  readonly contextHash: string;
  readonly maxTurns: number;
  readonly maxTokensPerTurn: number;
  /** Entropy probe: tokens of each turn, and likeliest tokens over which probabilities are renormalised. */
  readonly probe: { readonly tokens: number; readonly topK: number };
  /** Aborting rejects with the signal's reason; forests finished before have been reported. */
  readonly signal?: AbortSignal;
  readonly onForest?: (job: ForestJob, trajectories: readonly Trajectory[]) => void;
  /** Told after each trajectory that ends. */
  readonly onEnded?: () => void;
}

/** Mean entropy of a turn's first tokens over the likeliest `topK`, relative to that of a uniform vocabulary. */
export function probeEntropy(topEntropies: readonly number[], tokens: number, vocabulary: number): number {
  const first = topEntropies.slice(0, tokens);
  if (first.length === 0) return 0;
  return first.reduce((sum, entropy) => sum + entropy, 0) / first.length / Math.log(vocabulary);
}

interface Live {
  readonly grove: Grove;
  readonly index: number;
  readonly parent?: number;
  readonly branchTurn?: number;
  readonly sequence: number;
  readonly episode: Episode;
  readonly turns: TrajectoryTurn[];
  readonly ids: number[];
  /** The environment before turns that may be branched from. */
  readonly states: Map<number, Episode>;
  reward: number;
  usage: Usage;
}

/** The trajectories of one prompt as they grow. */
interface Grove {
  readonly job: ForestJob;
  readonly all: Live[];
  /** Along `all`; undefined while it runs. */
  readonly ended: (Trajectory | undefined)[];
}

/**
 * Plays forests on one engine: per round one message to the engine with every running trajectory of every prompt, then one
 * action in every environment, then the plans' decisions to branch. A trajectory depends on its prompt, plan, seeds and the
 * weights alone, not on what else is played beside it.
 * @param most sequences at a time; a prompt begins when its roots fit, its branches always run.
 * @throws {NacreError} `episode-cannot-branch`, `template-rewrites`; the signal's reason
 */
export async function playForests(
  engine: EngineHandle,
  vocabulary: number,
  jobs: readonly ForestJob[],
  options: ForestOptions,
  most: number,
): Promise<Trajectory[][]> {
  if (jobs.length === 0) return [];
  const nursery = new Nursery(engine, await engine.openPrefix([{ role: 'system', content: options.context }]));
  const results = new Map<ForestJob, readonly Trajectory[]>();
  const waiting = [...jobs];
  let open: Grove[] = [];
  try {
    while (waiting.length > 0 || open.length > 0) {
      for (let room = most - count(open); waiting.length > 0; room = most - count(open)) {
        if (open.length > 0 && waiting[0]!.plan.roots > room) break;
        const grove: Grove = { job: waiting.shift()!, all: [], ended: [] };
        await nursery.plant(grove, grove.job.plan.roots);
        open.push(grove);
      }
      const running = open.flatMap(runningOf);
      options.signal?.throwIfAborted();
      const started = performance.now();
      const answers = await engine.turns(running.map((run) => turnRequest(run, options)));
      options.signal?.throwIfAborted();
      const ms = (performance.now() - started) / running.length;
      for (const [i, run] of running.entries()) {
        const finish = await playTurn(run, answers[i]!, { ms, vocabulary, options });
        if (!finish) continue;
        run.grove.ended[run.index] = toTrajectory(run, finish, options.contextHash);
        options.onEnded?.();
      }
      for (const grove of open) await grow(nursery, grove, running);
      for (const { job, ended } of open.filter((grove) => runningOf(grove).length === 0)) {
        const trajectories = ended.map((trajectory) => trajectory!);
        results.set(job, trajectories);
        options.onForest?.(job, trajectories);
      }
      await nursery.release(open.filter((grove) => grove.job.plan.branches !== 'anywhere' || results.has(grove.job)).flatMap(endedOf));
      open = open.filter((grove) => !results.has(grove.job));
    }
  } finally {
    await nursery.close();
  }
  return jobs.map((job) => [...results.get(job)!]);
}

/** Starts what the plan wants after a round. */
async function grow(nursery: Nursery, grove: Grove, round: readonly Live[]): Promise<void> {
  const { plan } = grove.job;
  const played = round
    .filter((run) => run.grove === grove && run.turns.length > 0)
    .map(({ index, turns }) => ({ trajectory: index, turn: turns.length - 1, probe: turns.at(-1)!.probe }));
  for (const point of plan.afterRound(played, grove.all.length)) await nursery.branch(grove, point);
  if (runningOf(grove).length > 0) return;
  const grown = grove.all.map(({ turns, parent, branchTurn }) => ({ turns: turns.length, ...originOf(parent, branchTurn) }));
  for (const next of plan.afterEnd(grown)) await (next === 'root' ? nursery.plant(grove, 1) : nursery.branch(grove, next));
}

function originOf(parent: number | undefined, branchTurn: number | undefined): { parent?: number; branchTurn?: number } {
  return parent === undefined || branchTurn === undefined ? {} : { parent, branchTurn };
}

function runningOf({ all, ended }: Grove): Live[] {
  return all.filter(({ index }) => ended[index] === undefined);
}

function endedOf({ all, ended }: Grove): Live[] {
  return all.filter(({ index }) => ended[index] !== undefined);
}

function count(groves: readonly Grove[]): number {
  return groves.reduce((sum, grove) => sum + runningOf(grove).length, 0);
}

/** Starts trajectories, and lets go of the engine's sequences when they are no longer needed. */
class Nursery {
  private readonly engine: EngineHandle;
  private readonly opened: OpenedPrefix;
  private readonly held = new Set<number>();

  constructor(engine: EngineHandle, opened: OpenedPrefix) {
    this.engine = engine;
    this.opened = opened;
  }

  async plant(grove: Grove, roots: number): Promise<void> {
    const { prefix, tokens, ids } = this.opened;
    const usage = { ...NO_USAGE, inputTokens: tokens };
    for (const sequence of await this.engine.start(prefix, roots)) {
      this.add(grove, { sequence, episode: grove.job.open(), turns: [], ids: [...ids], states: new Map(), reward: 0, usage });
    }
  }

  /** A copy of a trajectory as it was before a turn: tokens, keys and values, and environment. */
  async branch(grove: Grove, { trajectory, turn }: BranchPoint): Promise<void> {
    const parent = grove.all[trajectory];
    const state = parent?.states.get(turn);
    const before = parent?.turns[turn - 1];
    if (!parent || !state || !before) {
      throw new NacreError(
        'bad-branch-point',
        `Task ${grove.job.task.id}: there is no state before turn ${turn} of trajectory ${trajectory}.`,
        'This is a defect of Nacre: please report it with the details.',
      );
    }
    const turns = parent.turns.slice(0, turn);
    this.add(grove, {
      parent: trajectory,
      branchTurn: turn,
      sequence: await this.engine.fork(parent.sequence, turn),
      episode: copyOf(state, grove.job.task),
      turns,
      ids: parent.ids.slice(0, before.span.end),
      states: new Map([...parent.states].filter(([at]) => at <= turn)),
      reward: turns.reduce((sum, { reward }) => sum + reward, 0),
      usage: NO_USAGE,
    });
  }

  async release(runs: readonly Live[]): Promise<void> {
    const sequences = runs.map((run) => run.sequence).filter((sequence) => this.held.delete(sequence));
    if (sequences.length > 0) await this.engine.release(sequences);
  }

  async close(): Promise<void> {
    await this.engine.release([...this.held]);
    await this.engine.closePrefix(this.opened.prefix);
  }

  private add(grove: Grove, run: Omit<Live, 'grove' | 'index'>): void {
    this.held.add(run.sequence);
    grove.all.push({ ...run, grove, index: grove.all.length });
    grove.ended.push(undefined);
  }
}

function turnRequest({ grove, index, sequence, turns, episode }: Live, options: ForestOptions): EngineTurn {
  const { temperature, topP, topK = 0, maxTokensPerTurn: maxTokens, probe } = options;
  const { seed } = grove.job.name(index);
  const messages = [{ role: 'user' as const, content: episode.observation }];
  return { sequence, messages, temperature, topP, topK, maxTokens, seed, key: `turn ${turns.length}`, detail: { entropyTopK: probe.topK } };
}

interface Finish {
  readonly how: RolloutFinish;
  readonly success: boolean;
  readonly error?: string;
}

interface PlayedWith {
  readonly ms: number;
  readonly vocabulary: number;
  readonly options: ForestOptions;
}

/** Records an answer and plays it; says how the trajectory ended, if it did. */
async function playTurn(run: Live, answer: EngineTurnResult, { ms, vocabulary, options }: PlayedWith): Promise<Finish | undefined> {
  const { episode } = run;
  const { observation } = episode;
  const { tokens, finish, inputTokens, historyTokens, detail } = answer;
  const { inputIds, pieces, topEntropies, restart } = detail!;
  if (restart) throw rewrites();
  const action = answer.text.trim();
  const { ids, logprobs, entropies } = tokens;
  run.usage = addUsage(run.usage, { calls: 1, inputTokens, outputTokens: ids.length, textVolume: historyTokens + ids.length, ms });
  keepState(run);
  const record = (reward: number): void => {
    const start = run.ids.length + inputIds.length;
    run.ids.push(...inputIds, ...ids);
    run.turns.push({
      observation,
      action,
      reward,
      tokens: { ids, logprobs, entropies },
      pieces,
      span: { start, end: start + ids.length },
      probe: probeEntropy(topEntropies, options.probe.tokens, vocabulary),
    });
  };
  if (finish !== 'stop') {
    if (ids.length > 0) record(0);
    return { how: finish === 'length' ? 'token-limit' : finish === 'context' ? 'context-limit' : 'cancelled', success: false };
  }
  try {
    const { reward, done, success } = await episode.act(action);
    record(reward);
    run.reward += reward;
    if (done) return { how: 'done', success };
    return run.turns.length >= options.maxTurns ? { how: 'turn-limit', success: false } : undefined;
  } catch (thrown) {
    record(0);
    return { how: 'error', success: false, error: toPlainError(thrown).message };
  }
}

/** Copies the environment before the turn is played, where the plan may branch from it; never before the first turn. */
function keepState({ grove, states, turns, episode }: Live): void {
  const { branches } = grove.job.plan;
  if (branches === 'never' || turns.length === 0) return;
  if (branches === 'latest') states.clear();
  states.set(turns.length, copyOf(episode, grove.job.task));
}

function copyOf(episode: Episode, task: Task): Episode {
  if (episode.clone) return episode.clone();
  throw new NacreError(
    'episode-cannot-branch',
    `The environment of task ${task.id} cannot be copied, so rollouts cannot branch in it.`,
    'Use an optimiser without branching (grpo, gigpo, meds), or a suite whose episodes can be cloned.',
  );
}

function toTrajectory(run: Live, finish: Finish, contextHash: string): Trajectory {
  const { grove, index, parent, branchTurn, turns, ids, reward, usage, episode } = run;
  const { job } = grove;
  const { id, seed } = job.name(index);
  return {
    id,
    taskId: job.task.id,
    index,
    contextHash,
    turns,
    ids,
    finalObservation: episode.observation,
    answer: turns.at(-1)?.action ?? '',
    reward,
    success: finish.success,
    finish: finish.how,
    usage,
    seed,
    ...(parent === undefined || branchTurn === undefined ? {} : { parentId: job.name(parent).id, branchTurn }),
    ...(finish.error === undefined ? {} : { error: finish.error }),
  };
}

function rewrites(): NacreError {
  return new NacreError(
    'template-rewrites',
    "The model's chat template rewrites earlier turns, so a conversation is not one text that can be trained on.",
    'Use a model whose template only appends.',
  );
}
