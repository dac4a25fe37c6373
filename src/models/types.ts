import type { Message, TokenTrace, Usage } from '../core/types.ts';

export interface ModelCapabilities {
  /** Takes messages with roles. */
  readonly chat: boolean;
  /** Can be held to a JSON schema. */
  readonly json: boolean;
  readonly logprobs: boolean;
  /** Layer logits can be read. */
  readonly probe: boolean;
  /** Weights can be updated. */
  readonly train: boolean;
}

export interface ModelInfo {
  readonly id: string;
  readonly title: string;
  readonly parameters: number;
  /** Who computes: `cpu`, `webgpu`, `webllm`, `llamacpp`, `endpoint`. */
  readonly backend: string;
  /** The device behind it, as it describes itself. */
  readonly adapter: string;
  readonly contextLength: number;
  /** Tokens in the vocabulary and layers, of models whose insides can be read. */
  readonly vocabulary?: number;
  readonly layers?: number;
  readonly capabilities: ModelCapabilities;
}

/** How tokens are drawn. Temperature 0 takes the likeliest token (the lowest id on ties). */
export interface SamplingOptions {
  readonly temperature: number;
  /** Nucleus mass in (0, 1]; 1 keeps everything. */
  readonly topP: number;
  /** Keep this many likeliest tokens; 0 or absent keeps all. */
  readonly topK?: number;
}

export interface GenerateOptions extends SamplingOptions {
  readonly maxTokens: number;
  readonly seed: number;
  /** JSON schema the answer must fit; only for models with the capability `json`. */
  readonly schema?: object;
  /** Generation ends before the first of these texts. */
  readonly stop?: readonly string[];
  readonly signal?: AbortSignal;
  /** The visible text so far, as it grows. */
  readonly onText?: (text: string) => void;
}

export type GenerationFinish = 'stop' | 'length' | 'context' | 'cancelled';

/** A token of an answer with its natural-log probability at temperature 1. */
export interface TokenProbability {
  /** −1 where the model does not tell it. */
  readonly id: number;
  readonly text: string;
  readonly logprob: number;
}

export interface Generation {
  readonly text: string;
  readonly finish: GenerationFinish;
  readonly usage: Usage;
  /** For models with the capability `logprobs`. */
  readonly tokens?: TokenTrace;
  /** From models that give probabilities and no entropies, when they were loaded so. */
  readonly probabilities?: readonly TokenProbability[];
}

/** A language model that answers messages. */
export interface ChatModel {
  readonly info: ModelInfo;
  generate(messages: readonly Message[], options: GenerateOptions): Promise<Generation>;
  close(): Promise<void>;
}
