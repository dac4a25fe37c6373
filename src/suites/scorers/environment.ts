import type { Step } from '../../core/types.ts';
import { FAIL, type Score } from './types.ts';

/** The environment's own verdict: its success flag, which counts only once the episode is over. */
export function scoreStep(step: Step): Score {
  if (!step.done) return FAIL;
  return { success: step.success, reward: step.success ? 1 : 0 };
}
