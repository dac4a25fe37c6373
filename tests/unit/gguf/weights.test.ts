import { describe, expect, it } from 'vitest';
import { createCpuBackend } from '../../../src/tensor/cpu/backend.ts';
import { unpackMatrix } from '../../../src/tensor/cpu/unpack.ts';
import { Decoder } from '../../../src/transformer/decoder.ts';
import { readGguf } from '../../../src/transformer/gguf/read.ts';
import { bytesFile } from '../../../src/transformer/random-access.ts';
import { llama3Factors, ropeFrequencies } from '../../../src/transformer/rope.ts';
import { RowBuilder } from '../../../src/transformer/session.ts';
import type { Architecture, DecoderConfig, DecoderWeights } from '../../../src/transformer/weights.ts';
import { type FileParts, f32, f32Bytes, ggufFile, text, u32 } from '../../gguf/file.ts';
import { modelParts } from '../../gguf/model.ts';
import { randomBlocks } from '../../kernels/blocks.ts';
import { randomTokens, tinyConfig, tinyWeights } from '../../transformer/models.ts';
import { referenceForward, referenceWeights } from '../../transformer/reference.ts';

function model(architecture: Architecture, changes: Partial<DecoderConfig> = {}): DecoderWeights {
  const { ropeScaling: _, ...config } = tinyConfig(architecture, { embedScale: 1, eosIds: [2, 0], bosId: 1, ...changes });
  return tinyWeights(config);
}

const read = (parts: FileParts) => readGguf(bytesFile('m.gguf', ggufFile(parts)));

describe('a GGUF model', () => {
  it.each<[Architecture, Partial<DecoderConfig>]>([
    ['llama', {}],
    ['llama', { tied: true, hidden: 36, kvHeads: 6 }],
    ['qwen2', {}],
    ['qwen2', { tied: true, ropeTheta: 1e6 }],
    ['qwen3', {}],
    ['qwen3', { tied: false, heads: 3, kvHeads: 1, headDim: 16 }],
  ])('of architecture %s %j keeps its weights and its dimensions', async (architecture, changes) => {
    const weights = model(architecture, changes);
    const { weights: back, bytes } = await read(modelParts(weights));
    expect(back.config).toEqual({ ...weights.config, normEps: Math.fround(weights.config.normEps) });
    expect({ ...back, config: null }).toEqual({ ...weights, config: null });
    expect(bytes).toBe(ggufFile(modelParts(weights)).length);
  });

  it.each(['llama', 'qwen2', 'qwen3'] as const)('of architecture %s computes what a float64 forward pass does', async (architecture) => {
    const weights = model(architecture);
    const tokens = randomTokens(23, weights.config.vocab, architecture);
    const decoder = new Decoder(await createCpuBackend(), (await read(modelParts(weights))).weights);
    const start = decoder.arena.allocate(32).start;
    const rows = new RowBuilder();
    tokens.forEach((id, i) => {
      rows.add(id, i, start + i, [0, 0, start, i + 1]);
    });
    const logits = await decoder.forward(rows.packed([22]));
    const wanted = referenceForward(weights.config, referenceWeights(weights), tokens).logits[22]!;
    for (let i = 0; i < wanted.length; i++) expect(Math.abs(logits[i]! - wanted[i]!)).toBeLessThan(3e-5);
  });

  it('may store parts of one projection in different types', async () => {
    const weights = model('qwen3', { hidden: 256, layers: 1 });
    const parts = modelParts(weights);
    const v = parts.tensors.findIndex(({ name }) => name === 'blk.0.attn_v.weight');
    const rows = 2 * 6;
    const words = randomBlocks('mixed', rows, 256, 'q4_k', 0.1);
    parts.tensors[v] = { name: 'blk.0.attn_v.weight', shape: [256, rows], type: 12, bytes: new Uint8Array(words.buffer) };
    const { qkv } = (await read(parts)).weights.layers[0]!;
    expect(qkv).toMatchObject({
      format: 'stacked',
      rows: 60,
      cols: 256,
      parts: [
        { format: 'f32', rows: 48 },
        { format: 'q4_k', rows: 12 },
      ],
    });
    const before = unpackMatrix(weights.layers[0]!.qkv);
    expect(unpackMatrix(qkv).subarray(0, 48 * 256)).toEqual(before.subarray(0, 48 * 256));
    expect(unpackMatrix(qkv).subarray(48 * 256)).toEqual(unpackMatrix({ rows, cols: 256, format: 'q4_k', blocks: words }));
  });

  it('may keep norms and biases in 16 bits', async () => {
    const parts = modelParts(model('qwen2'));
    const norm = parts.tensors.findIndex(({ name }) => name === 'output_norm.weight');
    const halves = Uint16Array.from({ length: 20 }, (_, i) => 0x3c00 + i);
    parts.tensors[norm] = { name: 'output_norm.weight', shape: [20], type: 1, bytes: new Uint8Array(halves.buffer) };
    expect((await read(parts)).weights.finalNorm).toEqual(Float32Array.from({ length: 20 }, (_, i) => 1 + i / 1024));
  });

  it('reports how much is read, tensor by tensor, and stops when cancelled', async () => {
    const parts = modelParts(model('llama'));
    const file = bytesFile('m.gguf', ggufFile(parts));
    const seen: number[] = [];
    await readGguf(file, { onProgress: ({ loadedBytes, totalBytes }) => seen.push(loadedBytes / totalBytes) });
    expect(seen).toHaveLength(parts.tensors.length);
    expect(seen.at(-1)).toBe(1);
    const stop = new AbortController();
    const stopped = readGguf(file, { signal: stop.signal, onProgress: () => stop.abort(new Error('enough')) });
    await expect(stopped).rejects.toThrow('enough');
  });
});

