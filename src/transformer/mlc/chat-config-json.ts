import type { ConvTemplate } from '../chat-template.ts';
import { refuseRopeFactors } from '../rope.ts';
import type { DecoderConfig } from '../weights.ts';
import { BARE_TEMPLATE, CONFIG_FILE, type Quantisation, type SamplingDefaults } from './config.ts';

export interface ChatConfigExtras {
  readonly quantisation: Quantisation;
  /** Absent for models without a chat format, and for those whose format is in `tokenizer_config.json`. */
  readonly conv?: ConvTemplate;
  readonly sampling?: SamplingDefaults;
  /** Text of `tokenizer_config.json`, when such a file is written as well. */
  readonly tokenizerConfig?: string;
}

/** The chat configuration other MLC runtimes expect. `embedding_scale` is our extension and left out when it is 1. @throws {NacreError} `rope-factors` */
export function chatConfigJson(config: DecoderConfig, options: ChatConfigExtras): Record<string, unknown> {
  const { conv, sampling } = options;
  refuseRopeFactors(config, CONFIG_FILE);
  const rope = config.architecture === 'llama' ? { position_embedding_base: config.ropeTheta } : { rope_theta: config.ropeTheta };
  return {
    version: '0.1.0',
    model_type: config.architecture,
    quantization: options.quantisation,
    model_config: {
      hidden_size: config.hidden,
      intermediate_size: config.ffn,
      num_hidden_layers: config.layers,
      num_attention_heads: config.heads,
      num_key_value_heads: config.kvHeads,
      head_dim: config.headDim,
      vocab_size: config.vocab,
      rms_norm_eps: config.normEps,
      ...rope,
      ...(config.ropeScaling === undefined
        ? {}
        : {
            rope_scaling: {
              rope_type: 'llama3',
              factor: config.ropeScaling.factor,
              low_freq_factor: config.ropeScaling.low,
              high_freq_factor: config.ropeScaling.high,
              original_max_position_embeddings: config.ropeScaling.original,
            },
          }),
      hidden_act: 'silu',
      tie_word_embeddings: config.tied,
      context_window_size: config.contextLength,
      prefill_chunk_size: Math.min(2048, config.contextLength),
      tensor_parallel_shards: 1,
      max_batch_size: 1,
      ...(config.embedScale === 1 ? {} : { embedding_scale: config.embedScale }),
    },
    vocab_size: config.vocab,
    context_window_size: config.contextLength,
    sliding_window_size: -1,
    prefill_chunk_size: Math.min(2048, config.contextLength),
    attention_sink_size: -1,
    tensor_parallel_shards: 1,
    ...(sampling?.temperature === undefined ? {} : { temperature: sampling.temperature }),
    ...(sampling?.topP === undefined ? {} : { top_p: sampling.topP }),
    tokenizer_files: ['tokenizer.json', ...(options.tokenizerConfig === undefined ? [] : ['tokenizer_config.json'])],
    conv_template: conv ?? bareTemplate(config),
    ...(config.bosId === undefined ? {} : { bos_token_id: config.bosId }),
    eos_token_id: config.eosIds.length === 1 ? config.eosIds[0] : [...config.eosIds],
  };
}

/** Other runtimes refuse a configuration without a template: this one adds nothing to the text. */
function bareTemplate(config: DecoderConfig): Record<string, unknown> {
  return {
    name: BARE_TEMPLATE,
    system_template: '{system_message}',
    system_message: '',
    roles: { user: '', assistant: '' },
    role_templates: { user: '{user_message}', assistant: '{assistant_message}' },
    messages: [],
    seps: [''],
    role_content_sep: '',
    role_empty_sep: '',
    stop_str: [],
    stop_token_ids: [...config.eosIds],
    ...(config.bosId === undefined ? {} : { system_prefix_token_ids: [config.bosId] }),
  };
}
