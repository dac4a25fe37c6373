import { md5 } from 'js-md5';
import { NacreError } from '../../core/errors.ts';
import { type FileSource, isFileMissing, type ReadOptions, readText, safePath } from '../file-source.ts';
import type { DecoderWeights } from '../weights.ts';
import { type ChatConfig, CONFIG_FILE, parseChatConfig } from './config.ts';
import { MANIFEST_FILES, parseManifest, type Shard } from './manifest.ts';
import { planOf } from './plan.ts';
import { decodeTensor, type Tensor } from './tensors.ts';

export interface LoadProgress {
  readonly file: string;
  readonly loadedBytes: number;
  readonly totalBytes: number;
}

export interface MlcOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: LoadProgress) => void;
}

export interface MlcModel {
  readonly chat: ChatConfig;
  readonly weights: DecoderWeights;
  /** Bytes of all shards. */
  readonly bytes: number;
}

/**
 * Reads a model in MLC format. Sizes, hashes, types, shapes and finiteness are checked before anything is returned.
 * @throws {NacreError} naming the file, field or tensor at fault; rejects with the signal's reason when cancelled.
 */
export async function readMlc(source: FileSource, options: MlcOptions = {}): Promise<MlcModel> {
  const { signal } = options;
  const configText = await readText(source, CONFIG_FILE, signal === undefined ? {} : { signal });
  const shards = await readManifest(source, signal);
  const records = new Map(shards.flatMap((shard) => shard.records.map((record) => [record.name, record] as const)));
  const chat = parseChatConfig(configText, records.has('lm_head.weight') || records.has('lm_head.q_weight'));
  // Faults that can be seen without the weights are reported before they are downloaded.
  const plan = planOf(chat.decoder, chat.quantisation, records);
  const totalBytes = shards.reduce((sum, shard) => sum + shard.nbytes, 0);
  const tensors = new Map<string, Tensor>();
  let before = 0;
  for (const shard of shards) {
    signal?.throwIfAborted();
    const onBytes = (received: number): void => options.onProgress?.({ file: shard.path, loadedBytes: before + received, totalBytes });
    const bytes = await readShard(source, shard, { ...(signal === undefined ? {} : { signal }), onBytes });
    for (const record of shard.records) if (plan.needed.has(record.name)) tensors.set(record.name, decodeTensor(record, bytes));
    before += shard.nbytes;
    options.onProgress?.({ file: shard.path, loadedBytes: before, totalBytes });
  }
  return { chat, weights: plan.assemble(tensors), bytes: totalBytes };
}

async function readManifest(source: FileSource, signal: AbortSignal | undefined): Promise<Shard[]> {
  for (const file of MANIFEST_FILES) {
    try {
      return parseManifest(file, await readText(source, file, signal === undefined ? {} : { signal }));
    } catch (error) {
      if (!isFileMissing(error)) throw error;
    }
  }
  throw new NacreError(
    'file-missing',
    `${source.name} has neither ${MANIFEST_FILES.join(' nor ')}.`,
    'Choose the folder of a model in MLC format: it holds the manifest, the shards and mlc-chat-config.json.',
  );
}

async function readShard(source: FileSource, shard: Shard, options: ReadOptions): Promise<Uint8Array> {
  const bytes = await source.read(safePath(shard.path), options);
  if (bytes.length !== shard.nbytes) {
    const problem = bytes.length < shard.nbytes ? 'is cut off' : 'is too long';
    throw new NacreError(
      'shard-size',
      `${shard.path} ${problem}: it has ${bytes.length} bytes, but the manifest says ${shard.nbytes}.`,
      `Download ${shard.path} again.`,
    );
  }
  if (shard.md5 !== undefined) {
    const actual = md5(bytes);
    if (actual !== shard.md5) {
      throw new NacreError(
        'hash-mismatch',
        `${shard.path} is damaged: its MD5 is ${actual}, but the manifest says ${shard.md5}.`,
        `Download ${shard.path} again.`,
      );
    }
  }
  return bytes;
}
