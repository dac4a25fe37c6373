/** z of the two-sided 95% normal interval. */
const Z95 = 1.959963984540054;

/** Arithmetic mean; NaN for no values. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Wilson score interval of a proportion (Wilson 1927) at the 95% level unless `z` says otherwise; [0, 1] for n = 0. */
export function wilsonInterval(successes: number, n: number, z = Z95): [number, number] {
  if (n <= 0) return [0, 1];
  const p = successes / n;
  const z2 = z * z;
  const centre = p + z2 / (2 * n);
  const half = z * Math.sqrt((p * (1 - p)) / n + z2 / (4 * n * n));
  const scale = 1 + z2 / n;
  // At the ends the bound is exactly 0 or 1; the square root would leave a rounding error there.
  const low = successes <= 0 ? 0 : (centre - half) / scale;
  const high = successes >= n ? 1 : (centre + half) / scale;
  return [Math.max(0, low), Math.min(1, high)];
}

/**
 * Exact two-sided McNemar test on the discordant pairs: the probability under a fair coin of a split at least as uneven as
 * `gained` : `lost`. 1 when there is no discordant pair.
 */
export function mcnemarExact(gained: number, lost: number): number {
  const n = gained + lost;
  if (n === 0) return 1;
  const few = Math.min(gained, lost);
  // Terms C(n, i) / 2^n in logarithms, so that large n does not overflow.
  let logTerm = -n * Math.LN2;
  let tail = Math.exp(logTerm);
  for (let i = 1; i <= few; i++) {
    logTerm += Math.log((n - i + 1) / i);
    tail += Math.exp(logTerm);
  }
  return Math.min(1, 2 * tail);
}
