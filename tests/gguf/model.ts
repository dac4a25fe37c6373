import type { MatrixSource } from '../../src/tensor/backend.ts';
import type { DecoderConfig, DecoderWeights } from '../../src/transformer/weights.ts';
import { bool, type FileParts, type FileTensor, f32, f32Bytes, i32s, type MetaValue, text, texts, u32 } from './file.ts';

/** Single letters, one merge and three control tokens, filled up to `count` with words. */
export function byteLevelVocabulary(count: number): { tokens: string[]; kinds: number[]; merges: string[] } {
  const special = ['<|endoftext|>', '<|im_start|>', '<|im_end|>'];
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const tokens = [...special, ...letters, 'Ġ', 'th', 'Ġth', 'Ċ'];
  while (tokens.length < count) tokens.push(`[PAD${tokens.length}]`);
  return {
    tokens,
    kinds: tokens.map((token) => (special.includes(token) ? 3 : token.startsWith('[PAD') ? 5 : 1)),
    merges: ['t h', 'Ġ th'],
  };
}

/** The metadata llama.cpp's converter would write for these dimensions, with a small byte-level vocabulary. */
export function modelMetadata(config: DecoderConfig): Record<string, MetaValue> {
  const { architecture: name, hidden, heads, headDim } = config;
  const { tokens, kinds, merges } = byteLevelVocabulary(config.vocab);
  return {
    'general.architecture': text(name),
    'general.name': text('a tiny model'),
    [`${name}.block_count`]: u32(config.layers),
    [`${name}.context_length`]: u32(config.contextLength),
    [`${name}.embedding_length`]: u32(hidden),
    [`${name}.feed_forward_length`]: u32(config.ffn),
    [`${name}.attention.head_count`]: u32(heads),
    [`${name}.attention.head_count_kv`]: u32(config.kvHeads),
    ...(hidden === heads * headDim
      ? {}
      : { [`${name}.attention.key_length`]: u32(headDim), [`${name}.attention.value_length`]: u32(headDim) }),
    [`${name}.rope.freq_base`]: f32(config.ropeTheta),
    [`${name}.attention.layer_norm_rms_epsilon`]: f32(config.normEps),
    'tokenizer.ggml.model': text('gpt2'),
    'tokenizer.ggml.pre': text('smollm'),
    'tokenizer.ggml.tokens': texts(tokens),
    'tokenizer.ggml.token_type': i32s(kinds),
    'tokenizer.ggml.merges': texts(merges),
    'tokenizer.ggml.bos_token_id': u32(1),
    'tokenizer.ggml.eos_token_id': u32(2),
    'tokenizer.ggml.add_bos_token': bool(false),
    'tokenizer.chat_template': text('{% for m in messages %}<|im_start|>{{ m.content }}<|im_end|>{% endfor %}'),
  };
}

/** Float32 weights as the tensors of a GGUF file: unfused, a Llama's q and k with rotary pairs side by side. */
export function modelTensors({ config, ...weights }: DecoderWeights): FileTensor[] {
  const { hidden, heads, kvHeads, headDim, ffn, vocab } = config;
  const tensors: FileTensor[] = [];
  const vector = (name: string, values: Float32Array): void => {
    tensors.push({ name, shape: [values.length], type: 0, bytes: f32Bytes(values) });
  };
  const matrix = (name: string, values: Float32Array, cols: number): void => {
    tensors.push({ name, shape: [cols, values.length / cols], type: 0, bytes: f32Bytes(values) });
  };
  const paired = (rows: Float32Array, cols: number): Float32Array =>
    config.architecture === 'llama' ? interleaved(rows, headDim, cols) : rows;
  const [q, kv] = [heads * headDim, kvHeads * headDim];
  matrix('token_embd.weight', values(weights.embed), hidden);
  weights.layers.forEach((layer, index) => {
    const name = (part: string): string => `blk.${index}.${part}`;
    const rows = (source: Float32Array, from: number, count: number, cols: number): Float32Array =>
      source.slice(from * cols, (from + count) * cols);
    const qkv = values(layer.qkv);
    vector(name('attn_norm.weight'), layer.inputNorm);
    matrix(name('attn_q.weight'), paired(rows(qkv, 0, q, hidden), hidden), hidden);
    matrix(name('attn_k.weight'), paired(rows(qkv, q, kv, hidden), hidden), hidden);
    matrix(name('attn_v.weight'), rows(qkv, q + kv, kv, hidden), hidden);
    if (layer.qkvBias) {
      vector(name('attn_q.bias'), paired(rows(layer.qkvBias, 0, q, 1), 1));
      vector(name('attn_k.bias'), paired(rows(layer.qkvBias, q, kv, 1), 1));
      vector(name('attn_v.bias'), rows(layer.qkvBias, q + kv, kv, 1));
    }
    if (layer.qNorm && layer.kNorm) {
      vector(name('attn_q_norm.weight'), layer.qNorm);
      vector(name('attn_k_norm.weight'), layer.kNorm);
    }
    matrix(name('attn_output.weight'), values(layer.o), q);
    vector(name('ffn_norm.weight'), layer.postNorm);
    matrix(name('ffn_gate.weight'), rows(values(layer.gateUp), 0, ffn, hidden), hidden);
    matrix(name('ffn_up.weight'), rows(values(layer.gateUp), ffn, ffn, hidden), hidden);
    matrix(name('ffn_down.weight'), values(layer.down), ffn);
  });
  vector('output_norm.weight', weights.finalNorm);
  if (weights.unembed) matrix('output.weight', values(weights.unembed), hidden);
  if (tensors[0]!.bytes.length !== 4 * vocab * hidden) throw new Error('the embedding does not fit the configuration');
  return tensors;
}

export function modelParts(weights: DecoderWeights): FileParts & { readonly tensors: FileTensor[] } {
  return { metadata: modelMetadata(weights.config), tensors: modelTensors(weights) };
}

function values(source: MatrixSource): Float32Array {
  if (source.format !== 'f32') throw new Error('the writer takes f32 weights');
  return source.data;
}

/** The converter's permutation: pair j of a head, rows j and j + d/2, becomes rows 2j and 2j + 1. */
function interleaved(rows: Float32Array, headDim: number, cols: number): Float32Array {
  const out = new Float32Array(rows.length);
  const half = headDim / 2;
  for (let row = 0; row < rows.length / cols; row++) {
    const [head, at] = [Math.floor(row / headDim), row % headDim];
    const to = head * headDim + 2 * (at % half) + Math.floor(at / half);
    out.set(rows.subarray(row * cols, (row + 1) * cols), to * cols);
  }
  return out;
}
