import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseArgs } from '../../../scripts/cli/args.ts';
import { run as convert } from '../../../scripts/cli/convert.ts';
import { run as generate } from '../../../scripts/cli/generate.ts';
import { findModel } from '../../../scripts/cli/node-files.ts';
import { run as probe } from '../../../scripts/cli/probe.ts';
import { OwnEngine } from '../../../src/models/own/engine.ts';
import { type LoadedModel, loadModel, type ModelSource, openSource } from '../../../src/models/own/source.ts';
import { createCpuBackend } from '../../../src/tensor/cpu/backend.ts';
import { unpackMatrix } from '../../../src/tensor/cpu/unpack.ts';
import { ggufSource } from '../../../src/transformer/file-source.ts';
import { ggufFile } from '../../gguf/file.ts';
import { modelParts } from '../../gguf/model.ts';
import { randomBlocks } from '../../kernels/blocks.ts';
import { tinyConfig, tinyWeights } from '../../transformer/models.ts';

/** A tiny Qwen3 whose attention output is in Q4_1, so that something is packed. */
function file(): Uint8Array {
  const weights = tinyWeights(
    tinyConfig('qwen3', { hidden: 36, heads: 8, kvHeads: 2, headDim: 8, embedScale: 1, eosIds: [2, 0], bosId: 1 }),
  );
  const parts = modelParts(weights);
  const o = parts.tensors.findIndex(({ name }) => name === 'blk.0.attn_output.weight');
  parts.tensors[o] = {
    name: 'blk.0.attn_output.weight',
    shape: [64, 36],
    type: 3,
    bytes: new Uint8Array(randomBlocks('o', 36, 64, 'q4_1', 0.1).buffer),
  };
  return ggufFile(parts);
}

const bytes = file();
const folder = mkdtempSync(join(tmpdir(), 'nacre-gguf-'));
afterAll(() => rmSync(folder, { recursive: true }));
const path = join(folder, 'Tiny.GGUF');
writeFileSync(path, bytes);

const base = 'http://localhost/app/';
const conversation = [{ role: 'user' as const, content: 'that' }];

async function expectTheModel(model: LoadedModel): Promise<void> {
  expect(model.weights.layers[0]!.o.format).toBe('q4_1');
  expect(model.bytes).toBe(bytes.length);
  expect(model.chatTemplate.source).toBe('jinja');
  expect(model.chatTemplate.render(conversation, { addGenerationPrompt: true })).toBe('<|im_start|>that<|im_end|>');
  expect(model.tokenizer.encode('<|im_start|>the<|im_end|>')).toEqual([1, 30, 7, 2]);
}

describe('a GGUF file as a source', () => {
  const blob = new Blob([bytes as Uint8Array<ArrayBuffer>]);
  const picked = new File([bytes as Uint8Array<ArrayBuffer>], 'tiny.gguf');
  it.each<[string, ModelSource]>([
    ['bytes', { kind: 'gguf', id: 'tiny', file: bytes }],
    ['a blob', { kind: 'gguf', id: 'tiny', file: blob }],
    ['one picked file', { kind: 'files', id: 'tiny', files: [picked] }],
    ['one file in memory', { kind: 'memory', id: 'tiny', files: new Map([['tiny.gguf', bytes]]) }],
  ])('%s', async (_, source) => {
    const opened = openSource(source, base);
    expect(opened.id).toBe('tiny');
    await expectTheModel(await loadModel(opened.source, opened.id));
  });

  it('an address, named after the file', async () => {
    const url = 'https://example.org/a/resolve/main/Tiny%20Q4.gguf?download=true';
    const fetched: string[] = [];
    const original = globalThis.fetch;
    globalThis.fetch = async (input) => {
      fetched.push(String(input));
      return new Response(bytes as Uint8Array<ArrayBuffer>);
    };
    try {
      const opened = openSource({ kind: 'url', url }, base);
      expect([opened.id, opened.source.name]).toEqual(['Tiny Q4.gguf', 'Tiny Q4.gguf']);
      await expectTheModel(await loadModel(opened.source, opened.id));
    } finally {
      globalThis.fetch = original;
    }
    expect(fetched).toEqual(['https://example.org/a/resolve/main/Tiny%20Q4.gguf']);
  });

  it('a path on disk, read in parts', async () => {
    const found = findModel('model', path);
    expect(found).toMatchObject({ id: 'Tiny.GGUF', gguf: 'Tiny.GGUF', folder });
    await expectTheModel(await loadModel(found.source, found.id));
  });

  it('a picked file that is gone since', async () => {
    class Gone extends Blob {
      override slice(): Blob {
        return { arrayBuffer: () => Promise.reject(new DOMException('gone', 'NotReadableError')) } as unknown as Blob;
      }
    }
    const source = ggufSource('tiny.gguf', new Gone([bytes as Uint8Array<ArrayBuffer>]));
    await expect(loadModel(source, 'tiny')).rejects.toMatchObject({ code: 'file-changed', message: expect.stringContaining('tiny.gguf') });
  });

  it('an engine can talk with', async () => {
    const engine = new OwnEngine();
    await engine.load({ kind: 'gguf', id: 'tiny', file: bytes }, base, { backend: 'cpu' });
    const { prefix } = await engine.openPrefix([]);
    const [sequence] = await engine.start(prefix, 1);
    const request = { sequence: sequence!, messages: conversation, maxTokens: 5, seed: 1, key: 'k', temperature: 0, topP: 1 };
    const [turn] = await engine.turns([request]);
    expect(turn!.inputTokens).toBe(5);
    expect(turn!.tokens.ids.length).toBeGreaterThan(0);
    await engine.close();
  });

  it('an engine can train, with its weights unpacked', async () => {
    const model = await loadModel(ggufSource('tiny.gguf', bytes), 'tiny');
    const engine = new OwnEngine();
    await engine.use(await createCpuBackend(), model, true);
    const flat = await engine.parameters();
    expect(flat.length).toBe(model.parameters);
    const o = unpackMatrix(model.weights.layers[0]!.o);
    expect(flat.findIndex((_, at) => o.every((value, i) => flat[at + i] === value))).toBeGreaterThan(0);
    await engine.close();
  });
});

