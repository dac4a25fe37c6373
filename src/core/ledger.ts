import type { Usage } from './types.ts';

/** What a model call was for (TextualRL B.5). */
export const CALL_ROLES = ['rollout', 'critique', 'merge', 'review', 'rank', 'validation', 'test'] as const;
export type CallRole = (typeof CALL_ROLES)[number];

/** Roles whose tokens are optimisation cost; `test` is the unseen evaluation, which B.5 excludes. */
const ITERATION_ROLES: readonly CallRole[] = ['rollout', 'critique', 'merge', 'review', 'rank', 'validation'];

export const NO_USAGE: Usage = { calls: 0, inputTokens: 0, outputTokens: 0, textVolume: 0, ms: 0 };

export function addUsage(a: Usage, b: Usage): Usage {
  const estimatedCalls = (a.estimatedCalls ?? 0) + (b.estimatedCalls ?? 0);
  return {
    calls: a.calls + b.calls,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    textVolume: a.textVolume + b.textVolume,
    ms: a.ms + b.ms,
    ...(estimatedCalls === 0 ? {} : { estimatedCalls }),
  };
}

/** Token totals of a run. `iteration` and `inferenceTextVolume` follow TextualRL B.5. */
export interface TokenTotals {
  readonly byRole: Readonly<Record<CallRole, Usage>>;
  /** Input + output tokens of all optimisation calls, those after the selected checkpoint included. */
  readonly iteration: number;
  readonly inferenceTextVolume: number;
}

/** The one place where model calls are counted. */
export class Ledger {
  private readonly byRole = new Map<CallRole, Usage>();

  add(role: CallRole, usage: Usage): void {
    this.byRole.set(role, addUsage(this.byRole.get(role) ?? NO_USAGE, usage));
  }

  totals(): TokenTotals {
    const byRole = Object.fromEntries(CALL_ROLES.map((role) => [role, this.byRole.get(role) ?? NO_USAGE])) as Record<CallRole, Usage>;
    const iteration = ITERATION_ROLES.reduce((sum, role) => sum + byRole[role].inputTokens + byRole[role].outputTokens, 0);
    const inferenceTextVolume = CALL_ROLES.reduce((sum, role) => sum + byRole[role].textVolume, 0);
    return { byRole, iteration, inferenceTextVolume };
  }
}
