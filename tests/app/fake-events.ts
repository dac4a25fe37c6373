import { Ledger } from '../../src/core/ledger.ts';
import { Random } from '../../src/core/random.ts';
import { mcnemarExact, wilsonInterval } from '../../src/core/stats.ts';
import type { Rollout, Split, Task, Turn } from '../../src/core/types.ts';
import type { ExperimentConfig } from '../../src/lab/config.ts';
import type {
  Checkpoint,
  Edit,
  RejectedCard,
  ReviewDecision,
  Route,
  RunEvent,
  Score,
  StepRecord,
  VerifiedCard,
} from '../../src/textual/types.ts';

/**
 * A made-up run in the events of a real one, for tests of the interface: no model acts here. Success of a task depends on
 * which of three rules its context holds, so the curves rise as they would.
 */
const TYPES = ['heat', 'cool', 'clean', 'look', 'pick', 'pick-two'] as const;
const RULES = [
  { name: 'OPEN', text: '- Open closed receptacles while searching; what you need may be inside.', types: ['heat', 'cool'] },
  {
    name: 'TREAT',
    text: '- Clean, heat or cool the object with the right appliance **before** placing it.',
    types: ['heat', 'cool', 'clean'],
  },
  { name: 'LAMP', text: '- Hold the object first, then use the desklamp.', types: ['look'] },
  { name: 'TWO', text: '- When two objects are asked for, fetch the second before you say done.', types: ['pick-two'] },
] as const;
const OBJECTS = ['mug 1', 'plate 2', 'apple 1', 'book 1', 'pen 1', 'bowl 1', 'tomato 2', 'cup 1'];
const PROTECTED = '<!-- protected:start format -->\nAnswer with one admissible command per turn.\n<!-- protected:end format -->';

export interface FakeRun {
  readonly events: readonly RunEvent[];
  readonly units: number;
}

