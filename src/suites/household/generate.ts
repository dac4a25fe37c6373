import type { Random } from '../../core/random.ts';
import { solve } from './expert.ts';
import {
  APPLIANCES,
  type Game,
  type Hazard,
  isOpenable,
  LAMP,
  lookAlike,
  OBJECT_TYPES,
  RECEPTACLES,
  type TaskType,
  treatmentOf,
  typeOf,
} from './world.ts';

/** Most actions a small game allows. */
export const STEP_LIMIT = 20;

/** Objects that ALFWorld heats, cools and cleans; those that it looks at under a lamp. */
const KITCHEN = ['mug', 'cup', 'plate', 'bowl', 'apple', 'tomato'];
const CLEANABLE = [...KITCHEN, 'knife', 'fork'];
const LOOKABLE = ['mug', 'cup', 'plate', 'bowl', 'book', 'newspaper', 'pen', 'pencil'];

/** Where objects may be put, and where a lamp may stand. */
const PLACES = ['shelf', 'countertop', 'sidetable', 'diningtable', 'desk', 'dresser', 'cabinet', 'drawer'];
const LAMP_PLACES = ['desk', 'sidetable', 'dresser', 'shelf'];

/** Receptacle types easily mistaken for one another: the place decoys. */
const PLACE_DECOYS: Readonly<Record<string, string>> = {
  shelf: 'cabinet',
  cabinet: 'shelf',
  countertop: 'diningtable',
  diningtable: 'countertop',
  sidetable: 'desk',
  desk: 'sidetable',
  dresser: 'drawer',
  drawer: 'dresser',
};

/** Whether an object–receptacle pairing is kept for the *unseen* split: a quarter of them. */
export function isHeldOutPair(object: string, place: string): boolean {
  const receptacle = [...PLACES, 'fridge'].indexOf(place);
  return (OBJECT_TYPES.indexOf(object) * 3 + receptacle) % 4 === 0;
}

/** Goals a type of task can have, pairings held out or not as asked. */
export function goalPairs(type: TaskType, heldOut: boolean): readonly (readonly [object: string, place: string])[] {
  const objects = type === 'light' ? LOOKABLE : type === 'clean' ? CLEANABLE : type === 'heat' || type === 'cool' ? KITCHEN : OBJECT_TYPES;
  const places = type === 'light' ? LAMP_PLACES : type === 'heat' ? [...PLACES, 'fridge'] : PLACES;
  return objects.flatMap((object) =>
    places.filter((place) => isHeldOutPair(object, place) === heldOut).map((place) => [object, place] as const),
  );
}

export interface GameSpec {
  readonly type: TaskType;
  readonly hazards: readonly Hazard[];
  readonly heldOutPair: boolean;
}

/**
 * A game of the given type and hazards, which the expert with all rules solves within the step limit.
 * - *closed*: the object lies behind a closed door; otherwise it lies in the open;
 * - *far*: it lies third to fifth in the search order, otherwise first or second;
 * - *look-alike*: the pair's other member lies in the open before it; otherwise never before it;
 * - *appliance*: the other appliances stand in the room too; *place*: a place much like the goal's does.
 *
 * The lamp of a `light` game stands before the object three times out of four. Layouts are drawn until one fits.
 */
export function generateGame(spec: GameSpec, random: Random): Game {
  const pairs = goalPairs(spec.type, spec.heldOutPair);
  // Drawn once: layouts that do not fit are dropped, which must not shift the odds.
  const lampFirst = spec.type === 'light' && random.chance(0.75);
  for (;;) {
    const [object, place] = random.pick(pairs);
    const game = tryLayout(spec, object, place, lampFirst, random);
    if (game && solve(game).length <= STEP_LIMIT) return game;
  }
}

