import * as v from 'valibot';
import { NacreError } from '../../core/errors.ts';
import { parseJson, validate } from '../json.ts';

/** The manifest's name today and before. */
export const MANIFEST_FILES = ['tensor-cache.json', 'ndarray-cache.json'] as const;

const size = v.pipe(v.number(), v.safeInteger('must be a whole number'), v.minValue(0, 'must be at least 0'));

const RECORD = v.looseObject({
  name: v.string(),
  shape: v.array(size),
  dtype: v.string(),
  format: v.optional(v.string(), 'raw'),
  nbytes: size,
  byteOffset: size,
});

const SHARD = v.looseObject({
  dataPath: v.string(),
  format: v.optional(v.string(), 'raw-shard'),
  nbytes: size,
  md5sum: v.nullish(v.string()),
  records: v.array(RECORD),
});

const MANIFEST = v.looseObject({ records: v.array(SHARD) });

/** Bytes of one element in memory, before `f32-to-bf16` halves those of float32. */
const ELEMENT_BYTES: Readonly<Record<string, number>> = { float32: 4, float16: 2, bfloat16: 2, uint32: 4 };

export type Encoding = 'f32' | 'f16' | 'bf16' | 'u32';

export interface TensorRecord {
  readonly name: string;
  readonly shape: readonly number[];
  /** How its bytes are to be read. */
  readonly encoding: Encoding;
  readonly nbytes: number;
  readonly byteOffset: number;
}

export interface Shard {
  readonly path: string;
  readonly nbytes: number;
  readonly md5?: string;
  readonly records: readonly TensorRecord[];
}

/**
 * Reads and checks a manifest: every record lies inside its shard, has a known type, as many bytes as its shape needs,
 * and a name of its own.
 * @throws {NacreError} `bad-json`, `bad-field`, `unknown-dtype`, `record-out-of-range`, `record-size`, `duplicate-tensor`.
 */
export function parseManifest(file: string, text: string): Shard[] {
  const manifest = validate(file, MANIFEST, parseJson(file, text));
  const seen = new Set<string>();
  return manifest.records.map((shard) => ({
    path: shard.dataPath,
    nbytes: shard.nbytes,
    ...(shard.md5sum == null ? {} : { md5: shard.md5sum.toLowerCase() }),
    records: shard.records.map((record) => {
      if (seen.has(record.name)) throw damaged('duplicate-tensor', `${file} lists the tensor ${record.name} twice.`);
      seen.add(record.name);
      return checkRecord(file, shard.dataPath, shard.nbytes, record);
    }),
  }));
}

function checkRecord(file: string, shard: string, shardBytes: number, record: v.InferOutput<typeof RECORD>): TensorRecord {
  const { name, shape, dtype, nbytes, byteOffset } = record;
  const encoding = encodingOf(dtype, record.format);
  if (encoding === undefined) {
    throw new NacreError(
      'unknown-dtype',
      `${file}: tensor ${name} has dtype "${dtype}" and format "${record.format}", which cannot be read.`,
      `Known types: ${Object.keys(ELEMENT_BYTES).join(', ')}, with format "raw" or "f32-to-bf16".`,
    );
  }
  if (byteOffset + nbytes > shardBytes) {
    throw damaged(
      'record-out-of-range',
      `${file}: tensor ${name} ends at byte ${byteOffset + nbytes}, but ${shard} has only ${shardBytes}.`,
    );
  }
  const expected = shape.reduce((product, length) => product * length, 1) * (encoding === 'f16' || encoding === 'bf16' ? 2 : 4);
  if (nbytes !== expected) {
    throw damaged(
      'record-size',
      `${file}: tensor ${name} of shape [${shape.join(', ')}] needs ${expected} bytes, but nbytes is ${nbytes}.`,
    );
  }
  return { name, shape, encoding, nbytes, byteOffset };
}

/** `f32-to-bf16` stands on every record but changes the bytes of float32 tensors only. */
function encodingOf(dtype: string, format: string): Encoding | undefined {
  if (!Object.hasOwn(ELEMENT_BYTES, dtype) || (format !== 'raw' && format !== 'f32-to-bf16')) return undefined;
  if (dtype === 'float32') return format === 'f32-to-bf16' ? 'bf16' : 'f32';
  if (dtype === 'float16') return 'f16';
  return dtype === 'bfloat16' ? 'bf16' : 'u32';
}

function damaged(code: string, message: string): NacreError {
  return new NacreError(code, message, 'The manifest is damaged: download the model again.');
}
