import { createSignal, onCleanup } from 'solid-js';
import { keepsKey, matchesKeys } from './keys.ts';

/** One thing a person can do. The same table feeds buttons, shortcuts, the palette and the list of keys. */
export interface Command {
  readonly id: string;
  readonly title: string;
  /** Shortcuts, the first of which is shown. */
  readonly keys?: readonly string[];
  readonly group: 'Go to' | 'Run' | 'View' | 'File';
  /** Whether it can be done now; absent means always. */
  readonly when?: () => boolean;
  readonly run: () => void;
}

const [table, setTable] = createSignal<readonly Command[]>([]);

/** All registered commands, in order of registration. Reactive. */
export const commands = table;

/** Registers commands for as long as the calling component lives. */
export function useCommands(list: readonly Command[]): void {
  setTable((known) => [...known, ...list]);
  onCleanup(() => setTable((known) => known.filter((command) => !list.includes(command))));
}

/** The command of that id, or undefined where its page is not open. A later registration wins. */
export function findCommand(id: string): Command | undefined {
  return table().findLast((command) => command.id === id);
}

export function isAvailable(command: Command): boolean {
  return command.when?.() ?? true;
}

/** The command a key press asks for, if any. Later registrations (the open page's) win. */
export function commandFor(event: KeyboardEvent): Command | undefined {
  const target = event.target instanceof Element ? event.target : null;
  return table().findLast((command) => {
    const keys = command.keys?.find((candidate) => matchesKeys(candidate, event));
    if (!keys || !isAvailable(command)) return false;
    return keys.includes('Mod+') || !keepsKey(target, event.key);
  });
}

/** Commands whose title or group holds every word of the query, best matches (title starts with it) first. */
export function searchCommands(list: readonly Command[], query: string): readonly Command[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const rank = (command: Command) => (command.title.toLowerCase().startsWith(words[0] ?? '') ? 0 : 1);
  return list
    .filter((command) => words.every((word) => `${command.title} ${command.group}`.toLowerCase().includes(word)))
    .sort((a, b) => rank(a) - rank(b));
}
