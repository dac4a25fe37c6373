import * as v from 'valibot';
import { NacreError } from '../../core/errors.ts';
import { CONV_TEMPLATE } from '../chat-template.ts';
import { parseJson, validate } from '../json.ts';
import type { Architecture, DecoderConfig, RopeScaling } from '../weights.ts';

export const CONFIG_FILE = 'mlc-chat-config.json';

export const QUANTISATIONS = ['q0f32', 'q0f16', 'q4f16_1', 'q4f32_1'] as const;
export type Quantisation = (typeof QUANTISATIONS)[number];

/** MLC's name for "no chat format". */
export const BARE_TEMPLATE = 'LM';

export const ARCHITECTURES: readonly Architecture[] = ['llama', 'qwen2', 'qwen3'];

/** Sampling settings that the model's makers recommend. */
export interface SamplingDefaults {
  readonly temperature?: number;
  readonly topP?: number;
}

export interface ChatConfig {
  readonly quantisation: Quantisation;
  readonly decoder: DecoderConfig;
  readonly sampling: SamplingDefaults;
  readonly tokenizerFiles: readonly string[];
  /** Absent in models without a chat format. */
  readonly conv?: v.InferOutput<typeof CONV_TEMPLATE>;
}

const count = v.pipe(v.number(), v.integer('must be a whole number'), v.minValue(1, 'must be at least 1'));
const positive = v.pipe(
  v.number(),
  v.finite('must be finite'),
  v.check((x) => x > 0, 'must be above 0'),
);
const tokenId = v.pipe(v.number(), v.integer('must be a whole number'), v.minValue(0, 'must be at least 0'));
const tokenIds = v.union([tokenId, v.array(tokenId)], 'must be a token id or a list of token ids');

const ROPE_SCALING = v.looseObject({
  rope_type: v.optional(v.string()),
  type: v.optional(v.string()),
  factor: v.optional(positive),
  low_freq_factor: v.optional(positive),
  high_freq_factor: v.optional(positive),
  original_max_position_embeddings: v.optional(count),
});

const MODEL_CONFIG = v.looseObject({
  hidden_size: count,
  intermediate_size: count,
  num_hidden_layers: count,
  num_attention_heads: count,
  num_key_value_heads: v.nullish(count),
  head_dim: v.nullish(count),
  vocab_size: v.nullish(count),
  rms_norm_eps: positive,
  rope_theta: v.nullish(positive),
  position_embedding_base: v.nullish(positive),
  rope_scaling: v.nullish(ROPE_SCALING),
  tie_word_embeddings: v.nullish(v.boolean()),
  hidden_act: v.nullish(v.literal('silu', 'must be "silu": other activations are not supported')),
  context_window_size: v.nullish(v.pipe(v.number(), v.integer('must be a whole number'))),
  max_position_embeddings: v.nullish(count),
  embedding_scale: v.nullish(positive),
});

const CHAT_CONFIG = v.looseObject({
  model_type: v.string(),
  quantization: v.string(),
  model_config: MODEL_CONFIG,
  vocab_size: v.nullish(count),
  context_window_size: v.nullish(v.pipe(v.number(), v.integer('must be a whole number'))),
  conv_template: v.nullish(v.union([v.string(), CONV_TEMPLATE])),
  tokenizer_files: v.nullish(v.array(v.string())),
  temperature: v.nullish(v.pipe(v.number(), v.minValue(0, 'must be at least 0'))),
  top_p: v.nullish(v.pipe(v.number(), v.minValue(0, 'must be at least 0'), v.maxValue(1, 'must be at most 1'))),
  bos_token_id: v.nullish(tokenId),
  eos_token_id: v.nullish(tokenIds),
});

/**
 * Reads `mlc-chat-config.json`. All dimensions come from its `model_config`; `embedding_scale` there is Nacre's extension.
 * @param hasUnembedding whether the manifest lists an unembedding, for configurations that do not say if it is tied.
 * @throws {NacreError} `bad-field` naming the field, `unknown-model-type`, `unknown-quantization`.
 */