function tryLayout(spec: GameSpec, object: string, place: string, lampFirst: boolean, random: Random): Game | undefined {
  const { type, hazards } = spec;
  const has = (hazard: Hazard): boolean => hazards.includes(hazard);
  const names = receptacleNames(spec, place, random);
  const isGoal = (name: string): boolean => type !== 'light' && typeOf(name) === place;
  const treatment = treatmentOf(type);
  const isAppliance = (name: string): boolean => treatment !== undefined && APPLIANCES[treatment] === typeOf(name);
  const openSpot = (index: number): boolean => !isOpenable(names[index]!);

  const candidates = (has('far') ? [2, 3, 4] : [0, 1]).filter((index) => {
    const name = names[index]!;
    return isOpenable(name) === has('closed') && !isGoal(name) && !isAppliance(name);
  });
  if (candidates.length === 0) return undefined;
  const source = random.pick(candidates);

  const items: string[][] = names.map(() => []);
  const number = (): number => 1 + random.int(2);
  items[source]!.push(`${object} ${number()}`);

  const before = range(0, source).filter((index) => openSpot(index) && !isGoal(names[index]!));
  if (has('look-alike')) {
    if (before.length === 0) return undefined;
    items[random.pick(before)]!.push(`${lookAlike(object)} ${number()}`);
  }
  if (type === 'light') {
    const stands = range(0, names.length).filter((index) => typeOf(names[index]!) === place && index !== source);
    const fitting = stands.filter((index) => index < source === lampFirst);
    if (fitting.length === 0 || fitting.length < stands.length) return undefined;
    items[random.pick(fitting)]!.push(LAMP);
  }
  if (type === 'two') {
    const after = range(source + 1, Math.min(source + 4, names.length)).filter((index) => openSpot(index) && !isGoal(names[index]!));
    if (after.length === 0) return undefined;
    items[random.pick(after)]!.push(`${object} ${items[source]![0]!.endsWith('1') ? 2 : 1}`);
  }
  scatter(items, [object, lookAlike(object)], random);
  return {
    kind: 'small',
    room: names.map((name, index) => ({ name, items: items[index]! })),
    goal: { type, object, place },
    hazards,
    lampFirst,
  };
}

/** Six to eight receptacles in random order: what the task needs, its decoys, and others. */
function receptacleNames({ type, hazards }: GameSpec, place: string, random: Random): string[] {
  const types = [place];
  const treatment = treatmentOf(type);
  const add = (kind: string): void => {
    if (types.filter((other) => other === kind).length < RECEPTACLES[kind]!.most) types.push(kind);
  };
  if (treatment) add(APPLIANCES[treatment]);
  if (hazards.includes('appliance')) for (const kind of Object.values(APPLIANCES)) if (!types.includes(kind)) add(kind);
  const decoy = PLACE_DECOYS[place];
  if (hazards.includes('place') && decoy) add(decoy);
  const size = 6 + random.int(3);
  const others = Object.keys(RECEPTACLES);
  while (types.length < size) {
    const kind = random.pick(others);
    // Extra appliances would be decoys that the game does not declare.
    if (!Object.values(APPLIANCES).includes(kind) || (treatment === undefined && !types.includes(kind))) add(kind);
  }
  const seen = new Map<string, number>();
  const numbered = types.map((kind) => {
    const number = (seen.get(kind) ?? 0) + 1;
    seen.set(kind, number);
    return `${kind} ${number}`;
  });
  return random.shuffle(numbered);
}

/** Two or three objects that have nothing to do with the task, at most two to a receptacle. */
function scatter(items: readonly string[][], taken: readonly string[], random: Random): void {
  const types = random.shuffle(OBJECT_TYPES.filter((type) => !taken.includes(type)));
  for (const type of types.slice(0, 2 + random.int(2))) {
    const spot = random.pick(items);
    if (spot.length < 2) spot.push(`${type} ${1 + random.int(2)}`);
  }
  for (const spot of items) {
    const shuffled = random.shuffle(spot);
    spot.splice(0, spot.length, ...shuffled);
  }
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
}
