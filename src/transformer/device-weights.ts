import type { Backend, DeviceArray, Matrix } from '../tensor/backend.ts';
import type { DecoderConfig, DecoderWeights } from './weights.ts';

export interface DeviceLayer {
  readonly inputNorm: DeviceArray;
  readonly qkv: Matrix;
  readonly qkvBias?: DeviceArray;
  readonly qNorm?: DeviceArray;
  readonly kNorm?: DeviceArray;
  readonly o: Matrix;
  readonly postNorm: DeviceArray;
  readonly gateUp: Matrix;
  readonly down: Matrix;
}

/** A decoder's weights on a backend; `unembed` is `embed` when tied. */
export interface DeviceWeights {
  readonly config: DecoderConfig;
  readonly embed: Matrix;
  readonly layers: readonly DeviceLayer[];
  readonly finalNorm: DeviceArray;
  readonly unembed: Matrix;
}

export function uploadWeights(backend: Backend, weights: DecoderWeights): DeviceWeights {
  const embed = backend.matrix(weights.embed, 'embed');
  const layers = weights.layers.map((layer, index) => {
    const name = (part: string): string => `layers.${index}.${part}`;
    return {
      inputNorm: backend.upload(layer.inputNorm, name('inputNorm')),
      qkv: backend.matrix(layer.qkv, name('qkv')),
      ...(layer.qkvBias ? { qkvBias: backend.upload(layer.qkvBias, name('qkvBias')) } : {}),
      ...(layer.qNorm ? { qNorm: backend.upload(layer.qNorm, name('qNorm')) } : {}),
      ...(layer.kNorm ? { kNorm: backend.upload(layer.kNorm, name('kNorm')) } : {}),
      o: backend.matrix(layer.o, name('o')),
      postNorm: backend.upload(layer.postNorm, name('postNorm')),
      gateUp: backend.matrix(layer.gateUp, name('gateUp')),
      down: backend.matrix(layer.down, name('down')),
    };
  });
  const finalNorm = backend.upload(weights.finalNorm, 'finalNorm');
  const unembed = weights.unembed ? backend.matrix(weights.unembed, 'unembed') : embed;
  return { config: weights.config, embed, layers, finalNorm, unembed };
}

export function freeWeights(backend: Backend, weights: DeviceWeights): void {
  for (const layer of weights.layers) {
    for (const matrix of [layer.qkv, layer.o, layer.gateUp, layer.down]) backend.freeMatrix(matrix);
    for (const array of [layer.inputNorm, layer.qkvBias, layer.qNorm, layer.kNorm, layer.postNorm]) if (array) backend.free(array);
  }
  backend.free(weights.finalNorm);
  backend.freeMatrix(weights.embed);
  if (weights.unembed !== weights.embed) backend.freeMatrix(weights.unembed);
}

/** Number of parameters. */
export function countParameters(weights: DecoderWeights): number {
  const matrices = [weights.embed, ...(weights.unembed ? [weights.unembed] : [])];
  const vectors = [weights.finalNorm];
  for (const layer of weights.layers) {
    matrices.push(layer.qkv, layer.o, layer.gateUp, layer.down);
    for (const vector of [layer.inputNorm, layer.qkvBias, layer.qNorm, layer.kNorm, layer.postNorm]) if (vector) vectors.push(vector);
  }
  return matrices.reduce((sum, m) => sum + m.rows * m.cols, 0) + vectors.reduce((sum, v) => sum + v.length, 0);
}
