import type { PooledPolicy } from '../models/own/policy.ts';

/** The part of a policy that PEARL uses: rollouts that branch, greedy evaluation, layer logits and training. */
export type PearlPolicy = Pick<PooledPolicy, 'info' | 'forests' | 'rollouts' | 'probes' | 'trainer'>;

/** Parts a batch is cut into for data-parallel gradients: fixed, so that sums are the same on any machine. */
export const SHARDS = 4;
