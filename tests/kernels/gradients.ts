import { Random } from '../../src/core/random.ts';
import { centralDifference } from './reference.ts';

/**
 * Holds a float64 gradient against central differences of the forward function at a few coordinates: the first, the last
 * and random ones. Kernels are then compared with the whole gradient.
 */
export function checkGradient(what: string, f: (x: Float64Array) => number, x: ArrayLike<number>, gradient: ArrayLike<number>): void {
  const random = new Random(4, what);
  const places = [0, x.length - 1, ...Array.from({ length: 6 }, () => random.int(x.length))];
  for (const i of places) {
    const difference = centralDifference(f, x, i);
    const allowed = 1e-5 * Math.max(1, Math.abs(difference));
    if (!(Math.abs(gradient[i]! - difference) <= allowed)) {
      throw new Error(`${what}: the reference gradient ${i} is ${gradient[i]}, the central difference ${difference}`);
    }
  }
}
