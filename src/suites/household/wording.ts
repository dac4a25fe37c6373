import type { Game, Goal } from './world.ts';

/** ALFWorld's words for everything the small games can say. */

export const NOTHING_HAPPENS = 'Nothing happens.';

/** `a`, `a, and b`, `a, b, and c`; `nothing` for an empty list. */
export function list(names: readonly string[]): string {
  if (names.length === 0) return 'nothing';
  if (names.length === 1) return names[0] as string;
  return `${names.slice(0, -1).join(', ')}, and ${names[names.length - 1]}`;
}

export function goalText({ type, object, place }: Goal): string {
  switch (type) {
    case 'place':
      return `put a ${object} in ${place}.`;
    case 'light':
      return `look at ${object} under the desklamp.`;
    case 'clean':
      return `put a clean ${object} in ${place}.`;
    case 'heat':
      return `put a hot ${object} in ${place}.`;
    case 'cool':
      return `put a cool ${object} in ${place}.`;
    case 'two':
      return `find two ${object} and put them in ${place}.`;
  }
}

export function roomText(game: Game): string {
  const names = game.room.map((receptacle) => receptacle.name);
  return `You are in the middle of a room. Looking quickly around you, you see ${list(names)}.`;
}

/** The first observation: the room, a blank line, the task. */
export function introText(game: Game): string {
  return `${roomText(game)}\n\nYour task is to: ${goalText(game.goal)}`;
}

/** @param open undefined for receptacles without a door. */
export function contentsText(name: string, items: readonly string[], open: boolean | undefined): string {
  if (open === false) return `${name} is closed.`;
  return `${open ? 'In' : 'On'} ${name}, you see ${list(items)}.`;
}
