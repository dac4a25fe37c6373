import { wilsonInterval } from '../core/stats.ts';

/** Words and numbers as the page writes them. An absent value is an en dash, never an empty cell. */
export const ABSENT = '–';

/** A rate in [0, 1] with two decimals. */
export function formatRate(rate: number | undefined | null): string {
  return rate === undefined || rate === null || !Number.isFinite(rate) ? ABSENT : rate.toFixed(2);
}

/** `0.77–0.88` */
export function formatInterval([low, high]: readonly [number, number]): string {
  return `${low.toFixed(2)}–${high.toFixed(2)}`;
}

/** A claim with what it rests on: `0.83 · 160 tasks · 0.77–0.88`. */
export function formatScore(score: { readonly n: number; readonly rate: number; readonly wilson: readonly [number, number] }): string {
  if (score.n === 0) return ABSENT;
  return `${formatRate(score.rate)} · ${score.n} ${score.n === 1 ? 'task' : 'tasks'} · ${formatInterval(score.wilson)}`;
}

/** Score of a rate of which only n is known besides (summaries keep no outcomes). */
export function scoreOfRate(rate: number, n: number): { n: number; rate: number; wilson: [number, number] } {
  return { n, rate, wilson: wilsonInterval(Math.round(rate * n), n) };
}

/** A signed difference of rates: `+0.17`, `−0.04`, `±0.00`. */
export function formatDelta(delta: number): string {
  const rounded = Math.round(delta * 100) / 100;
  if (rounded === 0) return '±0.00';
  return `${rounded > 0 ? '+' : '−'}${Math.abs(rounded).toFixed(2)}`;
}

/** A p value without false precision: `p < 0.001`, `p = 0.031`. */
export function formatP(p: number): string {
  if (p < 0.001) return 'p < 0.001';
  return `p = ${p < 0.1 ? p.toFixed(3) : p.toFixed(2)}`;
}

export function formatCount(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** Tokens and the like, short: `12.3 k`, `4.1 M`. */
export function formatShort(value: number): string {
  if (value < 1000) return String(Math.round(value));
  if (value < 999_500) return `${trim(value / 1000)} k`;
  if (value < 999_500_000) return `${trim(value / 1e6)} M`;
  return `${trim(value / 1e9)} G`;
}

/** Bytes in binary units: `3.2 MiB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = Math.max(0, bytes);
  let unit = 0;
  while (value >= 1023.5 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? Math.round(value) : trim(value)} ${units[unit]}`;
}

/** A duration: `8 s`, `1 min 05 s`, `2 h 10 min`. */
export function formatSeconds(seconds: number): string {
  if (!Number.isFinite(seconds)) return ABSENT;
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${String(whole % 60).padStart(2, '0')} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

/** When something happened, seen from `now`: `just now`, `5 min ago`, `3 h ago`, else the date. */
export function formatAgo(time: number, now: number): string {
  const seconds = (now - time) / 1000;
  if (seconds < 60) return 'just now';
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  return new Date(time).toISOString().slice(0, 10);
}

/** `1 task`, `3 tasks`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

function trim(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(1).replace(/\.0$/, '');
}
