import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { NacreError } from '../../src/core/errors.ts';
import { loadModel } from '../../src/models/own/source.ts';
import { countParameters } from '../../src/transformer/device-weights.ts';
import { readLlama2c } from '../../src/transformer/llama2c/checkpoint.ts';
import { llama2cTokenizer, llama2cTokenizerConfig } from '../../src/transformer/llama2c/tokenizer.ts';
import type { ChatConfigExtras } from '../../src/transformer/mlc/chat-config-json.ts';
import { QUANTISATIONS } from '../../src/transformer/mlc/config.ts';
import { type OutputFile, writeMlc } from '../../src/transformer/mlc/write.ts';
import { hubConfig, writeSafetensors } from '../../src/transformer/safetensors.ts';
import { Tokenizer } from '../../src/transformer/tokenizer.ts';
import type { DecoderWeights } from '../../src/transformer/weights.ts';
import { type ParsedArgs, requiredOption, textOption, usage } from './args.ts';
import { findModel, readUserFile, userPath, writeInto } from './node-files.ts';
import { loadProgress } from './progress.ts';

export interface ConvertResult {
  /** Paths below the folder, in the order written. */
  readonly files: readonly string[];
  readonly parameters: number;
  /** Size of all files. */
  readonly bytes: number;
}

/** Everything that is written out again. */
interface Content extends Pick<ChatConfigExtras, 'conv' | 'sampling'> {
  readonly weights: DecoderWeights;
  readonly tokenizerJson: string;
  readonly tokenizerConfig?: string;
}

/** `convert`: a GGUF file, a llama2.c checkpoint or an MLC folder to MLC or safetensors. @throws {NacreError} for bad input. */
export async function run(args: ParsedArgs, signal?: AbortSignal): Promise<ConvertResult> {
  const from = requiredOption(args, 'from');
  const to = userPath(requiredOption(args, 'to'));
  if (to === userPath(from)) throw usage('--to is the same folder as --from.', 'Give another folder to write.');
  if (existsSync(to) && !statSync(to).isDirectory()) throw usage(`--to: "${to}" is a file.`, 'Give a folder.');
  const content = await readContent(args, from, signal);
  const files: string[] = [];
  let bytes = 0;
  for (const file of outputFiles(content, textOption(args, 'quantization') ?? 'q0f16')) {
    signal?.throwIfAborted();
    bytes += await writeInto(to, file.path, file.bytes);
    files.push(file.path);
  }
  return { files, parameters: countParameters(content.weights), bytes };
}

async function readContent(args: ParsedArgs, from: string, signal: AbortSignal | undefined): Promise<Content> {
  if (from.toLowerCase().endsWith('.bin')) return readCheckpoint(args, from);
  const { source, id } = findModel('from', from);
  const model = await loadModel(source, id, { onProgress: loadProgress(), ...(signal === undefined ? {} : { signal }) });
  const { weights, tokenizerJson, tokenizerConfig, conv, sampling } = model;
  return {
    weights,
    tokenizerJson,
    sampling,
    ...(tokenizerConfig === undefined ? {} : { tokenizerConfig }),
    ...(conv === undefined ? {} : { conv }),
  };
}

async function readCheckpoint(args: ParsedArgs, from: string): Promise<Content> {
  const weights = readLlama2c(basename(from), await readUserFile('from', from));
  const { vocab, contextLength } = weights.config;
  const path = textOption(args, 'tokenizer') ?? tokenizerBeside(from, vocab);
  const bytes = await readUserFile('tokenizer', path);
  if (path.endsWith('.json')) {
    const tokenizerJson = new TextDecoder().decode(bytes);
    Tokenizer.fromJson(tokenizerJson);
    return { weights, tokenizerJson };
  }
  return {
    weights,
    tokenizerJson: JSON.stringify(llama2cTokenizer(basename(path), bytes, vocab)),
    tokenizerConfig: JSON.stringify(llama2cTokenizerConfig(contextLength)),
  };
}

/** llama2.c keeps the tokenizer in a file of its own, named after its size. */
function tokenizerBeside(from: string, vocab: number): string {
  const folder = dirname(userPath(from));
  const names = [`tok${vocab}.bin`, 'tokenizer.bin', 'tokenizer.json'];
  const found = names.map((name) => join(folder, name)).find((path) => existsSync(path));
  if (found === undefined) {
    throw new NacreError(
      'tokenizer-missing',
      `${basename(from)} needs its tokenizer, but ${folder} has none of ${names.join(', ')}.`,
      `Put tok${vocab}.bin beside it, or name the file with --tokenizer.`,
    );
  }
  return found;
}

function* outputFiles(content: Content, quantization: string): Generator<OutputFile, void, undefined> {
  const { weights, ...rest } = content;
  const quantisation = QUANTISATIONS.find((known) => known === quantization);
  if (quantisation !== undefined) {
    yield* writeMlc(weights, { quantisation, ...rest });
    return;
  }
  const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
  // First, since it may find that the format cannot describe the model.
  const config = encode(`${JSON.stringify(hubConfig(weights.config), null, 2)}\n`);
  yield { path: 'model.safetensors', bytes: writeSafetensors(weights) };
  yield { path: 'tokenizer.json', bytes: encode(rest.tokenizerJson) };
  if (rest.tokenizerConfig !== undefined) yield { path: 'tokenizer_config.json', bytes: encode(rest.tokenizerConfig) };
  yield { path: 'config.json', bytes: config };
}
