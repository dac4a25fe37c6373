/** Rounds to the nearest integer, halves to the even one (as IEEE 754 and Python do). */
export function roundHalfEven(x: number): number {
  const floor = Math.floor(x);
  const rest = x - floor;
  if (rest < 0.5) return floor;
  if (rest > 0.5) return floor + 1;
  return floor % 2 === 0 ? floor : floor + 1;
}

/**
 * Edit budget of a step: cosine decay from `max` to `min`, `min + ½(max − min)(1 + cos(πt))` with t = step / total, so that
 * the first step already stands at t = 1/total and the last one at `min`.
 * @param step 1-based.
 */
export function editBudget(step: number, total: number, max: number, min: number): number {
  const low = Math.min(min, max);
  const t = Math.min(1, step / Math.max(1, total));
  return roundHalfEven(low + 0.5 * (max - low) * (1 + Math.cos(Math.PI * t)));
}