describe('the command line', () => {
  it('generates from it and probes it', async () => {
    const result = await generate(parseArgs(['generate', '--model', path, '--ids', '1,30', '--max-tokens', '4']));
    expect(result.promptIds).toEqual([1, 30]);
    expect(result.ids.length).toBeGreaterThan(0);
    const [point] = await probe(parseArgs(['probe', '--model', path, '--ids', '1,30,7', '--at', '2:5']));
    expect(point!.normed.at(-1)).toBeCloseTo(point!.logit, 4);
  });

  it.each(['q0f16', 'q0f32', 'q4f16_1', 'q4f32_1'])('converts it to %s', async (quantization) => {
    const to = join(folder, quantization);
    const { parameters } = await convert(parseArgs(['convert', '--from', path, '--to', to, '--quantization', quantization]));
    const original = await loadModel(findModel('from', path).source, 'tiny');
    const back = await loadModel(findModel('from', to).source, 'tiny');
    expect(back.parameters).toBe(parameters);
    expect(back.weights.config).toEqual(original.weights.config);
    expect(back.chatTemplate.render(conversation, { addGenerationPrompt: true })).toBe('<|im_start|>that<|im_end|>');
    expect(back.tokenizer.encode('<|im_start|>the<|im_end|>')).toEqual([1, 30, 7, 2]);
    const [was, is] = [unpackMatrix(original.weights.layers[0]!.qkv), unpackMatrix(back.weights.layers[0]!.qkv)];
    const largest = Math.max(...was.map(Math.abs));
    const step = { q0f16: 2 ** -11, q0f32: 2 ** -8, q4f16_1: 1 / 14 + 2 ** -10, q4f32_1: 1 / 14 + 2 ** -7 }[quantization]!;
    for (const [i, value] of was.entries()) expect(Math.abs(is[i]! - value)).toBeLessThanOrEqual(largest * step);
  });

  it('converts it to safetensors with the exact numbers', async () => {
    const to = join(folder, 'safetensors');
    await convert(parseArgs(['convert', '--from', path, '--to', to, '--quantization', 'safetensors']));
    const data = readFileSync(join(to, 'model.safetensors'));
    const length = Number(data.readBigUInt64LE(0));
    const header = JSON.parse(data.subarray(8, 8 + length).toString()) as Record<string, { data_offsets: [number, number] }>;
    const [from, end] = header['model.layers.0.self_attn.o_proj.weight']!.data_offsets;
    const o = new Float32Array(Uint8Array.from(data.subarray(8 + length + from, 8 + length + end)).buffer);
    expect(o).toEqual(unpackMatrix((await loadModel(findModel('from', path).source, 'tiny')).weights.layers[0]!.o));
    expect(JSON.parse(readFileSync(join(to, 'config.json'), 'utf8'))).toMatchObject({ model_type: 'qwen3', head_dim: 8 });
  });
});
