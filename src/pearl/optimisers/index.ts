import type { PearlSettings } from '../settings.ts';
import { GIGPO } from './gigpo.ts';
import { ARPO, GRPO } from './grpo.ts';
import { MEDS } from './meds.ts';
import type { BaseOptimiser } from './optimiser.ts';
import { TREE_GRPO } from './tree-grpo.ts';

export const BASE_OPTIMISERS = { grpo: GRPO, arpo: ARPO, gigpo: GIGPO, 'tree-grpo': TREE_GRPO, meds: MEDS } as const;

/** The optimiser that makes rollouts and advantages; for PEARL the one it stands on. */
export function baseOptimiser({ optimiser, base }: Pick<PearlSettings, 'optimiser' | 'base'>): BaseOptimiser {
  return BASE_OPTIMISERS[optimiser === 'pearl' ? base : optimiser];
}