export function parseChatConfig(text: string, hasUnembedding = false): ChatConfig {
  const chat = validate(CONFIG_FILE, CHAT_CONFIG, parseJson(CONFIG_FILE, text));
  const architecture = oneOf('unknown-model-type', 'model_type', chat.model_type, ARCHITECTURES);
  const quantisation = oneOf('unknown-quantization', 'quantization', chat.quantization, QUANTISATIONS);
  const model = chat.model_config;
  const heads = model.num_attention_heads;
  const kvHeads = model.num_key_value_heads ?? heads;
  if (heads % kvHeads !== 0) throw badField('model_config.num_key_value_heads', `is ${kvHeads}, which does not divide the ${heads} heads`);
  const headDim = model.head_dim ?? model.hidden_size / heads;
  if (!Number.isInteger(headDim) || headDim % 2 !== 0)
    throw badField('model_config.head_dim', `is ${headDim}, but must be an even whole number`);
  const vocab = model.vocab_size ?? chat.vocab_size;
  if (vocab == null) throw badField('model_config.vocab_size', 'is missing');
  const ropeTheta = model.rope_theta ?? model.position_embedding_base;
  if (ropeTheta == null) throw badField('model_config.rope_theta', 'is missing (or position_embedding_base)');
  const scaling = model.rope_scaling == null ? undefined : ropeScaling(model.rope_scaling);
  const conv = typeof chat.conv_template === 'object' && chat.conv_template !== null ? chat.conv_template : undefined;
  const decoder: DecoderConfig = {
    architecture,
    hidden: model.hidden_size,
    layers: model.num_hidden_layers,
    heads,
    kvHeads,
    headDim,
    ffn: model.intermediate_size,
    vocab,
    ropeTheta,
    ...(scaling === undefined ? {} : { ropeScaling: scaling }),
    normEps: model.rms_norm_eps,
    tied: model.tie_word_embeddings ?? !hasUnembedding,
    embedScale: model.embedding_scale ?? 1,
    contextLength: contextLength([chat.context_window_size, model.context_window_size, model.max_position_embeddings]),
    eosIds: [...new Set([...(conv?.stop_token_ids ?? []), ...[chat.eos_token_id ?? []].flat()])],
    ...(chat.bos_token_id == null ? {} : { bosId: chat.bos_token_id }),
  };
  return {
    quantisation,
    decoder,
    sampling: {
      ...(chat.temperature == null ? {} : { temperature: chat.temperature }),
      ...(chat.top_p == null ? {} : { topP: chat.top_p }),
    },
    tokenizerFiles: chat.tokenizer_files ?? ['tokenizer.json'],
    ...(conv === undefined || conv.name === BARE_TEMPLATE ? {} : { conv }),
  };
}

/** The first size that is given; −1 stands for "no limit", which nothing here can serve. */
function contextLength(candidates: readonly (number | null | undefined)[]): number {
  const size = candidates.find((candidate) => candidate != null && candidate >= 1);
  if (size == null) throw badField('context_window_size', 'is missing or not positive');
  return size;
}

function ropeScaling(raw: v.InferOutput<typeof ROPE_SCALING>): RopeScaling | undefined {
  const kind = raw.rope_type ?? raw.type ?? 'default';
  if (kind === 'default') return undefined;
  if (kind !== 'llama3') throw badField('model_config.rope_scaling.rope_type', `is "${kind}"; only "llama3" is supported`);
  const needed = (name: 'factor' | 'low_freq_factor' | 'high_freq_factor' | 'original_max_position_embeddings'): number => {
    const value = raw[name];
    if (value === undefined) throw badField(`model_config.rope_scaling.${name}`, 'is missing');
    return value;
  };
  return {
    factor: needed('factor'),
    low: needed('low_freq_factor'),
    high: needed('high_freq_factor'),
    original: needed('original_max_position_embeddings'),
  };
}

function oneOf<T extends string>(code: string, field: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined) {
    throw new NacreError(code, `${CONFIG_FILE}: ${field} is "${value}", which is not supported.`, `Supported: ${allowed.join(', ')}.`);
  }
  return found;
}

function badField(field: string, problem: string): NacreError {
  return new NacreError(
    'bad-field',
    `${CONFIG_FILE}: field ${field} ${problem}.`,
    `Correct this field, or download the model's ${CONFIG_FILE} again.`,
  );
}
