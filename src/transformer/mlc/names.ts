import type { MatrixSource } from '../../tensor/backend.ts';
import type { Architecture, DecoderConfig, DecoderWeights, LayerWeights } from '../weights.ts';

/** One parameter of a decoder as MLC names it. A matrix's name lacks the ending `.weight`, `.q_weight` or `.q_scale`. */
export type Parameter =
  | {
      readonly kind: 'matrix';
      readonly name: string;
      readonly rows: number;
      readonly cols: number;
      readonly value: (weights: DecoderWeights) => MatrixSource;
    }
  | { readonly kind: 'vector'; readonly name: string; readonly length: number; readonly value: (weights: DecoderWeights) => Float32Array };

export interface LayerNames {
  readonly qkv: string;
  readonly o: string;
  readonly gateUp: string;
  readonly down: string;
  readonly inputNorm: string;
  readonly postNorm: string;
  readonly qkvBias: string;
  readonly qNorm: string;
  readonly kNorm: string;
}

export const EMBED = 'model.embed_tokens';
export const UNEMBED = 'lm_head';
export const FINAL_NORM = 'model.norm.weight';

export function layerNames(architecture: Architecture, layer: number): LayerNames {
  const prefix = `model.layers.${layer}`;
  const qkv = `${prefix}.self_attn.${architecture === 'llama' ? 'qkv_proj' : 'c_attn'}`;
  return {
    qkv,
    o: `${prefix}.self_attn.o_proj`,
    gateUp: `${prefix}.mlp.gate_up_proj`,
    down: `${prefix}.mlp.down_proj`,
    inputNorm: `${prefix}.input_layernorm.weight`,
    postNorm: `${prefix}.post_attention_layernorm.weight`,
    qkvBias: `${qkv}.bias`,
    qNorm: `${prefix}.self_attn.q_norm.weight`,
    kNorm: `${prefix}.self_attn.k_norm.weight`,
  };
}

export interface OptionalParts {
  readonly qkvBias: boolean;
  readonly qkNorm: boolean;
}

/** Which optional parameters these weights have. */
export function partsOf(weights: DecoderWeights): OptionalParts {
  return { qkvBias: weights.layers[0]?.qkvBias !== undefined, qkNorm: weights.layers[0]?.qNorm !== undefined };
}

/** Rows of the fused q, k, v projection. */
export function qkvRows(config: DecoderConfig): number {
  return (config.heads + 2 * config.kvHeads) * config.headDim;
}

/** Every parameter of a decoder in the order MLC lists them, with its shape. */
export function parameters(config: DecoderConfig, parts: OptionalParts): Parameter[] {
  const { hidden, ffn, vocab } = config;
  const matrix = (name: string, rows: number, cols: number, value: (weights: DecoderWeights) => MatrixSource): Parameter => ({
    kind: 'matrix',
    name,
    rows,
    cols,
    value,
  });
  const vector = (name: string, length: number, value: (weights: DecoderWeights) => Float32Array): Parameter => ({
    kind: 'vector',
    name,
    length,
    value,
  });
  const list = [matrix(EMBED, vocab, hidden, (weights) => weights.embed)];
  for (let index = 0; index < config.layers; index++) {
    const names = layerNames(config.architecture, index);
    const layer = (weights: DecoderWeights): LayerWeights => weights.layers[index];
    list.push(
      vector(names.inputNorm, hidden, (weights) => layer(weights).inputNorm),
      matrix(names.qkv, qkvRows(config), hidden, (weights) => layer(weights).qkv),
    );
    if (parts.qkvBias) list.push(vector(names.qkvBias, qkvRows(config), (weights) => layer(weights).qkvBias as Float32Array));
    if (parts.qkNorm) {
      list.push(
        vector(names.qNorm, config.headDim, (weights) => layer(weights).qNorm as Float32Array),
        vector(names.kNorm, config.headDim, (weights) => layer(weights).kNorm as Float32Array),
      );
    }
    list.push(
      matrix(names.o, hidden, config.heads * config.headDim, (weights) => layer(weights).o),
      vector(names.postNorm, hidden, (weights) => layer(weights).postNorm),
      matrix(names.gateUp, 2 * ffn, hidden, (weights) => layer(weights).gateUp),
      matrix(names.down, hidden, ffn, (weights) => layer(weights).down),
    );
  }
  list.push(vector(FINAL_NORM, hidden, (weights) => weights.finalNorm));
  if (!config.tied) list.push(matrix(UNEMBED, vocab, hidden, (weights) => weights.unembed as MatrixSource));
  return list;
}
