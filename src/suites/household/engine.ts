import { contentsText, introText, list, NOTHING_HAPPENS, roomText } from './wording.ts';
import { APPLIANCES, type Game, isOpenable, LAMP, type Treatment, treatmentOf, typeOf } from './world.ts';

/** A moment of a game. Never changed in place: commands make new states that share what stayed the same. */
export interface State {
  /** Index of the receptacle the agent stands at, −1 in the middle of the room. */
  readonly at: number;
  readonly holding: string | undefined;
  /** What lies in or on each receptacle. */
  readonly contents: readonly (readonly string[])[];
  /** Bit i: receptacle i is open. */
  readonly opened: number;
  /** Once on, the lamp stays on (as in ALFWorld, whose `use` only ever turns on). */
  readonly lampOn: boolean;
  /** What was done to objects, e.g. `heat mug 1`; heating and cooling undo each other. */
  readonly treated: readonly string[];
  /** The agent said `done`. */
  readonly stopped: boolean;
}

export interface Outcome {
  readonly state: State;
  readonly observation: string;
}

export function initialState(game: Game): State {
  return {
    at: -1,
    holding: undefined,
    contents: game.room.map((receptacle) => receptacle.items),
    opened: 0,
    lampOn: false,
    treated: [],
    stopped: false,
  };
}

export function initialObservation(game: Game): string {
  return introText(game);
}

export function isOpen(state: State, receptacle: number): boolean {
  return (state.opened & (1 << receptacle)) !== 0;
}

/** What can be seen and taken at a receptacle; nothing while its door is closed. */
export function visibleAt(game: Game, state: State, receptacle: number): readonly string[] {
  if (receptacle < 0) return [];
  if (isOpenable(game.room[receptacle]!.name) && !isOpen(state, receptacle)) return [];
  return state.contents[receptacle] ?? [];
}

export function isTreated(state: State, treatment: Treatment, object: string): boolean {
  return state.treated.includes(`${treatment} ${object}`);
}

/** Whether the goal holds now: objects placed (and treated), or the object held beside the lit lamp. */
export function isSolved(game: Game, state: State): boolean {
  const { type, object, place } = game.goal;
  if (type === 'light') {
    const besideLamp = state.at >= 0 && state.contents[state.at]!.includes(LAMP);
    return state.lampOn && besideLamp && state.holding !== undefined && typeOf(state.holding) === object;
  }
  const treatment = treatmentOf(type);
  const needed = type === 'two' ? 2 : 1;
  return game.room.some(({ name }, index) => {
    if (typeOf(name) !== place) return false;
    const fitting = state.contents[index]!.filter(
      (item) => typeOf(item) === object && (treatment === undefined || isTreated(state, treatment, item)),
    );
    return fitting.length >= needed;
  });
}

/** Runs one command; anything that is not admissible changes nothing and says so. */
export function act(game: Game, state: State, command: string): Outcome {
  const words = command.trim().toLowerCase().replace(/\s+/g, ' ');
  return perform(game, state, words) ?? { state, observation: NOTHING_HAPPENS };
}

function perform(game: Game, state: State, command: string): Outcome | undefined {
  if (command === 'done') return { state: { ...state, stopped: true }, observation: 'Done.' };
  if (command === 'look') return { state, observation: lookText(game, state) };
  if (command === 'inventory') {
    return { state, observation: state.holding ? `You are carrying: ${state.holding}.` : 'You are not carrying anything.' };
  }
  const parsed =
    /^(?:(go to|open|close|examine|use) ([a-z]+ \d+)|(take|put|clean|heat|cool) ([a-z]+ \d+) (from|in\/on|with) ([a-z]+ \d+))$/.exec(
      command,
    );
  if (!parsed) return undefined;
  const [, single, thing, verb, object, preposition, receptacle] = parsed;
  if (single) return performSingle(game, state, single, thing!);
  return performDouble(game, state, `${verb} ${preposition}`, object!, receptacle!);
}

