import { createSignal } from 'solid-js';

const [longest, setLongest] = createSignal(0);

/** Longest block of the page's main thread so far, in milliseconds; 0 while none passed 50 ms. */
export const longestTaskMs = longest;

/** Watches the main thread where the browser can (Long Tasks API); elsewhere the figure stays 0. */
export function watchLongTasks(): void {
  if (!PerformanceObserver.supportedEntryTypes.includes('longtask')) return;
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) setLongest((before) => Math.max(before, entry.duration));
  });
  observer.observe({ type: 'longtask', buffered: true });
}
