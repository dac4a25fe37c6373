import { NacreError } from '../core/errors.ts';
import type { DeviceArray, Matrix, MatrixSource } from '../tensor/backend.ts';
import { unpackMatrix } from '../tensor/cpu/unpack.ts';
import type { DeviceWeights } from './device-weights.ts';
import type { DecoderWeights, LayerWeights } from './weights.ts';

/**
 * All parameters of a decoder in one fixed order, so that weights, gradients and optimiser state can travel and be stored
 * as one flat float32 vector: embed; per layer inputNorm, qkv, qkvBias?, qNorm?, kNorm?, o, postNorm, gateUp, down; finalNorm;
 * unembed unless tied.
 */
const LAYER_PARTS = ['inputNorm', 'qkv', 'qkvBias', 'qNorm', 'kNorm', 'o', 'postNorm', 'gateUp', 'down'] as const;
type LayerPart = (typeof LAYER_PARTS)[number];

/** The same parts for weights, device arrays or anything else a decoder has one of per parameter. */
interface Parts<M, V> {
  readonly embed: M;
  readonly layers: readonly { readonly [K in LayerPart]?: M | V }[];
  readonly finalNorm: V;
  readonly unembed?: M;
}

interface Named<T> {
  readonly name: string;
  readonly value: T;
}

function inOrder<M, V>(parts: Parts<M, V>): Named<M | V>[] {
  const all: Named<M | V>[] = [{ name: 'embed', value: parts.embed }];
  parts.layers.forEach((layer, index) => {
    for (const part of LAYER_PARTS) {
      const value = layer[part];
      if (value !== undefined) all.push({ name: `layers.${index}.${part}`, value });
    }
  });
  all.push({ name: 'finalNorm', value: parts.finalNorm });
  if (parts.unembed !== undefined && parts.unembed !== parts.embed) all.push({ name: 'unembed', value: parts.unembed });
  return all;
}

export interface ParameterSlot {
  readonly name: string;
  readonly offset: number;
  readonly length: number;
}

/** Where each parameter lies in the flat vector. */
export function parameterSlots(weights: DecoderWeights): ParameterSlot[] {
  let offset = 0;
  return inOrder<MatrixSource, Float32Array>(weights).map(({ name, value }) => {
    const length = value instanceof Float32Array ? value.length : value.rows * value.cols;
    const slot = { name, offset, length };
    offset += length;
    return slot;
  });
}

/** The flat vector; packed formats are unpacked. */
export function flattenWeights(weights: DecoderWeights): Float32Array {
  const slots = parameterSlots(weights);
  const last = slots.at(-1)!;
  const flat = new Float32Array(last.offset + last.length);
  inOrder<MatrixSource, Float32Array>(weights).forEach(({ value }, i) => {
    flat.set(value instanceof Float32Array ? value : unpackMatrix(value), slots[i]!.offset);
  });
  return flat;
}

/**
 * Float32 weights from a flat vector, shaped like `like`. Arrays are copies.
 * @throws {NacreError} `bad-parameter-count`
 */
export function unflattenWeights(like: DecoderWeights, flat: Float32Array): DecoderWeights {
  checkParameterCount(parameterSlots(like), flat);
  let offset = 0;
  const take = (length: number): Float32Array => {
    offset += length;
    return flat.slice(offset - length, offset);
  };
  const vector = (old: Float32Array): Float32Array => take(old.length);
  const matrix = ({ rows, cols }: MatrixSource): MatrixSource => ({ rows, cols, format: 'f32', data: take(rows * cols) });
  const embed = matrix(like.embed);
  const layers = like.layers.map((old): LayerWeights => {
    const inputNorm = vector(old.inputNorm);
    const qkv = matrix(old.qkv);
    return {
      inputNorm,
      qkv,
      ...(old.qkvBias ? { qkvBias: vector(old.qkvBias) } : {}),
      ...(old.qNorm ? { qNorm: vector(old.qNorm) } : {}),
      ...(old.kNorm ? { kNorm: vector(old.kNorm) } : {}),
      o: matrix(old.o),
      postNorm: vector(old.postNorm),
      gateUp: matrix(old.gateUp),
      down: matrix(old.down),
    };
  });
  const finalNorm = vector(like.finalNorm);
  return { config: like.config, embed, layers, finalNorm, ...(like.unembed ? { unembed: matrix(like.unembed) } : {}) };
}

/** The same weights with every matrix in float32, as training needs them. */
export function trainableWeights(weights: DecoderWeights): DecoderWeights {
  return unflattenWeights(weights, flattenWeights(weights));
}

/** One parameter on the device. Only matrices are subject to weight decay. */
export interface DeviceParameter {
  readonly name: string;
  readonly array: DeviceArray;
  readonly matrix?: Matrix;
}

/** @throws {NacreError} `weights-not-f32` when a matrix is kept in a packed format. */
export function deviceParameters(weights: DeviceWeights): DeviceParameter[] {
  return inOrder<Matrix, DeviceArray>(weights).map(({ name, value }) => {
    if (!('rows' in value)) return { name, array: value };
    if (!value.values) {
      throw new NacreError(
        'weights-not-f32',
        `${name} is stored as ${value.format}; only float32 weights can be trained or replaced.`,
        'Load the model for training, which unpacks its weights.',
      );
    }
    return { name, array: value.values, matrix: value };
  });
}

export function checkParameterCount(slots: readonly ParameterSlot[], flat: Float32Array): void {
  const last = slots.at(-1)!;
  const expected = last.offset + last.length;
  if (flat.length !== expected) {
    throw new NacreError(
      'bad-parameter-count',
      `The model has ${expected} parameters, the given vector ${flat.length}.`,
      'Use a checkpoint that was saved from this model.',
    );
  }
}
