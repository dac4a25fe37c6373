import { describe, expect, it } from 'vitest';
import { ARCHITECTURES } from '../../../src/transformer/mlc/config.ts';
import { hubConfig, writeSafetensors } from '../../../src/transformer/safetensors.ts';
import { flatten, randomWeights, tinyConfig } from './random-weights.ts';

interface Entry {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

function read(bytes: Uint8Array): Map<string, Entry> {
  const length = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
  expect(length % 8).toBe(0);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length))) as Record<
    string,
    { dtype: string; shape: number[]; data_offsets: [number, number] }
  >;
  const { __metadata__: metadata, ...tensors } = header;
  expect(metadata).toEqual({ format: 'pt' });
  let previous = 0;
  const out = new Map<string, Entry>();
  for (const [
    name,
    {
      dtype,
      shape,
      data_offsets: [start, end],
    },
  ] of Object.entries(tensors)) {
    expect(start).toBe(previous);
    previous = end;
    out.set(name, { dtype, shape, data: new Float32Array(bytes.slice(8 + length + start, 8 + length + end).buffer) });
  }
  expect(8 + length + previous).toBe(bytes.length);
  return out;
}

describe.each(ARCHITECTURES)('safetensors of a %s', (architecture) => {
  const weights = randomWeights(architecture);
  const tensors = read(writeSafetensors(weights));
  const ours = flatten(weights);
  const joined = (...names: string[]): number[] => names.flatMap((name) => [...(tensors.get(name) as Entry).data]);

  it('takes fused projections apart, and loses nothing', () => {
    for (let layer = 0; layer < 2; layer++) {
      const prefix = `model.layers.${layer}`;
      const attention = `${prefix}.self_attn`;
      const fused = `${attention}.${architecture === 'llama' ? 'qkv_proj' : 'c_attn'}`;
      expect(joined(`${attention}.q_proj.weight`, `${attention}.k_proj.weight`, `${attention}.v_proj.weight`)).toEqual([
        ...(ours.get(fused) as Float32Array),
      ]);
      expect(joined(`${prefix}.mlp.gate_proj.weight`, `${prefix}.mlp.up_proj.weight`)).toEqual([
        ...(ours.get(`${prefix}.mlp.gate_up_proj`) as Float32Array),
      ]);
      expect(tensors.get(`${attention}.k_proj.weight`)?.shape).toEqual([16, 40]);
      expect(tensors.get(`${prefix}.mlp.down_proj.weight`)?.shape).toEqual([40, 36]);
      if (architecture === 'qwen2')
        expect(joined(`${attention}.q_proj.bias`, `${attention}.k_proj.bias`, `${attention}.v_proj.bias`)).toEqual([
          ...(ours.get(`${fused}.bias`) as Float32Array),
        ]);
    }
  });

  it('has exactly the tensors transformers expects', () => {
    const perLayer = { llama: 9, qwen2: 12, qwen3: 11 }[architecture];
    expect(tensors.size).toBe(2 * perLayer + 2 + (weights.config.tied ? 0 : 1));
    expect(tensors.has('lm_head.weight')).toBe(!weights.config.tied);
    expect([...tensors.values()].every(({ dtype }) => dtype === 'F32')).toBe(true);
    expect(tensors.get('model.norm.weight')?.data).toEqual(weights.finalNorm);
  });
});

it('describes the model as transformers does', () => {
  expect(hubConfig(tinyConfig('llama'))).toMatchObject({
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    rope_scaling: { rope_type: 'llama3', factor: 32 },
    eos_token_id: 2,
    tie_word_embeddings: false,
  });
  expect(hubConfig(tinyConfig('qwen3'))).toMatchObject({ embedding_scale: 3.5 });
});