export function fakeRun(config: ExperimentConfig): FakeRun {
  const random = new Random(config.seed, 'fake');
  const events: RunEvent[] = [];
  const ledger = new Ledger();
  const k = config.textual.rolloutsPerTask;
  const tasks = Object.fromEntries(
    (['train', 'val', 'test', 'unseen'] as const).map((split) => [split, makeTasks(split, config.suite[split], random.split(split))]),
  ) as Record<Split, Task[]>;
  const batch = Math.min(config.textual.batchTasks, tasks.train.length);
  const stepsPerEpoch = Math.ceil(tasks.train.length / batch);
  const totalSteps = stepsPerEpoch * config.textual.epochs;
  const initial = config.initialContext || `# Household\n\n${PROTECTED}\n`;
  let context = initial;
  let units = 0;

  const play = (role: 'rollout' | 'validation' | 'test', step: number, task: Task, index: number, text: string): Rollout => {
    const rollout = makeRollout(
      `${role === 'rollout' ? `s${step}` : `${role}-${hash(text)}`}/${task.id}/k${index}`,
      task,
      index,
      text,
      role === 'rollout' ? 0.25 : 0,
      random,
    );
    ledger.add(role, rollout.usage);
    events.push({ type: 'rollout', step, role, rollout, replayed: false });
    units += 1;
    return rollout;
  };
  const evaluate = (split: Split, role: 'validation' | 'test', step: number, text: string): Score => {
    const outcomes: Record<string, boolean> = {};
    const byType: Record<string, { n: number; success: number }> = {};
    tasks[split].forEach((task, at) => {
      if (at % 7 === 0)
        events.push({
          type: 'phase',
          step,
          phase: role === 'test' ? 'test' : 'gate',
          label: `${role === 'test' ? 'Testing' : 'Validating'} on ${tasks[split].length} ${split} tasks`,
          done: at,
          total: tasks[split].length,
        });
      const { success } = play(role, step, task, 0, text);
      outcomes[task.id] = success;
      const entry = byType[task.type] ?? { n: 0, success: 0 };
      byType[task.type] = { n: entry.n + 1, success: entry.success + (success ? 1 : 0) };
    });
    const n = tasks[split].length;
    const success = Object.values(outcomes).filter(Boolean).length;
    return { split, n, success, rate: n === 0 ? 0 : success / n, wilson: wilsonInterval(success, n), outcomes, byType, errors: 0 };
  };

  events.push({ type: 'started', totalSteps, initialContext: initial, tasks: Object.values(tasks).flat() });
  events.push({
    type: 'phase',
    step: 0,
    phase: 'validate-initial',
    label: 'Validating the initial context',
    done: 0,
    total: tasks.val.length,
  });
  let reference = evaluate('val', 'validation', 0, context);
  const initialVal = reference;
  events.push({ type: 'score', which: 'initial', step: 0, score: reference });
  let best: { step: number; context: string; val: Score } = { step: 0, context, val: reference };

  for (let step = 1; step <= totalSteps; step++) {
    const epoch = Math.ceil(step / stepsPerEpoch);
    const order = new Random(config.seed + epoch, 'batch').shuffle(tasks.train);
    const chosen = order.slice(((step - 1) % stepsPerEpoch) * batch, (((step - 1) % stepsPerEpoch) + 1) * batch);
    const budget = step <= totalSteps / 2 ? config.textual.editBudget : config.textual.minEditBudget;
    events.push({ type: 'step-started', step, epoch, taskIds: chosen.map(({ id }) => id), k, budget, context });
    const groups = chosen.map((task) => ({ task, rollouts: [] as Rollout[] }));
    for (let index = 0; index < k; index++) {
      groups.forEach((group, at) => {
        if (at % 4 === 0)
          events.push({
            type: 'phase',
            step,
            phase: 'rollouts',
            label: `Trying ${chosen.length} tasks ${k} times each`,
            done: index * chosen.length + at,
            total: k * chosen.length,
          });
        group.rollouts.push(play('rollout', step, group.task, index, context));
      });
    }
    const routeOf: Record<string, Route> = {};
    for (const { task, rollouts } of groups) {
      const s = rollouts.filter(({ success }) => success).length;
      routeOf[task.id] = s === 0 ? 'all-failure' : s === rollouts.length ? 'all-success' : 'mixed';
    }
    events.push({ type: 'routed', step, routeOf, duplicates: 5 });
    events.push({ type: 'phase', step, phase: 'critique', label: 'Contrasting outcomes', done: 0, total: groups.length });
    const cards = groups.flatMap(({ task, rollouts }, at) =>
      at % 2 === 0
        ? [makeCard(step, task, rollouts.find(({ success }) => !success) ?? (rollouts[0] as Rollout), routeOf[task.id] as Route, at)]
        : [],
    );
    const rejected: RejectedCard[] = [
      { card: { ...cards[0], quote: 'You open the fridge and it explodes.' }, reason: 'quote-not-found', callId: `c${step}-1` },
      { card: { ...cards[0], quote: 'short' }, reason: 'quote-too-short', callId: `c${step}-2` },
    ];
    events.push({ type: 'cards', step, cards, rejected });
    const rule = RULES[step % RULES.length] as (typeof RULES)[number];
    const usable = !context.includes(rule.text);
    const edit: Edit = {
      id: `s${step}-e1`,
      op: 'append',
      content: rule.text,
      kind: 'corrective',
      support: chosen.slice(0, 3).map(({ id }) => id),
    };
    const dropped: Edit = {
      id: `s${step}-e2`,
      op: 'append',
      content: '- Compare your result with the gold answer before you stop.',
      kind: 'corrective',
      support: chosen.slice(0, 1).map(({ id }) => id),
    };
    const narrow: Edit = {
      id: `s${step}-e3`,
      op: 'append',
      content: '- Always check every place twice.',
      kind: 'preservation',
      support: chosen.slice(1, 3).map(({ id }) => id),
    };
    const narrowed: Edit = { ...narrow, content: '- Go to a place you have not searched yet.' };
    const decisions: ReviewDecision[] = [
      {
        editId: edit.id,
        verdict: 'retain',
        reason: 'Three tasks of two routes show the same behaviour.',
        before: edit,
        after: edit,
        evidence: cards.slice(0, 2).map((card) => ({
          taskId: card.taskId,
          rolloutId: card.rolloutId,
          relation: 'supports' as const,
          reason: 'The quote shows the behaviour.',
        })),
      },
      step % 3 === 0
        ? {
            editId: narrow.id,
            verdict: 'insufficient_evidence',
            reason: 'Only one distinct task supports it.',
            before: narrow,
            evidence: [],
          }
        : {
            editId: narrow.id,
            verdict: 'narrow',
            reason: 'A success card contradicts the word "always".',
            before: narrow,
            after: narrowed,
            evidence: cards.slice(1, 2).map((card) => ({
              taskId: card.taskId,
              rolloutId: card.rolloutId,
              relation: 'contradicts' as const,
              reason: 'It succeeded without a second check.',
            })),
          },
    ];
    const added = decisions.flatMap(({ after }) => (after ? [after] : []));
    const candidate = usable ? `${context.trimEnd()}\n${added.map(({ content }) => content).join('\n')}\n` : context;
    const applied = usable ? added.map((one) => ({ edit: one, status: 'applied' as const })) : [{ edit, status: 'no-op' as const }];
    let score: Score | undefined;
    if (usable) {
      events.push({ type: 'patch', step, context, candidate, applied });
      score = evaluate('val', 'validation', step, candidate);
    }
    const gained = score ? tasks.val.filter(({ id }) => score.outcomes[id] && !reference.outcomes[id]).map(({ id }) => id) : [];
    const lost = score ? tasks.val.filter(({ id }) => !score.outcomes[id] && reference.outcomes[id]).map(({ id }) => id) : [];
    const accepted = score !== undefined && score.rate > reference.rate;
    const count = (route: Route) => Object.values(routeOf).filter((each) => each === route).length;
    const record: StepRecord = {
      step,
      epoch,
      taskIds: chosen.map(({ id }) => id),
      budget,
      routes: { mixed: count('mixed'), 'all-success': count('all-success'), 'all-failure': count('all-failure') },
      routeOf,
      rollouts: chosen.length * k,
      rolloutErrors: 0,
      duplicates: 5,
      skippedRoutes: count('all-failure') === 1 ? ['all-failure'] : [],
      cards,
      rejectedCards: rejected,
      edits: {
        proposed: [edit, dropped, narrow],
        dropped: [{ edit: dropped, reason: 'relies on the gold answer' }],
        reviewed: decisions,
        applied,
      },
      merges: [
        { id: `m${step}-1`, branch: 'corrective', level: 0, inputs: ['b1', 'b2'], edits: [edit], call: true, fallback: false },
        { id: `m${step}-2`, branch: 'preservation', level: 0, inputs: ['b3'], edits: [narrow], call: false, fallback: false },
        {
          id: `m${step}-3`,
          branch: 'combined',
          level: 1,
          inputs: [`m${step}-1`, `m${step}-2`],
          edits: [edit, narrow],
          call: true,
          fallback: false,
        },
      ],
      unusableAnswers: 0,
      resamples: 0,
      context,
      ...(usable ? { candidate } : {}),
      reference: reference.rate,
      ...(score ? { candidateScore: score } : {}),
      decision: score ? (accepted ? 'accepted' : 'rejected') : 'no-edit',
      reason: score
        ? `${score.rate.toFixed(2)} is ${accepted ? '' : 'not '}more than ${reference.rate.toFixed(2)} on the whole validation split.`
        : 'Every edit would repeat what the context says.',
      gained,
      lost,
      mcnemar: mcnemarExact(gained.length, lost.length),
      seconds: 3.4,
    };
    events.push({ type: 'step', record }, { type: 'tokens', totals: ledger.totals() });
    if (accepted && score) {
      context = candidate;
      reference = score;
      if (score.rate > best.val.rate) {
        best = { step, context, val: score };
        events.push({ type: 'score', which: 'best', step, score });
      }
    }
  }
  const finish = (step: number, text: string, val: Score): Checkpoint => {
    const scores: Partial<Record<Split, Score>> = { val };
    for (const split of ['train', 'test', 'unseen'] as const) {
      scores[split] = evaluate(split, 'test', step, text);
      events.push({ type: 'score', which: step === 0 ? 'initial' : 'best', step, score: scores[split] as Score });
    }
    return { step, context: text, contextHash: hash(text), scores };
  };
  const first = finish(0, initial, initialVal);
  const last = best.step === 0 ? first : finish(best.step, best.context, best.val);
  events.push({ type: 'tokens', totals: ledger.totals() });
  events.push({ type: 'phase', step: totalSteps, phase: 'done', label: 'Finished', done: 1, total: 1 });
  events.push({ type: 'finished', initial: first, best: last, stopped: false });
  return { events, units };
}

