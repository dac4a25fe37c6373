import { Random } from '../../src/core/random.ts';
import { wilsonInterval } from '../../src/core/stats.ts';
import type { Split, Task } from '../../src/core/types.ts';
import type { PearlSettings } from '../../src/pearl/settings.ts';
import type {
  BankPoint,
  BankSnapshot,
  ClusterSnapshot,
  ClusterSummary,
  Decision,
  FailureCluster,
  Outcome,
  PairRecord,
  PearlEvent,
  PolicyCheckpoint,
  PolicyScore,
  ShapedTokens,
  TrajectoryView,
  UpdateRecord,
} from '../../src/pearl/types.ts';

/**
 * A made-up PEARL run in the events of a real one, for tests of the interface: no model acts or learns here, the features are
 * drawn around fixed centres and the clusters are those centres.
 */
export interface FakePearl {
  readonly seed: number;
  readonly settings: PearlSettings;
  readonly val: number;
  readonly test: number;
  /** Further entries in each bank at the first update, to make large banks. */
  readonly ballast?: number;
}

const VERBS = ['go to', 'take', 'open', 'put', 'clean', 'heat'] as const;
const THINGS = ['cabinet 1', 'mug 1', 'drawer 2', 'fridge 1', 'shelf 3', 'plate 1'] as const;
/** Centres in four dimensions; the first three are failures' only, the last two are shared with successes. */
const CENTRES = [
  [1, 0.2, 0.1, 0.1],
  [0.2, 1, 0.3, 0],
  [0.1, 0.2, 1, 0.4],
  [0.4, 0.4, 0.2, 1],
  [0.7, 0.7, 0.6, 0.1],
] as const;

