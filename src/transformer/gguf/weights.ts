import { NacreError } from '../../core/errors.ts';
import type { MatrixSource } from '../../tensor/backend.ts';
import { unpackMatrix } from '../../tensor/cpu/unpack.ts';
import type { LoadProgress } from '../mlc/read.ts';
import type { RandomAccessFile } from '../random-access.ts';
import type { DecoderConfig, DecoderWeights, LayerWeights } from '../weights.ts';
import { joined, matrixOf, reordered, type StoredRows } from './blocks.ts';
import type { MetadataConfig } from './config.ts';
import { unsupported } from './errors.ts';
import type { GgufHeader, GgufTensor } from './header.ts';
import { ropeOptions } from './rope.ts';

export interface GgufOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: LoadProgress) => void;
}

const EMBED = 'token_embd.weight';
const UNEMBED = 'output.weight';
const FINAL_NORM = 'output_norm.weight';
const ROPE_FACTORS = 'rope_freqs.weight';

/** Reads the tensors of a decoder one by one and checks the shape of each, and that none is left over. */
export class TensorReader {
  private readonly file: RandomAccessFile;
  private readonly tensors: ReadonlyMap<string, GgufTensor>;
  private readonly options: GgufOptions;
  private readonly unread: Set<string>;
  private loadedBytes = 0;
  private readonly totalBytes: number;

  constructor(file: RandomAccessFile, { tensors }: GgufHeader, options: GgufOptions) {
    this.file = file;
    this.tensors = tensors;
    this.options = options;
    this.unread = new Set(tensors.keys());
    this.totalBytes = [...tensors.values()].reduce((sum, { from, to }) => sum + to - from, 0);
  }

  has(name: string): boolean {
    return this.tensors.has(name);
  }

  async rows(name: string, rows: number, cols: number): Promise<StoredRows> {
    const tensor = this.checked(name, rows, cols);
    const bytes = await this.bytes(tensor);
    return { type: tensor.type, rows, cols, bytes };
  }

  async matrix(name: string, rows: number, cols: number): Promise<MatrixSource> {
    return this.source(name, [await this.rows(name, rows, cols)]);
  }

  /** A matrix from rows that were read; where the parts differ in type, a stacked one. */
  source(name: string, parts: readonly StoredRows[]): MatrixSource {
    const sources = joined(parts).map((part) => matrixOf(this.file.name, name, part));
    const [first] = sources;
    if (sources.length === 1) return first;
    return { rows: sources.reduce((sum, part) => sum + part.rows, 0), cols: first.cols, format: 'stacked', parts: sources };
  }

  /** Unquantised numbers. */
  async vector(name: string, length: number): Promise<Float32Array> {
    const { type, bytes } = await this.rows(name, 1, length);
    if (type !== 'f32' && type !== 'f16' && type !== 'bf16') {
      throw new NacreError(
        'tensor-type',
        `${this.file.name}: tensor ${name} is a vector stored as ${type.toUpperCase()}.`,
        'Norms and biases must be F32, F16 or BF16.',
      );
    }
    return unpackMatrix(matrixOf(this.file.name, name, { type, rows: 1, cols: length, bytes }));
  }

  /** @throws {NacreError} `gguf-unsupported` where the model has weights that nothing here uses */
  finish(): void {
    const [left] = this.unread;
    if (left === undefined) return;
    throw unsupported(
      this.file.name,
      `tensor ${left} has no place in this architecture`,
      'Without it the model would say something else: use another model.',
    );
  }

  private checked(name: string, rows: number, cols: number): GgufTensor {
    const tensor = this.tensors.get(name);
    if (tensor === undefined) {
      throw new NacreError(
        'tensor-missing',
        `${this.file.name} has no tensor ${name}.`,
        'The file is no whole model, or of another kind than its metadata say.',
      );
    }
    if (tensor.rows !== rows || tensor.cols !== cols) {
      const found = tensor.vector ? `${tensor.cols}` : `${tensor.rows} x ${tensor.cols}`;
      throw new NacreError(
        'tensor-shape',
        `${this.file.name}: tensor ${name} has the shape ${found}, but the metadata ask for ${rows === 1 ? cols : `${rows} x ${cols}`}.`,
        'Metadata and weights belong to different models: use another copy.',
      );
    }
    return tensor;
  }

  private async bytes({ name, from, to }: GgufTensor): Promise<Uint8Array> {
    const { signal, onProgress } = this.options;
    signal?.throwIfAborted();
    const bytes = await this.file.read(from, to, signal);
    this.unread.delete(name);
    this.loadedBytes += to - from;
    onProgress?.({ file: this.file.name, loadedBytes: this.loadedBytes, totalBytes: this.totalBytes });
    return bytes;
  }
}

