import type { Message } from '../../src/core/types.ts';

/** Results of an independent float64 program for one conversation. */
export interface ReferenceCase {
  readonly name: string;
  readonly messages: readonly Message[];
  readonly prompt: string;
  readonly ids: readonly number[];
  readonly last_logits_top16: readonly (readonly [id: number, logit: number])[];
  readonly last_logits_sum: number;
  readonly layer_logits: readonly {
    readonly position: number;
    readonly token: number;
    readonly raw: readonly number[];
    readonly normed: readonly number[];
  }[];
  readonly greedy_ids: readonly number[];
  /** Logit of each greedy token less that of the next best. */
  readonly greedy_margins: readonly number[];
}

export interface Reference {
  readonly cases: readonly ReferenceCase[];
}
