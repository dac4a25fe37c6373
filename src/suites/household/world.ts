import type { Json } from '../../core/types.ts';

/** The six kinds of task, named as strata: pick & place, look in light, clean, heat, cool, pick two. */
export const TASK_TYPES = ['place', 'light', 'clean', 'heat', 'cool', 'two'] as const;
export type TaskType = (typeof TASK_TYPES)[number];

/** What makes a game harder than a plain search; see `generate.ts` for what each one places where. */
export const HAZARDS = ['closed', 'look-alike', 'far', 'appliance', 'place'] as const;
export type Hazard = (typeof HAZARDS)[number];

/** Object types in look-alike pairs. */
export const PAIRS = [
  ['mug', 'cup'],
  ['plate', 'bowl'],
  ['apple', 'tomato'],
  ['knife', 'fork'],
  ['book', 'newspaper'],
  ['pen', 'pencil'],
] as const;

export const OBJECT_TYPES: readonly string[] = PAIRS.flat();

/** Receptacle types with the most instances a room may hold of each, and whether they have a door. */
export const RECEPTACLES: Readonly<Record<string, { readonly most: number; readonly openable: boolean }>> = {
  cabinet: { most: 2, openable: true },
  drawer: { most: 2, openable: true },
  safe: { most: 1, openable: true },
  fridge: { most: 1, openable: true },
  microwave: { most: 1, openable: true },
  sinkbasin: { most: 1, openable: false },
  shelf: { most: 2, openable: false },
  countertop: { most: 2, openable: false },
  sidetable: { most: 2, openable: false },
  diningtable: { most: 1, openable: false },
  desk: { most: 1, openable: false },
  dresser: { most: 1, openable: false },
};

export type Treatment = 'clean' | 'heat' | 'cool';

/** Which receptacle type each treatment needs. */
export const APPLIANCES: Readonly<Record<Treatment, string>> = { clean: 'sinkbasin', heat: 'microwave', cool: 'fridge' };

export const LAMP = 'desklamp 1';

export interface Goal {
  readonly type: TaskType;
  /** Object type, e.g. `mug`. */
  readonly object: string;
  /** Receptacle type where it must go; for `light` the type the lamp stands on. */
  readonly place: string;
}

/** One room and what is to be done in it: everything needed to play, as plain data. */
export interface Game {
  readonly kind: 'small';
  /** Receptacles in the order in which the room lists them, each with what lies in or on it. */
  readonly room: readonly { readonly name: string; readonly items: readonly string[] }[];
  readonly goal: Goal;
  readonly hazards: readonly Hazard[];
  /** The lamp is seen before the object, so the habit of using it at once can strike. */
  readonly lampFirst: boolean;
}

/** `mug 1` → `mug`. */
export function typeOf(name: string): string {
  const space = name.lastIndexOf(' ');
  return space < 0 ? name : name.slice(0, space);
}

export function isOpenable(receptacle: string): boolean {
  return RECEPTACLES[typeOf(receptacle)]?.openable ?? false;
}

/** The other member of an object type's pair. */
export function lookAlike(objectType: string): string {
  for (const [a, b] of PAIRS) {
    if (a === objectType) return b;
    if (b === objectType) return a;
  }
  return objectType;
}

/** What a task asks to do with the object before it is placed, if anything. */
export function treatmentOf(type: TaskType): Treatment | undefined {
  return type === 'clean' || type === 'heat' || type === 'cool' ? type : undefined;
}

/** A game as task data and back. */
export function gameToJson(game: Game): Json {
  return {
    kind: game.kind,
    room: game.room.map(({ name, items }) => ({ name, items })),
    goal: { type: game.goal.type, object: game.goal.object, place: game.goal.place },
    hazards: game.hazards,
    lampFirst: game.lampFirst,
  };
}

export function isGame(data: Json): data is Json & Game {
  return typeof data === 'object' && data !== null && !Array.isArray(data) && (data as { kind?: Json }).kind === 'small';
}
