import type { MatrixSource } from '../tensor/backend.ts';
import { unpackMatrix } from '../tensor/cpu/unpack.ts';
import { refuseRopeFactors } from './rope.ts';
import type { DecoderConfig, DecoderWeights } from './weights.ts';

interface NamedTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly values: () => Float32Array;
}

/**
 * The weights as one `.safetensors` file in float32 (exact for every stored form), under the names of Hugging Face
 * transformers: q, k, v and gate, up apart. Layout: u64 header length, JSON header padded to 8 bytes, then the data.
 */
export function writeSafetensors(weights: DecoderWeights): Uint8Array {
  const tensors = hubTensors(weights);
  const header: Record<string, unknown> = { __metadata__: { format: 'pt' } };
  let end = 0;
  for (const { name, shape } of tensors) {
    const start = end;
    end += 4 * shape.reduce((product, length) => product * length, 1);
    header[name] = { dtype: 'F32', shape, data_offsets: [start, end] };
  }
  const json = JSON.stringify(header);
  const text = new TextEncoder().encode(json.padEnd(Math.ceil(json.length / 8) * 8, ' '));
  const out = new Uint8Array(8 + text.length + end);
  new DataView(out.buffer).setBigUint64(0, BigInt(text.length), true);
  out.set(text, 8);
  let at = 8 + text.length;
  for (const { values } of tensors) {
    const data = values();
    out.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at);
    at += data.byteLength;
  }
  return out;
}

/** The unfused tensors in the order of the layers; values are unpacked one tensor at a time. */
function hubTensors(weights: DecoderWeights): NamedTensor[] {
  const { config } = weights;
  const qRows = config.heads * config.headDim;
  const kvRows = config.kvHeads * config.headDim;
  const vector = (name: string, values: Float32Array): NamedTensor => ({ name, shape: [values.length], values: () => values });
  const rows = (name: string, source: MatrixSource, from: number, count: number): NamedTensor => ({
    name,
    shape: [count, source.cols],
    values: () => unpackMatrix(source).subarray(from * source.cols, (from + count) * source.cols),
  });
  const whole = (name: string, source: MatrixSource): NamedTensor => rows(name, source, 0, source.rows);
  const parts: readonly [string, number, number][] = [
    ['q_proj', 0, qRows],
    ['k_proj', qRows, kvRows],
    ['v_proj', qRows + kvRows, kvRows],
  ];
  const list = [whole('model.embed_tokens.weight', weights.embed)];
  weights.layers.forEach((layer, index) => {
    const prefix = `model.layers.${index}`;
    list.push(vector(`${prefix}.input_layernorm.weight`, layer.inputNorm));
    for (const [part, from, count] of parts) {
      list.push(rows(`${prefix}.self_attn.${part}.weight`, layer.qkv, from, count));
      if (layer.qkvBias !== undefined) list.push(vector(`${prefix}.self_attn.${part}.bias`, layer.qkvBias.subarray(from, from + count)));
    }
    if (layer.qNorm !== undefined) list.push(vector(`${prefix}.self_attn.q_norm.weight`, layer.qNorm));
    if (layer.kNorm !== undefined) list.push(vector(`${prefix}.self_attn.k_norm.weight`, layer.kNorm));
    list.push(
      whole(`${prefix}.self_attn.o_proj.weight`, layer.o),
      vector(`${prefix}.post_attention_layernorm.weight`, layer.postNorm),
      rows(`${prefix}.mlp.gate_proj.weight`, layer.gateUp, 0, config.ffn),
      rows(`${prefix}.mlp.up_proj.weight`, layer.gateUp, config.ffn, config.ffn),
      whole(`${prefix}.mlp.down_proj.weight`, layer.down),
    );
  });
  list.push(vector('model.norm.weight', weights.finalNorm));
  if (weights.unembed !== undefined) list.push(whole('lm_head.weight', weights.unembed));
  return list;
}

const CLASS_PREFIX = { llama: 'Llama', qwen2: 'Qwen2', qwen3: 'Qwen3' } as const;

/** The `config.json` beside it. `embedding_scale` is Nacre's own field, absent when it is 1; transformers ignores it. @throws {NacreError} `rope-factors` */
export function hubConfig(config: DecoderConfig): Record<string, unknown> {
  refuseRopeFactors(config, 'config.json');
  const scaling = config.ropeScaling;
  return {
    architectures: [`${CLASS_PREFIX[config.architecture]}ForCausalLM`],
    model_type: config.architecture,
    hidden_size: config.hidden,
    intermediate_size: config.ffn,
    num_hidden_layers: config.layers,
    num_attention_heads: config.heads,
    num_key_value_heads: config.kvHeads,
    head_dim: config.headDim,
    vocab_size: config.vocab,
    max_position_embeddings: config.contextLength,
    rms_norm_eps: config.normEps,
    rope_theta: config.ropeTheta,
    ...(scaling === undefined
      ? {}
      : {
          rope_scaling: {
            rope_type: 'llama3',
            factor: scaling.factor,
            low_freq_factor: scaling.low,
            high_freq_factor: scaling.high,
            original_max_position_embeddings: scaling.original,
          },
        }),
    hidden_act: 'silu',
    tie_word_embeddings: config.tied,
    torch_dtype: 'float32',
    ...(config.embedScale === 1 ? {} : { embedding_scale: config.embedScale }),
    ...(config.bosId === undefined ? {} : { bos_token_id: config.bosId }),
    eos_token_id: config.eosIds.length === 1 ? config.eosIds[0] : [...config.eosIds],
  };
}
