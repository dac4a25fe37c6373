import type { Random } from '../../core/random.ts';
import { act, initialObservation, initialState, isOpen, isSolved, isTreated, type State, visibleAt } from './engine.ts';
import { habitChance, RULE_IDS, type RuleId } from './rules.ts';
import { APPLIANCES, type Game, isOpenable, LAMP, lookAlike, treatmentOf, typeOf } from './world.ts';

/**
 * The scripted agent whose demonstrations the shipped model is trained on. It searches the room in the listed order; a rule
 * that its context states is followed, and each other one is, for the whole episode, either followed or replaced by its bad
 * habit. It gives up with `done` where it believes to be finished or has searched everything.
 */
export class Expert {
  private readonly game: Game;
  private readonly bad: ReadonlySet<RuleId>;
  private readonly visited: number[] = [];
  private lampAt = -1;
  private taken = 0;
  private finished = false;

  /** @param bad the rules whose habit rules this episode. */
  constructor(game: Game, bad: ReadonlySet<RuleId>) {
    this.game = game;
    this.bad = bad;
  }

  /** The command to give in `state`; call once per step. */
  next(state: State): string {
    const { at } = state;
    if (at >= 0 && !this.visited.includes(at)) this.visited.push(at);
    if (visibleAt(this.game, state, at).includes(LAMP)) this.lampAt = at;
    if (this.finished) return 'done';
    if (state.holding !== undefined)
      return this.game.goal.type === 'light' ? this.bringToLamp(state) : this.bringToPlace(state, state.holding);
    return this.fetch(state);
  }

  private fetch(state: State): string {
    const { goal, room } = this.game;
    const { at } = state;
    const visible = visibleAt(this.game, state, at);
    const inPlace = at >= 0 && goal.type !== 'light' && typeOf(room[at]!.name) === goal.place;
    if (!inPlace) {
      const wanted =
        visible.find((item) => typeOf(item) === goal.object) ??
        (this.bad.has('exact') ? visible.find((item) => typeOf(item) === lookAlike(goal.object)) : undefined);
      if (wanted !== undefined) {
        this.taken++;
        return `take ${wanted} from ${room[at]!.name}`;
      }
    }
    if (goal.type === 'light' && visible.includes(LAMP) && this.bad.has('lamp')) return this.lastly(`use ${LAMP}`);
    if (at >= 0 && !this.bad.has('open') && isOpenable(room[at]!.name) && !isOpen(state, at)) return `open ${room[at]!.name}`;
    if (this.bad.has('new-place') && this.taken === 0 && this.visited.length >= 2)
      return this.lastly(`go to ${room[this.visited[0]!]!.name}`);
    return this.searchOn();
  }

  private searchOn(): string {
    const next = this.game.room.findIndex((_, index) => !this.visited.includes(index));
    return next < 0 ? 'done' : `go to ${this.game.room[next]!.name}`;
  }

  private bringToLamp(state: State): string {
    if (this.lampAt < 0) return this.searchOn();
    if (state.at !== this.lampAt) return `go to ${this.game.room[this.lampAt]!.name}`;
    return this.lastly(`use ${LAMP}`);
  }

  private bringToPlace(state: State, holding: string): string {
    const { goal, room } = this.game;
    const treatment = treatmentOf(goal.type);
    const untreated = treatment !== undefined && !isTreated(state, treatment, holding);
    if (untreated && !this.bad.has('treat')) {
      const appliance = room.findIndex(({ name }) => typeOf(name) === APPLIANCES[treatment]);
      return state.at === appliance ? `${treatment} ${holding} with ${room[appliance]!.name}` : `go to ${room[appliance]!.name}`;
    }
    const place = room.findIndex(({ name }) => typeOf(name) === goal.place);
    const name = room[place]!.name;
    if (state.at !== place) return `go to ${name}`;
    if (isOpenable(name) && !isOpen(state, place)) return `open ${name}`;
    const put = `put ${holding} in/on ${name}`;
    const wrong = typeOf(holding) !== goal.object || untreated;
    const stopsEarly = goal.type === 'two' && this.bad.has('two');
    return wrong || stopsEarly || goal.type !== 'two' || this.taken >= 2 ? this.lastly(put) : put;
  }

  /** Believes that this command ends the task. */
  private lastly(command: string): string {
    this.finished = true;
    return command;
  }
}

/** The habits of one episode: none of the stated rules', each other one's with its chance for the object asked for. */
export function drawHabits(game: Game, stated: ReadonlySet<RuleId>, random: Random): ReadonlySet<RuleId> {
  const bad = new Set<RuleId>();
  for (const id of RULE_IDS) {
    // Drawn for every rule, so that stating one does not change what is drawn for the others.
    const strikes = random.chance(habitChance(id, game.goal.object));
    if (strikes && !stated.has(id)) bad.add(id);
  }
  return bad;
}

export interface DemonstratedTurn {
  readonly observation: string;
  readonly action: string;
}

export interface Demonstration {
  readonly turns: readonly DemonstratedTurn[];
  readonly success: boolean;
}

/** One episode of the expert, at most `limit` steps. */
export function demonstrate(game: Game, bad: ReadonlySet<RuleId>, limit: number): Demonstration {
  const expert = new Expert(game, bad);
  const turns: DemonstratedTurn[] = [];
  let state = initialState(game);
  let observation = initialObservation(game);
  while (turns.length < limit && !state.stopped && !isSolved(game, state)) {
    const action = expert.next(state);
    turns.push({ observation, action });
    ({ state, observation } = act(game, state, action));
  }
  return { turns, success: isSolved(game, state) };
}

/** The commands of the expert that follows every rule; one more than 40 when it never gets there. */
export function solve(game: Game): readonly string[] {
  const { turns, success } = demonstrate(game, new Set(), 40);
  const commands = turns.map((turn) => turn.action);
  return success ? commands : [...commands, ...new Array<string>(41 - commands.length).fill('done')];
}