export function fakePearl({ seed, settings, val, test, ballast = 0 }: FakePearl): PearlEvent[] {
  const random = new Random(seed, 'fake-pearl');
  const tasks = (['train', 'val', 'test'] as const).flatMap((split) =>
    makeTasks(split, split === 'train' ? 24 : split === 'val' ? val : test),
  );
  const train = tasks.filter(({ split }) => split === 'train');
  const events: PearlEvent[] = [{ type: 'pearl-started', optimiser: settings.optimiser, updates: settings.updates, settings, tasks }];
  const score = (split: Split, update: number): PolicyScore => {
    const n = split === 'val' ? val : test;
    const success = Math.round(n * skill(update, settings.updates, random));
    return { split, update, n, success, rate: success / n, wilson: wilsonInterval(success, n), byType: {}, responseLength: 21, seconds: 0 };
  };
  const checkpoint = (which: 'initial' | 'final', update: number): PolicyCheckpoint => {
    const scores: Partial<Record<Split, PolicyScore>> = {};
    for (const split of ['val', ...(test > 0 ? (['test'] as const) : [])] as const) {
      const one = score(split, update);
      scores[split] = one;
      events.push({ type: 'policy-score', which, score: one });
    }
    return { update, scores };
  };

  const initial = checkpoint('initial', 0);
  const banks: Record<Outcome, BankPoint[]> = { failure: [], success: [] };
  let snapshot: ClusterSnapshot | undefined;
  let activeUpdates = 0;
  for (let update = 1; update <= settings.updates; update++) {
    const prompts = Array.from({ length: settings.prompts }, (_, i) => train[(update * settings.prompts + i) % train.length] as Task);
    const rate = skill(update, settings.updates, random);
    const pairs: PairRecord[] = [];
    const shaped: ShapedTokens[] = [];
    const added: Record<Outcome, BankPoint[]> = { failure: [], success: [] };
    const advantages: Record<string, number[]> = {};
    let won = 0;
    let branches = 0;
    let degenerate = 0;
    prompts.forEach((task, p) => {
      events.push({
        type: 'pearl-phase',
        update,
        phase: 'rollouts',
        label: 'Playing',
        done: p * settings.rollouts.group,
        total: settings.prompts * settings.rollouts.group,
      });
      const forest = makeForest(update, task, rate, settings, random);
      events.push({
        type: 'forest',
        update,
        task: { id: task.id, type: task.type, input: task.input },
        trajectories: forest,
        replayed: false,
      });
      const successes = forest.filter(({ success }) => success).length;
      won += successes;
      branches += forest.filter(({ parentId }) => parentId).length;
      if (successes === 0 || successes === forest.length) degenerate += 1;
      for (const one of forest) advantages[one.id] = one.turns.map(() => Number((one.reward - successes / forest.length).toFixed(3)));
      for (const branch of forest) {
        const parent = forest.find(({ id }) => id === branch.parentId);
        if (!parent || parent.success === branch.success) continue;
        const made = makePair(update, task, parent, branch, snapshot, settings, random);
        pairs.push(made.pair);
        // An entry is stored once per bank, however many pairs name it.
        for (const outcome of ['failure', 'success'] as const) {
          if (!added[outcome].some(({ id }) => id === made[outcome].id)) added[outcome].push(made[outcome]);
        }
        if (made.shaped) shaped.push(made.shaped);
      }
    });
    if (update === 1) {
      for (let i = 0; i < ballast; i++) {
        added.failure.push(ballastPoint('failure', i, random));
        added.success.push(ballastPoint('success', i, random));
      }
    }
    banks.failure.push(...added.failure);
    banks.success.push(...added.success);
    const dropped = { failure: leave(banks.failure, update, settings), success: leave(banks.success, update, settings) };
    const skipped = { 'equal-reward': Math.max(0, branches - pairs.length), 'no-difference': 0, 'outside-action': 0 };
    events.push({ type: 'credit', update, advantages, pairs, skipped, shaped, added, dropped });
    const refitted = settings.optimiser === 'pearl' && update % settings.memory.refitEvery === 0;
    if (refitted) {
      snapshot = makeSnapshot(update, banks);
      events.push({ type: 'clusters', snapshot });
    }
    const trajectories = settings.prompts * settings.rollouts.group;
    const active = shaped.length > 0;
    if (active) activeUpdates += 1;
    const evaluated = settings.evaluation.every > 0 && update % settings.evaluation.every === 0 && update < settings.updates;
    const evaluation = evaluated ? score('val', update) : undefined;
    if (evaluation) events.push({ type: 'policy-score', which: 'during', score: evaluation });
    const kept = snapshot?.failure.clusters.filter((cluster) => cluster.kept).length ?? 0;
    const record: UpdateRecord = {
      update,
      taskIds: prompts.map(({ id }) => id),
      success: won / trajectories,
      trajectories,
      degenerate,
      branches,
      lateRoots: 0,
      pairs: pairs.length,
      skipped,
      banks: { failure: banks.failure.length, success: banks.success.length },
      clusters: {
        failure: snapshot?.failure.clusters.length ?? 0,
        success: snapshot?.success.clusters.length ?? 0,
        vetoed: (snapshot?.failure.clusters.length ?? 0) - kept,
        kept,
      },
      noise: snapshot?.failure.noise ?? 0,
      largestShare: snapshot?.largestShare ?? 0,
      refitted,
      shaping: {
        active,
        tokens: shaped.reduce((sum, { tokens }) => sum + tokens.length, 0),
        meanMultiplier: active ? shaped.reduce((sum, { multiplier }) => sum + multiplier, 0) / shaped.length : 1,
        activeUpdates,
      },
      entropy: 0.55 - (0.3 * update) / settings.updates + 0.04 * random.next(),
      loss: -0.01 * random.next(),
      clipFraction: 0.02 + 0.05 * random.next(),
      gradientNorm: 0.4 + 0.5 * random.next(),
      optimiserSteps: settings.loss.epochs,
      responseLength: 19 + 4 * random.next(),
      tokens: { input: 21_000, output: 4100, trained: 8200 },
      seconds: { rollouts: 0.9, features: 0.05, training: 0.8, clustering: 0.01, evaluation: 0 },
      ...(evaluation ? { evaluation } : {}),
    };
    events.push({ type: 'update', record, replayed: false });
  }
  const final = checkpoint('final', settings.updates);
  events.push({ type: 'pearl-finished', initial, final, stopped: false });
  return events;
}

function skill(update: number, updates: number, random: Random): number {
  return Math.min(0.97, 0.36 + 0.52 * (1 - Math.exp((-3 * update) / Math.max(1, updates))) + 0.04 * (random.next() - 0.5));
}

function makeTasks(split: Split, n: number): Task[] {
  const types = ['heat', 'cool', 'clean', 'look', 'pick', 'pick-two'];
  return Array.from({ length: n }, (_, i) => ({
    id: `${split}-${String(i).padStart(3, '0')}`,
    split,
    type: types[i % types.length] ?? 'pick',
    input: `put a ${['warm', 'cool', 'clean', 'lit', 'plain', 'second'][i % 6]} ${THINGS[i % THINGS.length]?.split(' ')[0]} on the table`,
    data: null,
  }));
}

function makeForest(update: number, task: Task, rate: number, settings: PearlSettings, random: Random): TrajectoryView[] {
  const { group, roots } = settings.rollouts;
  const forest: TrajectoryView[] = [];
  for (let index = 0; index < group; index++) {
    const success = random.next() < rate;
    const length = 3 + Math.floor(random.next() * 4);
    const parent = index >= roots ? forest[Math.floor(random.next() * forest.length)] : undefined;
    const branchTurn = parent ? Math.min(parent.turns.length - 1, 1 + Math.floor(random.next() * 3)) : 0;
    const shared = parent ? parent.turns.slice(0, branchTurn) : [];
    const own = Array.from({ length: Math.max(1, length - branchTurn) }, (_, i) => makeTurn(branchTurn + i, task, success, random));
    forest.push({
      id: `u${update}/${task.id}/k${index}`,
      taskId: task.id,
      index,
      ...(parent ? { parentId: parent.id, branchTurn } : {}),
      reward: success ? 1 : 0,
      success,
      finish: success ? 'done' : 'turn-limit',
      finalObservation: success ? 'You have done what was asked.' : 'Nothing happens.',
      turns: [...shared, ...own],
    });
  }
  return forest;
}