function performSingle(game: Game, state: State, verb: string, thing: string): Outcome | undefined {
  const index = game.room.findIndex((receptacle) => receptacle.name === thing);
  const here = index >= 0 && index === state.at;
  const openable = index >= 0 && isOpenable(thing);
  const contents = (after: State): string => contentsText(thing, after.contents[index]!, openable ? isOpen(after, index) : undefined);
  switch (verb) {
    case 'go to': {
      if (index < 0 || here) return undefined;
      const after = { ...state, at: index };
      return { state: after, observation: `You arrive at loc ${index + 1}. ${contents(after)}` };
    }
    case 'open': {
      if (!here || !openable || isOpen(state, index)) return undefined;
      const after = { ...state, opened: state.opened | (1 << index) };
      return { state: after, observation: `You open ${thing}. ${contents(after)}` };
    }
    case 'close': {
      if (!here || !openable || !isOpen(state, index)) return undefined;
      return { state: { ...state, opened: state.opened & ~(1 << index) }, observation: `You close ${thing}.` };
    }
    case 'examine': {
      if (here) return { state, observation: contents(state) };
      return thing === state.holding ? { state, observation: conditionText(state, thing) } : undefined;
    }
    default: {
      if (thing !== LAMP || !visibleAt(game, state, state.at).includes(LAMP)) return undefined;
      return { state: { ...state, lampOn: true }, observation: `You turn on ${LAMP}.` };
    }
  }
}

function performDouble(game: Game, state: State, verb: string, object: string, receptacle: string): Outcome | undefined {
  const here = state.at;
  if (here < 0 || game.room[here]!.name !== receptacle) return undefined;
  if (verb === 'take from') {
    if (state.holding !== undefined || object === LAMP || !visibleAt(game, state, here).includes(object)) return undefined;
    const left = state.contents[here]!.filter((item) => item !== object);
    return {
      state: { ...state, holding: object, contents: state.contents.with(here, left) },
      observation: `You take ${object} from ${receptacle}.`,
    };
  }
  if (state.holding !== object) return undefined;
  if (verb === 'put in/on') {
    if (isOpenable(receptacle) && !isOpen(state, here)) return undefined;
    const contents = state.contents.with(here, [...state.contents[here]!, object]);
    return { state: { ...state, holding: undefined, contents }, observation: `You put ${object} in/on ${receptacle}.` };
  }
  const [treatment, preposition] = verb.split(' ') as [Treatment, string];
  if (preposition !== 'with' || APPLIANCES[treatment] !== typeOf(receptacle)) return undefined;
  return {
    state: { ...state, treated: treat(state.treated, treatment, object) },
    observation: `You ${treatment} ${object} using ${receptacle}.`,
  };
}

function treat(treated: readonly string[], treatment: Treatment, object: string): readonly string[] {
  const undone = treatment === 'heat' ? `cool ${object}` : treatment === 'cool' ? `heat ${object}` : undefined;
  const now = `${treatment} ${object}`;
  return [...treated.filter((entry) => entry !== undone && entry !== now), now];
}

function lookText(game: Game, state: State): string {
  if (state.at < 0) return roomText(game);
  return `You are facing ${list([game.room[state.at]!.name])}. Next to it, you see nothing.`;
}

function conditionText(state: State, object: string): string {
  const clean = isTreated(state, 'clean', object);
  const temperature = isTreated(state, 'heat', object) ? 'hot' : isTreated(state, 'cool', object) ? (clean ? 'cool' : 'cold') : undefined;
  if (!clean && temperature === undefined) return `There's nothing special about ${object}.`;
  return `This is a ${[temperature, clean ? 'clean' : undefined].filter(Boolean).join(' and ')} ${object}.`;
}

/** Every command that does something now, sorted. */
export function admissibleCommands(game: Game, state: State): readonly string[] {
  const commands = ['done', 'inventory', 'look'];
  game.room.forEach(({ name }, index) => {
    if (index !== state.at) commands.push(`go to ${name}`);
  });
  const { at, holding } = state;
  if (holding !== undefined) commands.push(`examine ${holding}`);
  if (at < 0) return commands.sort();
  const here = game.room[at]!.name;
  commands.push(`examine ${here}`);
  const closed = isOpenable(here) && !isOpen(state, at);
  if (isOpenable(here)) commands.push(`${closed ? 'open' : 'close'} ${here}`);
  const visible = visibleAt(game, state, at);
  if (visible.includes(LAMP)) commands.push(`use ${LAMP}`);
  if (holding === undefined) {
    for (const item of visible) if (item !== LAMP) commands.push(`take ${item} from ${here}`);
  } else {
    if (!closed) commands.push(`put ${holding} in/on ${here}`);
    for (const [treatment, appliance] of Object.entries(APPLIANCES)) {
      if (appliance === typeOf(here)) commands.push(`${treatment} ${holding} with ${here}`);
    }
  }
  return commands.sort();
}
