import { createSignal } from 'solid-js';

const [longest, setLongest] = createSignal(0);
const listeners = new Set<(ms: number) => void>();

/** Longest block of the page's main thread so far, in milliseconds; 0 while none passed 50 ms. */
export const longestTaskMs = longest;

/** Watches the main thread where the browser can (Long Tasks API); elsewhere the figure stays 0. */
export function watchLongTasks(): void {
  if (!PerformanceObserver.supportedEntryTypes.includes('longtask')) return;
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) {
      setLongest((before) => Math.max(before, duration));
      for (const listener of listeners) listener(duration);
    }
  });
  observer.observe({ type: 'longtask', buffered: true });
}

/** Calls `listener` for every block from now on. @returns how to end that. */
export function onLongTask(listener: (ms: number) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