function makeTurn(turn: number, task: Task, success: boolean, random: Random): TrajectoryView['turns'][number] {
  const verb = VERBS[Math.floor(random.next() * VERBS.length)] ?? 'go to';
  const thing = THINGS[Math.floor(random.next() * THINGS.length)] ?? 'mug 1';
  const pieces = [verb, ` ${thing.split(' ')[0]}`, ` ${thing.split(' ')[1]}`, '<end>'];
  return {
    observation:
      turn === 0
        ? `You are in the middle of a room. Your task is to: ${task.input}.`
        : `You arrive at ${thing}. ${success ? 'It is open.' : 'It is closed.'}`,
    action: `${verb} ${thing}`,
    pieces,
    entropies: pieces.map(() => 0.9 * random.next()),
    probe: 0.05 + 0.4 * random.next(),
  };
}

function feature(centre: number, random: Random): number[] {
  const raw = (CENTRES[centre] ?? CENTRES[0]).map((value) => value + 0.12 * (random.next() - 0.5));
  const length = Math.hypot(...raw);
  return raw.map((value) => value / length);
}

function pointOf(
  outcome: Outcome,
  update: number,
  task: Task,
  one: TrajectoryView,
  decision: Decision,
  pairId: string,
  random: Random,
): BankPoint {
  const centre = outcome === 'failure' ? Math.floor(random.next() * CENTRES.length) : 3 + Math.floor(random.next() * 2);
  const turn = one.turns[decision.turn];
  return {
    id: `${one.id}@${decision.position}`,
    outcome,
    update,
    taskId: task.id,
    trajectoryId: one.id,
    pairId,
    turn: decision.turn,
    token: decision.token,
    tokenText: decision.tokenText,
    feature: feature(centre, random),
    taskInput: task.input,
    observation: turn?.observation ?? '',
    action: turn?.action ?? '',
    reply: one.turns[decision.turn + 1]?.observation ?? one.finalObservation,
    finish: one.finish,
    reward: one.reward,
  };
}

function ballastPoint(outcome: Outcome, i: number, random: Random): BankPoint {
  const verb = VERBS[i % VERBS.length] ?? 'go to';
  return {
    id: `u0/train-000/k${i}@12`,
    outcome,
    update: 1,
    taskId: 'train-000',
    trajectoryId: `u0/train-000/k${i}`,
    pairId: `u0/${i}`,
    turn: 1,
    token: 0,
    tokenText: verb,
    feature: feature(outcome === 'failure' ? i % CENTRES.length : 3 + (i % 2), random),
    taskInput: 'put a mug on the table',
    observation: 'You arrive at cabinet 1.',
    action: `${verb} mug 1`,
    reply: 'Nothing happens.',
    finish: outcome === 'success' ? 'done' : 'turn-limit',
    reward: outcome === 'success' ? 1 : 0,
  };
}

function makePair(
  update: number,
  task: Task,
  parent: TrajectoryView,
  branch: TrajectoryView,
  snapshot: ClusterSnapshot | undefined,
  settings: PearlSettings,
  random: Random,
): { readonly pair: PairRecord; readonly failure: BankPoint; readonly success: BankPoint; readonly shaped?: ShapedTokens } {
  const turn = branch.branchTurn ?? 0;
  const sideOf = (one: TrajectoryView): Decision => {
    const other = one === parent ? branch : parent;
    const pieces = one.turns[turn]?.pieces ?? [];
    const token = Math.max(
      0,
      pieces.findIndex((piece, i) => piece !== other.turns[turn]?.pieces[i]),
    );
    const position = 40 + turn * 12 + token;
    return {
      trajectoryId: one.id,
      turn,
      token,
      position,
      end: position + pieces.length - token,
      tokenId: token,
      tokenText: pieces[token] ?? '',
    };
  };
  const [low, high] = parent.success ? [branch, parent] : [parent, branch];
  const lower = sideOf(low);
  const higher = sideOf(high);
  const id = `${branch.id}~${parent.id}`;
  const curve = (swing: number) => ({
    raw: Array.from({ length: 8 }, (_, layer) => layer * 1.3 * swing - 2 + 0.3 * random.next()),
    normed: Array.from({ length: 8 }, (_, layer) => (9 * swing) / (1 + Math.exp(4 - layer)) + 0.3 * random.next()),
  });
  const cluster = snapshot ? Math.floor(random.next() * 6) - 1 : -1;
  const fitted = snapshot?.failure.clusters[cluster];
  const multiplier = fitted?.kept ? Math.exp(fitted.share / settings.memory.temperature) : 1;
  const pair: PairRecord = {
    id,
    taskId: task.id,
    parentId: parent.id,
    branchId: branch.id,
    branchTurn: turn,
    sharedTokens: lower.token,
    lower,
    higher,
    lowerCurve: curve(0.8),
    higherCurve: curve(1.1),
    ...(snapshot
      ? {
          lowerMatch: { cluster: fitted ? cluster : -1, strength: fitted ? 0.7 : 0, kept: fitted?.kept ?? false, multiplier },
          higherMatch: { cluster: 0, strength: 0.5, kept: false, multiplier: 1 },
        }
      : {}),
  };
  const length = (low.turns[turn]?.pieces.length ?? 0) - lower.token;
  return {
    pair,
    failure: pointOf('failure', update, task, low, lower, id, random),
    success: pointOf('success', update, task, high, higher, id, random),
    ...(fitted?.kept
      ? {
          shaped: {
            trajectoryId: low.id,
            pairId: id,
            outcome: 'failure',
            cluster,
            multiplier,
            tokens: Array.from({ length }, (_, i) => ({ turn, token: lower.token + i })),
          },
        }
      : {}),
  };
}