function makeTasks(split: Split, n: number, random: Random): Task[] {
  return Array.from({ length: n }, (_, at) => {
    const type = TYPES[at % TYPES.length] as string;
    const object = (random.pick(OBJECTS).split(' ')[0] as string) ?? 'mug';
    return {
      id: `${split}-${String(at).padStart(3, '0')}`,
      split,
      type,
      input: `${type === 'pick-two' ? 'put two' : type} ${object} ${type === 'look' ? 'under the desklamp' : 'and put it in the cabinet'}`,
      data: null,
    };
  });
}

function makeRollout(id: string, task: Task, index: number, context: string, noise: number, random: Random): Rollout {
  const own = random.split(id);
  const needed = RULES.filter((rule) => (rule.types as readonly string[]).includes(task.type));
  const held = needed.filter((rule) => context.includes(rule.text)).length;
  const luck = new Random(1, task.id).next();
  const chance = needed.length === 0 ? 0.85 : 0.08 + 0.85 * (held / needed.length) + (luck - 0.5) * 0.3;
  const success = own.chance(Math.min(0.98, Math.max(0.02, chance * (1 - noise / 2) + noise / 4)));
  const object = OBJECTS[index % OBJECTS.length] as string;
  const turns: Turn[] = [
    turn(
      `You are in the middle of a room. Looking quickly around you, you see a cabinet 1, a fridge 1, a microwave 1 and a drawer 2.\nYour task is to: ${task.input}.`,
      'go to cabinet 1',
      own,
    ),
    turn('You arrive at cabinet 1. The cabinet 1 is closed.', success ? 'open cabinet 1' : 'go to drawer 2', own),
    turn(
      success ? `You open the cabinet 1. In it, you see a ${object}.` : 'You arrive at drawer 2. On the drawer 2, you see nothing.',
      success ? `take ${object} from cabinet 1` : 'go to cabinet 1',
      own,
    ),
    turn(success ? `You pick up the ${object} from the cabinet 1.` : 'Nothing happens.', success ? 'go to microwave 1' : 'done', own),
  ];
  if (success)
    turns.push(
      turn('You arrive at microwave 1.', `heat ${object} with microwave 1`, own),
      turn(`You heat the ${object} using the microwave 1.`, 'done', own),
    );
  return {
    id,
    taskId: task.id,
    index,
    contextHash: hash(context),
    turns,
    finalObservation: success ? 'The task is done.' : 'The task is not done.',
    answer: 'done',
    reward: success ? 1 : 0,
    success,
    finish: success ? 'done' : own.chance(0.2) ? 'turn-limit' : 'done',
    usage: {
      calls: turns.length,
      inputTokens: 90 + turns.length * 14,
      outputTokens: turns.length * 5,
      textVolume: 400 + turns.length * 60,
      ms: 40,
    },
    seed: own.uint32(),
  };
}

function turn(observation: string, action: string, random: Random): Turn {
  const ids = action.split(' ').map(() => random.int(500));
  return {
    observation,
    action,
    reward: 0,
    tokens: { ids, logprobs: ids.map(() => -random.next()), entropies: ids.map(() => random.next()) },
  };
}

function makeCard(step: number, task: Task, rollout: Rollout, route: Route, at: number): VerifiedCard {
  const quote = 'The cabinet 1 is closed.';
  const observation = rollout.turns[1]?.observation ?? '';
  const start = observation.indexOf(quote);
  return {
    id: `s${step}-card${at}`,
    taskId: task.id,
    rolloutId: rollout.id,
    quote,
    condition: 'A closed receptacle stands on the way.',
    behavior: rollout.success ? 'The agent opens it and looks inside.' : 'The agent walks past it without opening it.',
    observedEffect: rollout.success ? 'The object is found at once.' : 'The object is never found and the episode ends.',
    route,
    callId: `c${step}-${at}`,
    location: { turn: 1, field: 'observation', start, end: start + quote.length },
    multiplicity: at % 3 === 0 ? 2 : 1,
  };
}

function hash(text: string): string {
  return new Random(0, text).uint32().toString(16).padStart(8, '0');
}
