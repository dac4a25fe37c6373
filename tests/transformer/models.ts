import { Random } from '../../src/core/random.ts';
import type { MatrixSource } from '../../src/tensor/backend.ts';
import type { TrainBatch } from '../../src/transformer/train-batch.ts';
import type { Architecture, DecoderConfig, DecoderWeights } from '../../src/transformer/weights.ts';

/** Tiny random decoders with odd sizes. */
export function tinyConfig(architecture: Architecture, changes: Partial<DecoderConfig> = {}): DecoderConfig {
  return {
    architecture,
    hidden: 20,
    layers: 3,
    heads: 6,
    kvHeads: 2,
    headDim: 6,
    ffn: 27,
    vocab: 37,
    ropeTheta: 10_000,
    normEps: 1e-5,
    tied: architecture === 'qwen3',
    embedScale: architecture === 'qwen3' ? 2.5 : 1,
    contextLength: 64,
    eosIds: [1],
    ...(architecture === 'llama' ? { ropeScaling: { factor: 8, low: 1, high: 4, original: 32 } } : {}),
    ...changes,
  };
}

export function tinyWeights(config: DecoderConfig, seed = 1): DecoderWeights {
  const { hidden, heads, kvHeads, headDim, ffn, vocab } = config;
  const random = new Random(seed, 'tiny weights');
  const normals = (key: string, length: number, scale: number, centre = 0): Float32Array => {
    const stream = random.split(key);
    return Float32Array.from({ length }, () => centre + scale * stream.normal());
  };
  const matrix = (key: string, rows: number, cols: number): MatrixSource => ({
    rows,
    cols,
    format: 'f32',
    data: normals(key, rows * cols, 1.2 / Math.sqrt(cols)),
  });
  const vector = (key: string, length: number): Float32Array => normals(key, length, 0.2, 1);
  const width = (heads + 2 * kvHeads) * headDim;
  return {
    config,
    embed: matrix('embed', vocab, hidden),
    layers: Array.from({ length: config.layers }, (_, l) => ({
      inputNorm: vector(`inputNorm${l}`, hidden),
      qkv: matrix(`qkv${l}`, width, hidden),
      ...(config.architecture === 'qwen2' ? { qkvBias: normals(`bias${l}`, width, 0.3) } : {}),
      ...(config.architecture === 'qwen3' ? { qNorm: vector(`qNorm${l}`, headDim), kNorm: vector(`kNorm${l}`, headDim) } : {}),
      o: matrix(`o${l}`, hidden, heads * headDim),
      postNorm: vector(`postNorm${l}`, hidden),
      gateUp: matrix(`gateUp${l}`, 2 * ffn, hidden),
      down: matrix(`down${l}`, hidden, ffn),
    })),
    finalNorm: vector('finalNorm', hidden),
    ...(config.tied ? {} : { unembed: matrix('unembed', vocab, hidden) }),
  };
}

export function randomTokens(length: number, vocab: number, key: string): number[] {
  const random = new Random(2, key);
  return Array.from({ length }, () => random.int(vocab));
}

/** A random packed batch: about a third of the rows are only context. */
export function randomBatch(lengths: readonly number[], vocab: number, key: string): TrainBatch {
  const rows = lengths.reduce((sum, n) => sum + n, 0);
  const random = new Random(5, key);
  const starts: number[] = [];
  lengths.reduce((at, n) => {
    starts.push(at);
    return at + n;
  }, 0);
  return {
    tokens: Uint32Array.from({ length: rows }, () => random.int(vocab)),
    targets: Uint32Array.from({ length: rows }, () => random.int(vocab)),
    weights: Float32Array.from({ length: rows }, () => (random.chance(0.3) ? 0 : 0.2 + random.next())),
    sequenceStarts: Uint32Array.from(starts),
  };
}