function leave(bank: BankPoint[], update: number, { memory }: PearlSettings): string[] {
  if (memory.window === 'unlimited') return [];
  const limit = update - memory.window;
  const gone = bank.filter((point) => point.update <= limit).map(({ id }) => id);
  bank.splice(0, gone.length);
  return gone;
}

function makeSnapshot(update: number, banks: Readonly<Record<Outcome, readonly BankPoint[]>>): ClusterSnapshot {
  const nearest = (point: BankPoint): { label: number; similarity: number } => {
    const similarities = CENTRES.map((centre) => cosine(point.feature, centre));
    const best = Math.max(...similarities);
    return { label: best > 0.992 ? similarities.indexOf(best) : -1, similarity: best };
  };
  const plane = (values: readonly number[]): [number, number] => [
    (values[0] ?? 0) - (values[3] ?? 0),
    (values[1] ?? 0) - 0.8 * (values[2] ?? 0) + 0.3 * (values[3] ?? 0),
  ];
  const bank = <C extends ClusterSummary>(
    points: readonly BankPoint[],
    make: (summary: ClusterSummary, total: number) => C,
  ): BankSnapshot<C> => {
    const found = points.map(nearest);
    const used = [...new Set(found.map(({ label }) => label))].filter((label) => label >= 0).sort((a, b) => a - b);
    const sums = used.map((label, at) => {
      const own = points.filter((_, i) => found[i]?.label === label);
      const centroid = own[0]?.feature.map((_, c) => own.reduce((sum, point) => sum + (point.feature[c] ?? 0), 0) / own.length) ?? [];
      const verbs = [...new Set(own.map(({ action }) => action.split(' ', 1)[0] ?? ''))].slice(0, 2);
      return {
        label: at,
        size: own.length,
        persistence: 0.3 + at / 10,
        centroid,
        verbs: verbs.map((verb) => ({ verb, share: own.filter(({ action }) => action.startsWith(verb)).length / own.length })),
      };
    });
    const keptTotal = sums.reduce((sum, { size, label }) => sum + (label < 3 ? size : 0), 0);
    return {
      pointIds: points.map(({ id }) => id),
      labels: found.map(({ label }) => used.indexOf(label)),
      probabilities: found.map(({ similarity }) => Math.max(0, (similarity - 0.9) * 10)),
      plane: points.map((point) => plane(point.feature)),
      clusters: sums.map((summary) => make(summary, keptTotal)),
      centres: sums.map(({ centroid }) => plane(centroid)),
      noise: points.length === 0 ? 0 : found.filter(({ label }) => label === -1).length / points.length,
    };
  };
  const failure = bank(
    banks.failure,
    (summary, total): FailureCluster =>
      summary.label < 3
        ? { ...summary, kept: true, share: summary.size / Math.max(1, total) }
        : { ...summary, kept: false, share: 0, vetoedBy: summary.label - 3, vetoStrength: 0.6 },
  );
  const success = bank(banks.success, (summary) => summary);
  return {
    update,
    failure,
    success,
    keptEntries: failure.clusters.reduce((sum, { kept, size }) => sum + (kept ? size : 0), 0),
    largestShare: banks.failure.length === 0 ? 0 : Math.max(0, ...failure.clusters.map(({ size }) => size)) / banks.failure.length,
    explained: [0.61, 0.24],
  };
}

function cosine(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0) / Math.hypot(...b) / Math.hypot(...a);
}
