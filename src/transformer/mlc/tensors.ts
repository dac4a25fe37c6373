import { NacreError } from '../../core/errors.ts';
import { unpackMatrix } from '../../tensor/cpu/unpack.ts';
import { copyBytes } from '../bytes.ts';
import { firstNotFinite16 } from '../half.ts';
import type { TensorRecord } from './manifest.ts';

/** A tensor copied out of its shard, its numbers still in the type they are stored in. */
export type Tensor =
  | { readonly encoding: 'f32'; readonly data: Float32Array }
  | { readonly encoding: 'f16' | 'bf16'; readonly data: Uint16Array }
  | { readonly encoding: 'u32'; readonly data: Uint32Array };

/** Copies one tensor out of its shard (offsets may be unaligned). @throws {NacreError} `not-finite` naming the tensor. */
export function decodeTensor(record: TensorRecord, shard: Uint8Array): Tensor {
  const buffer = copyBytes(shard, record.byteOffset, record.byteOffset + record.nbytes);
  switch (record.encoding) {
    case 'u32':
      return { encoding: 'u32', data: new Uint32Array(buffer) };
    case 'f32': {
      const data = new Float32Array(buffer);
      refuseNonFinite(
        record,
        data.findIndex((value) => !Number.isFinite(value)),
      );
      return { encoding: 'f32', data };
    }
    default: {
      const data = new Uint16Array(buffer);
      refuseNonFinite(record, firstNotFinite16(data, record.encoding));
      return { encoding: record.encoding, data };
    }
  }
}

function refuseNonFinite(record: TensorRecord, index: number): void {
  if (index < 0) return;
  throw new NacreError(
    'not-finite',
    `Tensor ${record.name} holds NaN or infinity at element ${index}.`,
    'These weights are broken, perhaps by a diverged training run or a bad conversion: use another copy.',
  );
}

/** A float tensor as float32. */
export function floats(tensor: Tensor): Float32Array {
  if (tensor.encoding === 'u32') throw new TypeError('u32 tensors hold codes, not numbers');
  if (tensor.encoding === 'f32') return tensor.data;
  return unpackMatrix({ rows: 1, cols: tensor.data.length, format: tensor.encoding, data: tensor.data });
}