describe('rotary scaling in a GGUF model', () => {
  const withFactors = (weights: DecoderWeights, factors: ArrayLike<number>): FileParts => {
    const { metadata, tensors } = modelParts(weights);
    return { metadata, tensors: [{ name: 'rope_freqs.weight', shape: [factors.length], type: 0, bytes: f32Bytes(factors) }, ...tensors] };
  };
  const changes = { ropeTheta: 5e5, headDim: 64, heads: 2, kvHeads: 1 };

  it("finds Llama 3's parameters from the factors of the frequencies", async () => {
    const weights = model('llama', changes);
    const scaling = { factor: 32, low: 1, high: 4, original: 8192 };
    const factors = llama3Factors({ ...weights.config, ropeScaling: scaling });
    expect(new Set(factors).size).toBeGreaterThan(3);
    const { config } = (await read(withFactors(weights, factors))).weights;
    expect(config.ropeScaling).toEqual(scaling);
    expect(config.ropeFactors).toBeUndefined();
  });

  it('keeps factors of another origin as they are', async () => {
    const weights = model('llama', changes);
    const factors = Array.from({ length: 32 }, (_, j) => 1 + j / 8);
    const { config } = (await read(withFactors(weights, factors))).weights;
    expect(config.ropeFactors).toEqual(factors);
    const plain = ropeFrequencies(weights.config);
    expect(Array.from(ropeFrequencies(config), (f, j) => plain[j]! / f)).toEqual(factors.map((f) => expect.closeTo(f, 12)));
  });

  it('divides all frequencies alike for linear scaling', async () => {
    const { metadata, tensors } = modelParts(model('llama'));
    const linear = { 'llama.rope.scaling.type': text('linear'), 'llama.rope.scaling.factor': f32(4) };
    expect((await read({ metadata: { ...metadata, ...linear }, tensors })).weights.config.ropeFactors).toEqual([4, 4, 4]);
  });
});

it('a sliding window bounds the context', async () => {
  const { metadata, tensors } = modelParts(model('qwen2', { contextLength: 64 }));
  const { config } = (await read({ metadata: { ...metadata, 'qwen2.attention.sliding_window': u32(48) }, tensors })).weights;
  expect(config.contextLength).toBe(48);
});
