import { describe, expect, it } from 'vitest';
import { loadModel } from '../../src/models/own/source.ts';
import type { Backend } from '../../src/tensor/backend.ts';
import { createCpuBackend } from '../../src/tensor/cpu/backend.ts';
import { createWebGpuBackend } from '../../src/tensor/webgpu/backend.ts';
import { Decoder } from '../../src/transformer/decoder.ts';
import { ggufSource } from '../../src/transformer/file-source.ts';
import { probeLayers } from '../../src/transformer/probe.ts';
import type { DecoderWeights } from '../../src/transformer/weights.ts';
import { type FileTensor, ggufFile } from '../gguf/file.ts';
import { modelParts } from '../gguf/model.ts';
import { randomBlocks } from '../kernels/blocks.ts';
import { tinyConfig, tinyWeights } from '../transformer/models.ts';

/** GGML's numbers of the types, and bytes of a block without its filling. */
const TYPES = { q8_0: [8, 34, 32], q4_1: [3, 20, 32], q4_k: [12, 144, 256], q6_k: [14, 210, 256] } as const;

/** A tiny model whose matrices take turns in being stored in each of the packed types. */
function mixedFile(): Uint8Array {
  const weights = tinyWeights(tinyConfig('llama', { hidden: 256, heads: 4, kvHeads: 2, headDim: 64, ffn: 256, embedScale: 1, tied: true }));
  const parts = modelParts(weights);
  const formats = Object.keys(TYPES) as (keyof typeof TYPES)[];
  const tensors = parts.tensors.map((tensor, index): FileTensor => {
    const [cols, rows] = tensor.shape;
    if (rows === undefined) return tensor;
    const format = formats[index % formats.length]!;
    const [type, bytes, length] = TYPES[format];
    const padded = new Uint8Array(randomBlocks(tensor.name, rows, cols!, format, 0.06).buffer);
    const blocks = (rows * cols!) / length;
    const packed = new Uint8Array(blocks * bytes);
    for (let i = 0; i < blocks; i++)
      packed.set(padded.subarray((i * padded.length) / blocks, (i * padded.length) / blocks + bytes), i * bytes);
    return { ...tensor, type, bytes: packed };
  });
  return ggufFile({ ...parts, tensors });
}

describe('a GGUF model in a browser', () => {
  const ids = [1, 5, 9, 30, 7, 22];
  const points = [
    { position: 2, token: 36 },
    { position: 5, token: 0 },
  ];
  const read = async (backend: Backend, weights: DecoderWeights): Promise<number[]> => {
    const { raw, normed, logits } = await probeLayers(new Decoder(backend, weights), ids, points);
    backend.destroy();
    return [...raw, ...normed, ...logits];
  };

  it.each([
    ['as hardware adapters run it', { hardwareKernels: true }],
    ['as software adapters run it', {}],
  ])('gives the same layer logits on both backends, %s', async (_, options) => {
    // As a page gets it: a blob that is read in parts.
    const { weights } = await loadModel(ggufSource('mixed.gguf', new Blob([mixedFile() as Uint8Array<ArrayBuffer>])), 'mixed');
    expect(
      new Set(weights.layers.flatMap(({ qkv, o, gateUp, down }) => [qkv, o, gateUp, down].map(({ format }) => format))).size,
    ).toBeGreaterThan(3);
    const [cpu, gpu] = [await read(await createCpuBackend(), weights), await read(await createWebGpuBackend(options), weights)];
    expect(Math.max(...cpu.map(Math.abs))).toBeGreaterThan(0.1);
    for (const [i, value] of cpu.entries()) expect(Math.abs(gpu[i]! - value)).toBeLessThan(1e-4 * Math.max(1, Math.abs(value)));
  });
});
