import { NacreError } from '../../core/errors.ts';
import type { MatrixSource } from '../../tensor/backend.ts';
import { copyBytes } from '../bytes.ts';
import type { DecoderConfig, DecoderWeights, LayerWeights } from '../weights.ts';

/** The header: seven int32. */
const HEADER_FIELDS = ['dim', 'hidden_dim', 'n_layers', 'n_heads', 'n_kv_heads', 'vocab_size', 'seq_len'] as const;
type Header = Record<(typeof HEADER_FIELDS)[number], number>;
const HEADER_BYTES = HEADER_FIELDS.length * 4;
/** First word of the later, versioned files ("ak42"). */
const VERSIONED_MAGIC = 0x616b3432;
/** No real model comes near this; larger numbers mean that the file is something else. */
const LARGEST_FIELD = 1 << 24;

const BOS = 1;
const EOS = 2;

/**
 * Reads a checkpoint of karpathy/llama2.c (the first, unversioned layout): a header, then float32 weights in a fixed
 * order. Rows of q and k are reordered from interleaved to half-split rotary pairs. Generation ends at BOS, which
 * separates the stories these models were trained on, or at EOS.
 * @throws {NacreError} `bad-header`, `file-size` or `not-finite`, naming the file and the field or tensor.
 */
export function readLlama2c(file: string, bytes: Uint8Array): DecoderWeights {
  const header = readHeader(file, bytes);
  const tied = header.vocab_size > 0;
  const vocab = Math.abs(header.vocab_size);
  const { dim, hidden_dim: ffn, n_layers: layers, n_heads: heads, n_kv_heads: kvHeads, seq_len: positions } = header;
  const headDim = dim / heads;
  const kvDim = kvHeads * headDim;
  const perLayer = 2 * dim + 2 * dim * dim + 2 * kvDim * dim + 3 * dim * ffn;
  const expected = HEADER_BYTES + 4 * (vocab * dim * (tied ? 1 : 2) + layers * perLayer + dim + positions * headDim);
  if (bytes.length !== expected) {
    const problem = bytes.length < expected ? 'is cut off' : 'is longer than its header says';
    throw new NacreError(
      'file-size',
      `${file} ${problem}: it has ${bytes.length} bytes, but its header asks for ${expected}.`,
      'Download the checkpoint again; only the unversioned float32 layout of llama2.c is read.',
    );
  }
  const floats = new Float32Array(copyBytes(bytes, HEADER_BYTES));
  let at = 0;
  const take = (name: string, length: number): Float32Array => {
    const part = floats.subarray(at, at + length);
    at += length;
    const bad = part.findIndex((value) => !Number.isFinite(value));
    if (bad >= 0)
      throw new NacreError(
        'not-finite',
        `${file}: ${name} holds ${part[bad]} at element ${bad}.`,
        'The checkpoint is broken: use another copy.',
      );
    return part;
  };
  const perLayerParts = (name: string, length: number): Float32Array[] =>
    Array.from({ length: layers }, (_, l) => take(`${name} of layer ${l}`, length));

  const embed = take('token_embedding_table', vocab * dim);
  const attentionNorm = perLayerParts('rms_att_weight', dim);
  const q = perLayerParts('wq', dim * dim);
  const k = perLayerParts('wk', kvDim * dim);
  const v = perLayerParts('wv', kvDim * dim);
  const o = perLayerParts('wo', dim * dim);
  const ffnNorm = perLayerParts('rms_ffn_weight', dim);
  const gate = perLayerParts('w1', ffn * dim);
  const down = perLayerParts('w2', dim * ffn);
  const up = perLayerParts('w3', ffn * dim);
  const finalNorm = take('rms_final_weight', dim).slice();
  // Tables of rotary cosines and sines that nothing reads any more.
  at += positions * headDim;
  const unembed = tied ? undefined : take('wcls', vocab * dim);

  const config: DecoderConfig = {
    architecture: 'llama',
    hidden: dim,
    layers,
    heads,
    kvHeads,
    headDim,
    ffn,
    vocab,
    ropeTheta: 1e4,
    normEps: 1e-5,
    tied,
    embedScale: 1,
    contextLength: positions,
    eosIds: [BOS, EOS],
    bosId: BOS,
  };
  return {
    config,
    embed: matrix(vocab, dim, embed),
    layers: attentionNorm.map(
      (inputNorm, l): LayerWeights => ({
        inputNorm: inputNorm.slice(),
        qkv: matrix(dim + 2 * kvDim, dim, halfSplit(q[l], heads, headDim, dim), halfSplit(k[l], kvHeads, headDim, dim), v[l]),
        o: matrix(dim, dim, o[l]),
        postNorm: ffnNorm[l].slice(),
        gateUp: matrix(2 * ffn, dim, gate[l], up[l]),
        down: matrix(dim, ffn, down[l]),
      }),
    ),
    finalNorm,
    ...(unembed === undefined ? {} : { unembed: matrix(vocab, dim, unembed) }),
  };
}

/** Stacks parts row upon row into a matrix of its own memory. */
function matrix(rows: number, cols: number, ...parts: Float32Array[]): MatrixSource {
  const data = new Float32Array(rows * cols);
  let at = 0;
  for (const part of parts) {
    data.set(part, at);
    at += part.length;
  }
  return { rows, cols, format: 'f32', data };
}

/**
 * Reorders the rows of each head from pairs (0,1), (2,3), … to pairs (0, d/2), (1, d/2 + 1), …: attention is the same,
 * since queries and keys are reordered alike, and rotary angles meet the rows they were trained with.
 */
export function halfSplit(rows: Float32Array, heads: number, headDim: number, cols: number): Float32Array {
  const out = new Float32Array(rows.length);
  const half = headDim / 2;
  for (let head = 0; head < heads; head++) {
    for (let row = 0; row < headDim; row++) {
      const source = head * headDim + (row < half ? 2 * row : 2 * (row - half) + 1);
      out.set(rows.subarray(source * cols, (source + 1) * cols), (head * headDim + row) * cols);
    }
  }
  return out;
}

function readHeader(file: string, bytes: Uint8Array): Header {
  if (bytes.length < HEADER_BYTES) {
    throw new NacreError(
      'file-size',
      `${file} is cut off: ${bytes.length} bytes are too few even for its header.`,
      'Download the checkpoint again.',
    );
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES);
  if (view.getUint32(0, true) === VERSIONED_MAGIC) {
    throw new NacreError(
      'bad-header',
      `${file} is a versioned llama2.c file.`,
      'Export it again in the legacy layout (export.py --version 0).',
    );
  }
  const header = Object.fromEntries(HEADER_FIELDS.map((field, index) => [field, view.getInt32(index * 4, true)])) as Header;
  for (const field of HEADER_FIELDS) {
    const value = field === 'vocab_size' ? Math.abs(header[field]) : header[field];
    if (value < 1 || value > LARGEST_FIELD) throw badHeader(file, `${field} is ${header[field]}`);
  }
  const { dim, n_heads: heads, n_kv_heads: kvHeads } = header;
  if (dim % heads !== 0 || (dim / heads) % 2 !== 0) throw badHeader(file, `dim ${dim} does not give ${heads} heads of even size`);
  if (heads % kvHeads !== 0) throw badHeader(file, `n_kv_heads ${kvHeads} does not divide n_heads ${heads}`);
  return header;
}

function badHeader(file: string, problem: string): NacreError {
  return new NacreError(
    'bad-header',
    `${file} is no llama2.c checkpoint: ${problem}.`,
    'Give a .bin file written by llama2.c (legacy layout), such as stories260K.bin.',
  );
}
