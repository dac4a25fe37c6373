import type { Random } from '../../core/random.ts';

/** First wait in milliseconds; it doubles with each attempt. */
const FIRST_WAIT = 500;
const LONGEST_WAIT = 30_000;

/** Time as the transport sees it, so that tests need not wait. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason when it is aborted. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>;
}

export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const stop = (): void => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop);
        resolve();
      }, ms);
      signal?.addEventListener('abort', stop, { once: true });
    }),
};

/** Milliseconds before attempt `attempt` + 1 (attempts count from 0): doubling, with half of it drawn, so that clients spread out. */
export function backoff(attempt: number, random: Random): number {
  const longest = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** attempt);
  return longest * (0.5 + 0.5 * random.next());
}

/**
 * Milliseconds that a server asks to wait: `retry-after-ms`, or `Retry-After` as seconds or as an HTTP date (RFC 9110,
 * section 10.2.3). Undefined when it asks for nothing that can be read.
 */
export function retryAfter(headers: Headers, now: number): number | undefined {
  const ms = headers.get('retry-after-ms')?.trim();
  if (ms && /^\d+(?:\.\d+)?$/.test(ms)) return Number(ms);
  const given = headers.get('retry-after')?.trim();
  if (!given) return undefined;
  if (/^\d+(?:\.\d+)?$/.test(given)) return Number(given) * 1000;
  const date = Date.parse(given);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
