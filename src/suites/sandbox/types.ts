import type { Json } from '../../core/types.ts';

/** One call of a script's `score` function, in a fresh context. */
export interface ScriptCall {
  /** JavaScript that defines `function score(input)`; it may be async. */
  readonly source: string;
  /** The argument, passed as JSON. */
  readonly input: Json;
  /** Milliseconds the call may take, with compiling; 500 unless given. */
  readonly timeMs?: number;
}

/** What a script returned, validated: `true` is 1, `false` is 0, numbers and `{reward, reason}` as they are. */
export interface ScriptScore {
  /** In [0, 1]. */
  readonly reward: number;
  readonly reason?: string;
}

/**
 * A place where scripts can do no harm. Failures of the script are `NacreError`s: `scorer-timeout`, `scorer-memory`,
 * `scorer-error` (with the line where there is one), `scorer-bad-result`.
 */
export interface ScriptSandbox {
  score(call: ScriptCall): Promise<ScriptScore>;
}

export const DEFAULT_TIME_MS = 500;
