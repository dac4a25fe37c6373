/** The shared vocabulary of the laboratory. Everything here is plain data that survives postMessage. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export const SPLITS = ['train', 'val', 'test', 'unseen'] as const;
export type Split = (typeof SPLITS)[number];

/** One item of a suite. `input` is what a person reads; `data` is what the suite needs to open and score it. */
export interface Task {
  readonly id: string;
  readonly split: Split;
  /** Stratum used for reporting and for stratified validation, e.g. `heat`. */
  readonly type: string;
  readonly input: string;
  readonly data: Json;
}

/** What an environment answers to one action. `success` is only meaningful once `done`. */
export interface Step {
  readonly observation: string;
  readonly reward: number;
  readonly done: boolean;
  readonly success: boolean;
}

/** A running task. `observation` is the latest one; `act` advances it. */
export interface Episode {
  readonly observation: string;
  readonly admissible?: readonly string[];
  act(text: string): Step | Promise<Step>;
  /** An independent copy in the same state; environments that can branch provide it. */
  clone?(): Episode;
}

export interface Suite {
  readonly id: string;
  readonly title: string;
  /** Most actions an episode may take before it counts as failed with finish `turn-limit`. */
  readonly maxTurns: number;
  /** Most tokens of one action; absent leaves it to who runs the suite. */
  readonly maxTokensPerTurn?: number;
  readonly splits: Readonly<Record<Split, readonly Task[]>>;
  /** How to act here, for models that were not trained on the suite: stands before the context. */
  readonly instructions?: string;
  /** The action within an answer that says more; absent takes the answer as it is. */
  readonly readAction?: (answer: string) => string;
  open(task: Task, seed: number): Episode;
}

export type Role = 'system' | 'user' | 'assistant';
export interface Message {
  readonly role: Role;
  readonly content: string;
}

/**
 * Cost of model calls. `inputTokens` counts tokens newly read by the model, `textVolume` the inference text volume of
 * the TextualRL paper (B.5): input plus visible output, repeated history counted at each decision.
 */
export interface Usage {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly textVolume: number;
  readonly ms: number;
  /** How many of the calls went to a server that does not count, so that their tokens are estimates; absent for none. */
  readonly estimatedCalls?: number;
}

/** Sampled token ids of one action with natural-log probabilities and entropies (nats) under the sampling distribution at T=1. */
export interface TokenTrace {
  readonly ids: readonly number[];
  readonly logprobs: readonly number[];
  readonly entropies: readonly number[];
}

/** One decision: what the agent saw, what it said, and what that earned. */
export interface Turn {
  readonly observation: string;
  readonly action: string;
  readonly reward: number;
  readonly tokens?: TokenTrace;
}

export type RolloutFinish = 'done' | 'turn-limit' | 'token-limit' | 'context-limit' | 'cancelled' | 'error';

/** One run of a model on one task under one context. */
export interface Rollout {
  readonly id: string;
  readonly taskId: string;
  /** k within the group, from 0. */
  readonly index: number;
  readonly contextHash: string;
  readonly turns: readonly Turn[];
  /** The observation after the last action. */
  readonly finalObservation: string;
  readonly answer: string;
  readonly reward: number;
  readonly success: boolean;
  readonly finish: RolloutFinish;
  readonly usage: Usage;
  readonly seed: number;
  readonly parentId?: string;
  readonly branchTurn?: number;
  /** Set with finish `error`: why the model could not run (never a task failure). */
  readonly error?: string;
}

/** The K rollouts of one task under the same context. */
export interface Group {
  readonly task: Task;
  readonly rollouts: readonly Rollout[];
}