/**
 * Reads all weights. Their packed forms are kept.
 * @throws {NacreError} `tensor-missing`, `tensor-shape`, `tensor-type`, `not-finite` or `gguf-unsupported`, naming the tensor.
 */
export async function readWeights(
  file: RandomAccessFile,
  header: GgufHeader,
  described: MetadataConfig,
  options: GgufOptions,
): Promise<DecoderWeights> {
  const reader = new TensorReader(file, header, options);
  const { architecture, hidden, vocab, headDim } = described;
  const factors = reader.has(ROPE_FACTORS) ? await reader.vector(ROPE_FACTORS, headDim / 2) : undefined;
  const rope = ropeOptions(header.metadata, architecture, headDim, described.ropeTheta, factors);
  const config: DecoderConfig = { ...described, ...rope, tied: !reader.has(UNEMBED) };
  const embed = await reader.matrix(EMBED, vocab, hidden);
  const layers: LayerWeights[] = [];
  for (let index = 0; index < config.layers; index++) layers.push(await readLayer(reader, config, index));
  const finalNorm = await reader.vector(FINAL_NORM, hidden);
  const unembed = config.tied ? undefined : await reader.matrix(UNEMBED, vocab, hidden);
  reader.finish();
  return { config, embed, layers, finalNorm, ...(unembed === undefined ? {} : { unembed }) };
}

async function readLayer(reader: TensorReader, config: DecoderConfig, index: number): Promise<LayerWeights> {
  const { hidden, ffn, headDim, heads } = config;
  const name = (part: string): string => `blk.${index}.${part}`;
  const [gate, up] = [await reader.rows(name('ffn_gate.weight'), ffn, hidden), await reader.rows(name('ffn_up.weight'), ffn, hidden)];
  const norms = config.architecture === 'qwen3';
  return {
    inputNorm: await reader.vector(name('attn_norm.weight'), hidden),
    qkv: await readQkv(reader, config, name),
    ...(reader.has(name('attn_q.bias')) ? { qkvBias: await readBias(reader, config, name) } : {}),
    ...(norms
      ? {
          qNorm: await reader.vector(name('attn_q_norm.weight'), headDim),
          kNorm: await reader.vector(name('attn_k_norm.weight'), headDim),
        }
      : {}),
    o: await reader.matrix(name('attn_output.weight'), hidden, heads * headDim),
    postNorm: await reader.vector(name('ffn_norm.weight'), hidden),
    gateUp: reader.source(`${name('ffn_gate.weight')} and ffn_up`, [gate, up]),
    down: await reader.matrix(name('ffn_down.weight'), hidden, ffn),
  };
}

async function readQkv(reader: TensorReader, config: DecoderConfig, name: (part: string) => string): Promise<MatrixSource> {
  const { hidden, headDim, heads, kvHeads } = config;
  const q = await reader.rows(name('attn_q.weight'), heads * headDim, hidden);
  const k = await reader.rows(name('attn_k.weight'), kvHeads * headDim, hidden);
  const v = await reader.rows(name('attn_v.weight'), kvHeads * headDim, hidden);
  const order = rotaryOrder(config);
  return reader.source(`${name('attn_q.weight')}, attn_k and attn_v`, [reordered(q, order), reordered(k, order), v]);
}

async function readBias(reader: TensorReader, config: DecoderConfig, name: (part: string) => string): Promise<Float32Array> {
  const { headDim, heads, kvHeads } = config;
  const order = rotaryOrder(config);
  const q = await reader.vector(name('attn_q.bias'), heads * headDim);
  const k = await reader.vector(name('attn_k.bias'), kvHeads * headDim);
  const v = await reader.vector(name('attn_v.bias'), kvHeads * headDim);
  return Float32Array.of(...q.map((_, row) => q[order(row)]!), ...k.map((_, row) => k[order(row)]!), ...v);
}

/**
 * The row of a file's q or k that is row `row` here. llama.cpp keeps a Llama's rotary pairs side by side, (0, 1), (2, 3), …;
 * here, and in its other architectures, they are (0, d/2), (1, d/2 + 1), ….
 */
export function rotaryOrder({ architecture, headDim }: Pick<DecoderConfig, 'architecture' | 'headDim'>): (row: number) => number {
  if (architecture !== 'llama') return (row) => row;
  const half = headDim / 2;
  return (row) => {
    const inHead = row % headDim;
    return row - inHead + (inHead < half ? 2 * inHead : 2 * (inHead - half) + 1);
  };
}
