import { NacreError } from '../../core/errors.ts';
import { Random } from '../../core/random.ts';
import { type Episode, SPLITS, type Split, type Step, type Suite, type Task } from '../../core/types.ts';
import { act, admissibleCommands, initialObservation, initialState, isSolved, type State } from './engine.ts';
import { generateGame, STEP_LIMIT } from './generate.ts';
import { HOUSEHOLD_INSTRUCTIONS, readCommand } from './instructions.ts';
import { type RuleId, rulesAtStake } from './rules.ts';
import { goalText } from './wording.ts';
import { type Game, gameToJson, type Hazard, isGame, TASK_TYPES, type TaskType } from './world.ts';

export interface HouseholdOptions {
  /** Another seed gives other games in every split. */
  readonly seed?: number;
  /** How many tasks each split offers. */
  readonly sizes?: Partial<Record<Split, number>>;
}

const SIZES: Readonly<Record<Split, number>> = { train: 192, val: 192, test: 384, unseen: 192 };

/**
 * The hazards of successive tasks of one type. Pick & place has no hazard of its own (no treatment, lamp or second object), so
 * it carries one of the others most of the time; the rest carry one in half of the cases.
 */
const PLACE_CYCLE: readonly (readonly Hazard[])[] = [
  ['closed'],
  ['look-alike'],
  ['far'],
  ['closed', 'place'],
  ['look-alike', 'place'],
  ['far', 'appliance'],
  ['place'],
  ['closed', 'look-alike'],
];
const OTHER_CYCLE: readonly (readonly Hazard[])[] = [[], ['closed'], ['appliance'], ['look-alike'], ['place'], ['far']];

/** The hazards of the `n`th task of a type; types start at different places so that a prefix across types is balanced too. */
export function hazardsOf(type: TaskType, n: number): readonly Hazard[] {
  if (type === 'place') return PLACE_CYCLE[n % PLACE_CYCLE.length]!;
  return OTHER_CYCLE[(n + TASK_TYPES.indexOf(type)) % OTHER_CYCLE.length]!;
}

/**
 * The household suite with generated small games: ALFWorld's words and tasks in rooms of six to eight receptacles. Splits draw
 * from streams of their own; *unseen* has goals whose object–receptacle pairing occurs nowhere else. Types take turns, so any
 * prefix is balanced.
 */
export function createHouseholdSuite(options: HouseholdOptions = {}): Suite {
  const random = new Random(options.seed ?? 0, 'household');
  const splits = Object.fromEntries(
    SPLITS.map((split) => [split, makeTasks(split, options.sizes?.[split] ?? SIZES[split], random.split(split))]),
  ) as Record<Split, readonly Task[]>;
  return {
    id: 'household',
    title: 'Household (small games)',
    maxTurns: STEP_LIMIT,
    splits,
    instructions: HOUSEHOLD_INSTRUCTIONS,
    readAction: readCommand,
    open: openGame,
  };
}

function makeTasks(split: Split, count: number, random: Random): readonly Task[] {
  return Array.from({ length: count }, (_, i) => {
    const type = TASK_TYPES[i % TASK_TYPES.length]!;
    const n = Math.floor(i / TASK_TYPES.length);
    const spec = { type, hazards: hazardsOf(type, n), heldOutPair: split === 'unseen' };
    return gameTask(`${split}/${type}-${String(n).padStart(4, '0')}`, split, generateGame(spec, random.split(type).split(n)));
  });
}

/** A game as a task. */
export function gameTask(id: string, split: Split, game: Game): Task {
  return { id, split, type: game.goal.type, input: goalText(game.goal), data: gameToJson(game) };
}

/** The game of a task. @throws {NacreError} `not-a-game` when its data is none. */
export function taskGame(task: Task): Game {
  if (isGame(task.data)) return task.data;
  throw new NacreError('not-a-game', `Task ${task.id} holds no household game.`, 'Take tasks from the suite that opens them.');
}

/** A fresh episode of a task; small games hold nothing random, so there is no seed. */
export function openGame(task: Task): GameEpisode {
  const game = taskGame(task);
  return new GameEpisode(game, initialState(game), initialObservation(game));
}

/** A game in progress. The state is immutable, so a clone is three references. */
export class GameEpisode implements Episode {
  private readonly game: Game;
  private state: State;
  private latest: string;

  constructor(game: Game, state: State, observation: string) {
    this.game = game;
    this.state = state;
    this.latest = observation;
  }

  get observation(): string {
    return this.latest;
  }

  get admissible(): readonly string[] {
    return admissibleCommands(this.game, this.state);
  }

  act(text: string): Step {
    const { state, observation } = act(this.game, this.state, text);
    this.state = state;
    this.latest = observation;
    const success = isSolved(this.game, state);
    return { observation, reward: success ? 1 : 0, done: success || state.stopped, success };
  }

  clone(): Episode {
    return new GameEpisode(this.game, this.state, this.latest);
  }
}

/**
 * Tasks in which one rule is at stake: all hazards but its own are absent, so that success turns on this rule alone. They are
 * drawn from a stream of their own, apart from every split.
 */
export function hazardTasks(id: RuleId, count: number, seed = 0): readonly Task[] {
  const random = new Random(seed, `household/hazard/${id}`);
  const tasks: Task[] = [];
  for (let n = 0; tasks.length < count; n++) {
    const game = generateGame(ruleSpec(id, n), random.split(n));
    const stakes = rulesAtStake(game);
    if (stakes.length === 1 && stakes[0] === id) tasks.push(gameTask(`hazard/${id}-${String(n).padStart(4, '0')}`, 'test', game));
  }
  return tasks;
}

function ruleSpec(id: RuleId, n: number): { type: TaskType; hazards: readonly Hazard[]; heldOutPair: boolean } {
  const spec = (type: TaskType, ...hazards: Hazard[]) => ({ type, hazards, heldOutPair: false });
  switch (id) {
    case 'open':
      return spec('place', 'closed');
    case 'treat':
      return spec((['clean', 'heat', 'cool'] as const)[n % 3]!);
    case 'exact':
      return spec('place', 'look-alike');
    case 'lamp':
      return spec('light');
    case 'two':
      return spec('two');
    case 'new-place':
      return spec('place', 'far');
  }
}
