/** One line of the bench: Nacre against one peer, doing the same work in the same run. */
export interface BenchRow {
  readonly name: string;
  readonly size: string;
  /** Median speed of each side, in `unit`; null where the work was skipped. */
  readonly nacre: number | null;
  readonly peer: { readonly name: string; readonly value: number } | null;
  /** Nacre's speed over the peer's, of paired repetitions; null without a peer. */
  readonly ratio: { readonly min: number; readonly median: number; readonly max: number } | null;
  readonly unit: string;
  /** Why there is no peer, or what else a reader must know. */
  readonly note?: string;
}

/** Work that can be timed: `run` does it once, `amount` of `unit` each time. */
export interface Work {
  readonly amount: number;
  run(): Promise<void>;
}
