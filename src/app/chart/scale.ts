/** Linear scales and their round ticks. */
export interface Scale {
  readonly domain: readonly [number, number];
  at(value: number): number;
}

/** Maps `domain` to `range` linearly; an empty domain maps to the middle of the range. */
export function linear(domain: readonly [number, number], range: readonly [number, number]): Scale {
  const [low, high] = domain;
  const [from, to] = range;
  return {
    domain,
    at: (value) => (high === low ? (from + to) / 2 : from + ((value - low) / (high - low)) * (to - from)),
  };
}

/** Round numbers (1, 2 or 5 times a power of ten apart) inside [low, high], about `count` of them. */
export function ticks(low: number, high: number, count: number): number[] {
  if (!(high > low)) return [low];
  const step = tickStep(low, high, count);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  // Multiples are rounded to the step's own decimals, so that 3 × 0.1 reads 0.3.
  const decimals = Math.max(0, -Math.floor(Math.log10(step)));
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toFixed(decimals)));
}

/** The least domain that holds all values and ends on ticks; [0, 1] for none. */
export function niceDomain(values: readonly number[], count: number): [number, number] {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) return [0, 1];
  if (low === high) return low === 0 ? [0, 1] : [Math.min(0, low), Math.max(0, high)];
  const step = tickStep(low, high, count);
  return [Math.floor(low / step) * step, Math.ceil(high / step) * step];
}

function tickStep(low: number, high: number, count: number): number {
  const rough = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const ratio = rough / power;
  return power * (ratio > 5 ? 10 : ratio > 2 ? 5 : ratio > 1 ? 2 : 1);
}
