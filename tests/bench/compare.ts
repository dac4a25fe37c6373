import type { BenchRow, Work } from './types.ts';

export const REPETITIONS = 5;
/** A repetition repeats the work until this long has passed, so that short work is timed well. */
const LEAST_MS = 200;

export interface Contest {
  readonly name: string;
  readonly size: string;
  readonly unit: string;
  readonly nacre: Work;
  readonly peerName: string;
  /** Undefined when the peer is not installed or cannot do this work; `why` says which. */
  readonly peer: Work | undefined;
  readonly why?: string;
  /** Measured beside the two, once a repetition. */
  readonly beside?: () => void;
}

/** Times both sides in turn, Nacre first in even repetitions and second in odd ones, and compares them pairwise. */
export async function compare(contest: Contest): Promise<BenchRow> {
  const { name, size, unit, nacre, peer, peerName, why, beside } = contest;
  await nacre.run();
  await peer?.run();
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let i = 0; i < REPETITIONS; i++) {
    beside?.();
    if (i % 2 === 0) ours.push(await speed(nacre));
    if (peer) theirs.push(await speed(peer));
    if (i % 2 === 1) ours.push(await speed(nacre));
  }
  return {
    ...pairedRow(ours, peer && { name: peerName, values: theirs }),
    name,
    size,
    unit,
    ...(peer ? {} : { note: `${peerName}: ${why ?? 'not installed, skipped'}` }),
  };
}

/** The figures of a row from the speeds of both sides, repetition by repetition. */
export function pairedRow(
  ours: readonly number[],
  peer: { readonly name: string; readonly values: readonly number[] } | undefined,
): Pick<BenchRow, 'peer' | 'ratio'> & { readonly nacre: number } {
  if (!peer) return { nacre: median(ours), peer: null, ratio: null };
  const ratios = peer.values.map((value, i) => ours[i]! / value);
  return {
    nacre: median(ours),
    peer: { name: peer.name, value: median(peer.values) },
    ratio: { min: Math.min(...ratios), median: median(ratios), max: Math.max(...ratios) },
  };
}

/** Amount a second over at least LEAST_MS. */
async function speed(work: Work): Promise<number> {
  const began = performance.now();
  let runs = 0;
  do {
    await work.run();
    runs++;
  } while (performance.now() - began < LEAST_MS);
  return (work.amount * runs * 1000) / (performance.now() - began);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
