import type { Random } from '../core/random.ts';
import type { MatrixSource } from '../tensor/backend.ts';
import type { DecoderConfig, DecoderWeights } from './weights.ts';

/**
 * Fresh weights. Matrices are normal with variance 1/columns, those that write to the residual stream (o, down) smaller by
 * √(2·layers) so that its scale does not grow with depth (Radford et al. 2019); norms are 1. Embedding rows have norm about 1,
 * so tied logits start with unit variance.
 */
export function initialWeights(config: DecoderConfig, random: Random): DecoderWeights {
  const { hidden, heads, kvHeads, headDim, ffn, vocab, layers } = config;
  const matrix = (name: string, rows: number, cols: number, factor = 1): MatrixSource => {
    const stream = random.split(name);
    const scale = factor / Math.sqrt(cols);
    return { rows, cols, format: 'f32', data: Float32Array.from({ length: rows * cols }, () => scale * stream.normal()) };
  };
  const ones = (length: number): Float32Array => new Float32Array(length).fill(1);
  const residual = 1 / Math.sqrt(2 * layers);
  const normsPerHead = config.architecture === 'qwen3' ? { qNorm: ones(headDim), kNorm: ones(headDim) } : {};
  return {
    config,
    embed: matrix('embed', vocab, hidden),
    layers: Array.from({ length: layers }, (_, i) => ({
      inputNorm: ones(hidden),
      qkv: matrix(`qkv${i}`, (heads + 2 * kvHeads) * headDim, hidden),
      ...(config.architecture === 'qwen2' ? { qkvBias: new Float32Array((heads + 2 * kvHeads) * headDim) } : {}),
      ...normsPerHead,
      o: matrix(`o${i}`, hidden, heads * headDim, residual),
      postNorm: ones(hidden),
      gateUp: matrix(`gateUp${i}`, 2 * ffn, hidden),
      down: matrix(`down${i}`, hidden, ffn, residual),
    })),
    finalNorm: ones(hidden),
    ...(config.tied ? {} : { unembed: matrix('unembed', vocab, hidden) }),
  };
}
