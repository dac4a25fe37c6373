/** Keyboard shortcuts as text: `Mod+K`, `Shift+/`, `Space`, `.`, `Escape`. `Mod` is ⌘ on Apple systems and Ctrl elsewhere. */
export interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

/** Whether a key press is the shortcut. Shift is not compared: characters such as `?` already tell. */
export function matchesKeys(keys: string, press: KeyPress): boolean {
  const parts = keys.split('+');
  const key = parts[parts.length - 1] as string;
  const mod = parts.includes('Mod');
  if (press.altKey) return false;
  if (mod !== (press.ctrlKey || press.metaKey)) return false;
  const pressed = press.key === ' ' ? 'Space' : press.key;
  return pressed.toLowerCase() === key.toLowerCase();
}

/** The shortcut as people read it on their keyboard. */
export function showKeys(keys: string, apple: boolean): string {
  return keys
    .replace('Mod', apple ? '⌘' : 'Ctrl')
    .replace('ArrowUp', '↑')
    .replace('ArrowDown', '↓')
    .replaceAll('+', apple ? ' ' : ' + ');
}

/** The shortcut in the form of `aria-keyshortcuts`. */
export function ariaKeys(keys: string): string {
  return keys.replace('Mod', 'Control');
}

/** Elements that use a plain key themselves: text fields all of them, buttons and links the space bar and Enter. */
export function keepsKey(element: Element | null, key: string): boolean {
  if (!element) return false;
  if (element.closest('input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable=true]')) return true;
  const activates = key === ' ' || key === 'Enter';
  return activates && element.closest('button, a[href], summary, input, [role=button], [role=tab]') !== null;
}
