import type { MatrixSource } from '../tensor/backend.ts';

export type Architecture = 'qwen3' | 'qwen2' | 'llama';

/** Llama-3 frequency scaling: wavelengths beyond `original/low` are stretched by `factor`, those below `original/high` kept. */
export interface RopeScaling {
  readonly factor: number;
  readonly low: number;
  readonly high: number;
  readonly original: number;
}

/** The dimensions of a Qwen3/Qwen2/Llama-style decoder. */
export interface DecoderConfig {
  readonly architecture: Architecture;
  readonly hidden: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly ffn: number;
  readonly vocab: number;
  readonly ropeTheta: number;
  readonly ropeScaling?: RopeScaling;
  /** What each rotary frequency is divided by, [headDim/2], where no `ropeScaling` describes it. */
  readonly ropeFactors?: readonly number[];
  readonly normEps: number;
  /** The unembedding is the embedding table. */
  readonly tied: boolean;
  /** Embedding rows are multiplied by this before layer 0 (1 for published models). */
  readonly embedScale: number;
  readonly contextLength: number;
  /** Generation ends at any of these. */
  readonly eosIds: readonly number[];
  readonly bosId?: number;
}

/** One decoder layer. Matrices are [out, in]; norms and biases are f32 vectors. */
export interface LayerWeights {
  readonly inputNorm: Float32Array;
  /** q rows, then k rows, then v rows: [(heads + 2·kvHeads)·headDim, hidden] */
  readonly qkv: MatrixSource;
  readonly qkvBias?: Float32Array;
  /** [headDim], Qwen3 only */
  readonly qNorm?: Float32Array;
  readonly kNorm?: Float32Array;
  /** [hidden, heads·headDim] */
  readonly o: MatrixSource;
  readonly postNorm: Float32Array;
  /** gate rows, then up rows: [2·ffn, hidden] */
  readonly gateUp: MatrixSource;
  /** [hidden, ffn] */
  readonly down: MatrixSource;
}

export interface DecoderWeights {
  readonly config: DecoderConfig;
  /** [vocab, hidden] */
  readonly embed: MatrixSource;
  readonly layers: readonly LayerWeights[];
  readonly finalNorm: Float32Array;
  /** [vocab, hidden]; absent when tied */
  readonly unembed?: MatrixSource;
}
