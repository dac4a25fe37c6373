import { createSignal } from 'solid-js';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'nacre.theme';

const [theme, setSignal] = createSignal<Theme>('system');

/** The chosen theme; `system` follows `prefers-color-scheme`. */
export { theme };

/** Applies and remembers a theme. Where storage is refused (private windows), it holds for this page only. */
export function setTheme(next: Theme): void {
  setSignal(next);
  if (next === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
  withStorage((storage) => storage.setItem(KEY, next));
}

/** Applies the remembered theme; call before the first paint. */
export function restoreTheme(): void {
  const stored = withStorage((storage) => storage.getItem(KEY));
  const found = THEMES.find((candidate) => candidate === stored);
  if (found) setTheme(found);
}

export function nextTheme(): void {
  setTheme(THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length] as Theme);
}

function withStorage<T>(use: (storage: Storage) => T): T | undefined {
  try {
    return use(window.localStorage);
  } catch {
    // Storage is blocked by the person's settings: the theme is a convenience, so nothing is shown.
    return undefined;
  }
}
