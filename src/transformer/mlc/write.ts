import { md5 } from 'js-md5';
import { NacreError } from '../../core/errors.ts';
import type { MatrixSource } from '../../tensor/backend.ts';
import { unpackMatrix } from '../../tensor/cpu/unpack.ts';
import { countParameters } from '../device-weights.ts';
import { firstBeyondHalf, toBrain, toHalf } from '../half.ts';
import { quantise4, roundScales, type ScaleFormat } from '../quantise.ts';
import type { DecoderWeights } from '../weights.ts';
import { type ChatConfigExtras, chatConfigJson } from './chat-config-json.ts';
import { CONFIG_FILE, type Quantisation } from './config.ts';
import { MANIFEST_FILES } from './manifest.ts';
import { parameters, partsOf } from './names.ts';
import { matrixTensors } from './plan.ts';

/** Shards hold at most this much, unless a single tensor is larger. */
const SHARD_BYTES = 32 * 1024 * 1024;

export interface WriteOptions extends ChatConfigExtras {
  readonly quantisation: Quantisation;
  /** Text of `tokenizer.json`. */
  readonly tokenizerJson: string;
  /** Text of `tokenizer_config.json`. */
  readonly tokenizerConfig?: string;
  /** For tests; 32 MiB otherwise. */
  readonly shardBytes?: number;
}

export interface OutputFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/**
 * Writes a decoder in MLC format, file by file, so that no more than one shard is held. Matrices already stored in the
 * wanted form are kept bit for bit; `q0f32` stores float32 as bfloat16, as the format demands, and so loses precision.
 * @throws {NacreError} `beyond-float16` naming a tensor whose values float16 cannot hold; `rope-factors`.
 */
export function* writeMlc(weights: DecoderWeights, options: WriteOptions): Generator<OutputFile, void, undefined> {
  const { quantisation } = options;
  const limit = options.shardBytes ?? SHARD_BYTES;
  // First, since it may find that the format cannot describe the model.
  const config = encodeJson(chatConfigJson(weights.config, options));
  const shards: ShardEntry[] = [];
  let open: StoredTensor[] = [];
  let openBytes = 0;
  const close = (): OutputFile => {
    const file = shardFile(shards.length, open, openBytes);
    shards.push(file.entry);
    open = [];
    openBytes = 0;
    return { path: file.entry.dataPath, bytes: file.bytes };
  };
  for (const item of parameters(weights.config, partsOf(weights))) {
    const stored =
      item.kind === 'matrix'
        ? storeMatrix(item.name, item.value(weights), quantisation)
        : [storeFloats(item.name, [item.length], item.value(weights), quantisation)];
    for (const tensor of stored) {
      if (open.length > 0 && openBytes + tensor.bytes.length > limit) yield close();
      open.push(tensor);
      openBytes += tensor.bytes.length;
    }
  }
  if (open.length > 0) yield close();
  const bytes = shards.reduce((sum, shard) => sum + shard.nbytes, 0);
  const manifest = {
    metadata: {
      ParamSize: shards.reduce((sum, shard) => sum + shard.records.length, 0),
      ParamBytes: bytes,
      BitsPerParam: (bytes * 8) / countParameters(weights),
    },
    records: shards,
  };
  for (const path of MANIFEST_FILES) yield { path, bytes: encodeJson(manifest) };
  yield { path: 'tokenizer.json', bytes: new TextEncoder().encode(options.tokenizerJson) };
  if (options.tokenizerConfig !== undefined)
    yield { path: 'tokenizer_config.json', bytes: new TextEncoder().encode(options.tokenizerConfig) };
  yield { path: CONFIG_FILE, bytes: config };
}

/** All files at once, for small models. */
export function mlcFiles(weights: DecoderWeights, options: WriteOptions): Map<string, Uint8Array> {
  return new Map([...writeMlc(weights, options)].map(({ path, bytes }) => [path, bytes]));
}

interface StoredTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly dtype: 'float16' | 'float32' | 'uint32';
  readonly bytes: Uint8Array;
}

interface ShardEntry {
  readonly dataPath: string;
  readonly format: 'raw-shard';
  readonly nbytes: number;
  readonly records: readonly object[];
  readonly md5sum: string;
}

function shardFile(index: number, tensors: readonly StoredTensor[], nbytes: number): { entry: ShardEntry; bytes: Uint8Array } {
  const bytes = new Uint8Array(nbytes);
  let byteOffset = 0;
  const records = tensors.map((tensor) => {
    bytes.set(tensor.bytes, byteOffset);
    const { name, shape, dtype } = tensor;
    const record = { name, shape, dtype, format: 'f32-to-bf16', nbytes: tensor.bytes.length, byteOffset };
    byteOffset += tensor.bytes.length;
    return record;
  });
  return { entry: { dataPath: `params_shard_${index}.bin`, format: 'raw-shard', nbytes, records, md5sum: md5(bytes) }, bytes };
}

function storeMatrix(name: string, source: MatrixSource, quantisation: Quantisation): StoredTensor[] {
  if (!quantisation.startsWith('q4')) return [storePlain(`${name}.weight`, source, quantisation)];
  const scaleFormat = floatFormat(quantisation);
  const q4 =
    source.format === 'q4'
      ? { ...source, scales: roundScales(source.scales, scaleFormat) }
      : quantise4(unpackMatrix(source), source.rows, source.cols, scaleFormat);
  const [codes, scales] = matrixTensors(name, source.rows, source.cols, true);
  return [{ ...codes, dtype: 'uint32', bytes: bytesOf(q4.codes) }, storeFloats(scales.name, scales.shape, q4.scales, quantisation)];
}

function storePlain(name: string, source: MatrixSource, quantisation: Quantisation): StoredTensor {
  const shape = [source.rows, source.cols];
  if (source.format === floatFormat(quantisation))
    return { name, shape, dtype: floatType(quantisation), bytes: bytesOf(source.data as Uint16Array) };
  return storeFloats(name, shape, unpackMatrix(source), quantisation);
}

function storeFloats(name: string, shape: readonly number[], values: Float32Array, quantisation: Quantisation): StoredTensor {
  const format = floatFormat(quantisation);
  const beyond = format === 'f16' ? firstBeyondHalf(values) : -1;
  if (beyond >= 0) {
    throw new NacreError(
      'beyond-float16',
      `Tensor ${name} holds ${values[beyond]} at element ${beyond}, which float16 cannot store.`,
      'Convert to q0f32 or q4f32_1 instead.',
    );
  }
  return { name, shape, dtype: floatType(quantisation), bytes: bytesOf(format === 'f16' ? toHalf(values) : toBrain(values)) };
}

/** How floats lie in the shards: float32 tensors are stored as bfloat16 (`f32-to-bf16`). */
function floatFormat(quantisation: Quantisation): ScaleFormat {
  return quantisation === 'q0f16' || quantisation === 'q4f16_1' ? 'f16' : 'bf16';
}

function floatType(quantisation: Quantisation): 'float16' | 'float32' {
  return floatFormat(quantisation) === 'f16' ? 'float16' : 'float32';
}

function bytesOf(data: Uint16Array | Uint32Array): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

function encodeJson(value: unknown): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(value, null, 2)}\n`);
}
