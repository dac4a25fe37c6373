import { Random } from '../../../src/core/random.ts';
import type { MatrixSource } from '../../../src/tensor/backend.ts';
import { unpackMatrix } from '../../../src/tensor/cpu/unpack.ts';
import { parameters, partsOf } from '../../../src/transformer/mlc/names.ts';
import type { Architecture, DecoderConfig, DecoderWeights } from '../../../src/transformer/weights.ts';

export function tinyConfig(architecture: Architecture, changes: Partial<DecoderConfig> = {}): DecoderConfig {
  return {
    architecture,
    hidden: 40,
    layers: 2,
    heads: 4,
    kvHeads: 2,
    headDim: 8,
    ffn: 36,
    vocab: 19,
    ropeTheta: 1e6,
    normEps: 1e-5,
    tied: architecture !== 'llama',
    embedScale: architecture === 'qwen3' ? 3.5 : 1,
    contextLength: 64,
    eosIds: [2],
    bosId: 1,
    ...(architecture === 'llama' ? { ropeScaling: { factor: 32, low: 1, high: 4, original: 8192 } } : {}),
    ...changes,
  };
}

/** Weights with normal entries; odd sizes leave the last group of 32 unfilled. */
export function randomWeights(architecture: Architecture, changes: Partial<DecoderConfig> = {}): DecoderWeights {
  const config = tinyConfig(architecture, changes);
  const random = new Random(7, architecture);
  const vector = (length: number): Float32Array => Float32Array.from({ length }, () => random.normal());
  const matrix = (rows: number, cols: number): MatrixSource => ({ rows, cols, format: 'f32', data: vector(rows * cols) });
  const qkvRows = (config.heads + 2 * config.kvHeads) * config.headDim;
  return {
    config,
    embed: matrix(config.vocab, config.hidden),
    layers: Array.from({ length: config.layers }, () => ({
      inputNorm: vector(config.hidden),
      qkv: matrix(qkvRows, config.hidden),
      ...(architecture === 'qwen2' ? { qkvBias: vector(qkvRows) } : {}),
      ...(architecture === 'qwen3' ? { qNorm: vector(config.headDim), kNorm: vector(config.headDim) } : {}),
      o: matrix(config.hidden, config.heads * config.headDim),
      postNorm: vector(config.hidden),
      gateUp: matrix(2 * config.ffn, config.hidden),
      down: matrix(config.hidden, config.ffn),
    })),
    finalNorm: vector(config.hidden),
    ...(config.tied ? {} : { unembed: matrix(config.vocab, config.hidden) }),
  };
}

/** Every parameter as float32, by name. */
export function flatten(weights: DecoderWeights): Map<string, Float32Array> {
  return new Map(
    parameters(weights.config, partsOf(weights)).map((item) => [
      item.name,
      item.kind === 'matrix' ? unpackMatrix(item.value(weights)) : item.value(weights),
    ]),
  );
}
