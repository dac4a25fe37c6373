import { prebuiltAppConfig } from '@mlc-ai/web-llm';
import { describe, expect, it } from 'vitest';
import { WEBLLM_RECORDS } from '../../../../src/models/webllm/catalogue.generated.ts';
import {
  customRecord,
  fitOf,
  listWebLlmModels,
  toEntry,
  variantFor,
  type WebLlmMachine,
  webLlmEntries,
} from '../../../../src/models/webllm/catalogue.ts';

const machine = (change: Partial<WebLlmMachine> = {}): WebLlmMachine => ({
  webgpu: true,
  software: false,
  f16: true,
  bufferBytes: 2 ** 30,
  memoryGiB: 8,
  ...change,
});
const entry = (id: string) => webLlmEntries().find((each) => each.id === id)!;

describe('the catalogue of WebLLM', () => {
  it("is the installed package's own list, without embedding models", () => {
    expect(WEBLLM_RECORDS).toEqual(JSON.parse(JSON.stringify(prebuiltAppConfig.model_list)));
    expect(webLlmEntries().map(({ id }) => id)).not.toContain('snowflake-arctic-embed-m-q0f32-MLC-b32');
    expect(webLlmEntries().length).toBeGreaterThan(100);
  });

  it.each([
    ['Qwen3-0.6B-q4f16_1-MLC', { parameters: 0.6e9, quantisation: 'q4f16_1', f16: true, contextLength: 4096, memoryBytes: 1_403_340_000 }],
    ['SmolLM2-135M-Instruct-q0f32-MLC', { parameters: 135e6, quantisation: 'q0f32', f16: false, downloadBytes: 270e6 }],
    [
      'stablelm-2-zephyr-1_6b-q4f32_1-MLC-1k',
      { parameters: 1.6e9, contextLength: 1024, title: 'stablelm-2-zephyr-1_6b (q4f32_1, 1k context)' },
    ],
    ['Llama-3.1-70B-Instruct-q3f16_1-MLC', { parameters: 70e9, quantisation: 'q3f16_1', small: false }],
    ['Phi-3.5-mini-instruct-q4f16_1-MLC', { parameters: 3.8e9 }],
  ])('reads %s', (id, expected) => {
    expect(entry(id)).toMatchObject(expected);
  });

  it('guesses the download of every model below its memory', () => {
    for (const { id, downloadBytes, memoryBytes } of webLlmEntries()) {
      expect(downloadBytes, id).toBeGreaterThan(0);
      expect(downloadBytes, id).toBeLessThan(memoryBytes * 1.05);
    }
  });

  it.each([
    ['no WebGPU', 'Qwen3-0.6B-q4f32_1-MLC', { webgpu: false }, /WebGPU/],
    // The record does not say that it needs half precision; its name does.
    ['no half precision', 'Qwen3-0.6B-q4f16_1-MLC', { f16: false }, /shader-f16/],
    ['a small binding size', 'gemma-2b-it-q4f32_1-MLC', { bufferBytes: 2 ** 27 }, /262144000|263 MB/],
    ['a full disk', 'Qwen3-0.6B-q4f32_1-MLC', { freeBytes: 1e8 }, /100 MB left/],
    ['little memory', 'Qwen3-8B-q4f32_1-MLC', { memoryGiB: 4 }, /4 GiB/],
  ])('says that a model does not run with %s', (_, id, change, reason) => {
    const fit = fitOf(entry(id), machine(change));
    expect(fit.runs).toBe(false);
    expect(fit.runs || fit.reason).toMatch(reason);
    expect(fitOf(entry(id), machine()).runs).toBe(true);
  });

  it('warns where it cannot know, and of emulated GPUs', () => {
    expect(fitOf(entry('Llama-3.1-70B-Instruct-q3f16_1-MLC'), machine())).toMatchObject({
      runs: true,
      warning: expect.stringContaining('31154 MB'),
    });
    expect(fitOf(entry('Qwen3-0.6B-q4f32_1-MLC'), machine({ software: true }))).toMatchObject({
      runs: true,
      warning: expect.stringContaining('CPU'),
    });
  });

  it('lists what runs first, the smallest first', () => {
    const list = listWebLlmModels(machine({ f16: false }));
    expect(list[0]!.id).toBe('SmolLM2-360M-Instruct-q4f32_1-MLC');
    const firstThatDoesNot = list.findIndex(({ fit }) => !fit.runs);
    expect(list.slice(firstThatDoesNot).every(({ fit }) => !fit.runs)).toBe(true);
    expect(list.slice(0, firstThatDoesNot).every(({ f16 }) => !f16)).toBe(true);
  });

  it('takes the variant in single precision where half precision is missing', () => {
    expect(variantFor('Qwen3-0.6B-q4f16_1-MLC', machine())?.id).toBe('Qwen3-0.6B-q4f16_1-MLC');
    expect(variantFor('Qwen3-0.6B-q4f16_1-MLC', machine({ f16: false }))?.id).toBe('Qwen3-0.6B-q4f32_1-MLC');
    expect(variantFor('SmolLM2-135M-Instruct-q0f16-MLC', machine({ f16: false }))?.id).toBe('SmolLM2-135M-Instruct-q0f32-MLC');
    expect(variantFor('gemma3-1b-it-q4f16_1-MLC', machine({ f16: false }))).toBeUndefined();
    expect(variantFor('no such model', machine())).toBeUndefined();
  });

  it('knows copies of listed models by their name, and asks others for a library', () => {
    const copy = customRecord('https://mirror.example/Qwen3-0.6B-q4f32_1-MLC/resolve/main/');
    expect(copy).toMatchObject({
      model: 'https://mirror.example/Qwen3-0.6B-q4f32_1-MLC/resolve/main/',
      model_lib: entry('Qwen3-0.6B-q4f32_1-MLC').record.model_lib,
    });
    expect(customRecord('https://mirror.example/mine')).toBeUndefined();
    expect(customRecord('https://mirror.example/mine', 'https://mirror.example/mine.wasm')).toEqual({
      model: 'https://mirror.example/mine',
      model_id: 'mine',
      model_lib: 'https://mirror.example/mine.wasm',
    });
    expect(toEntry(customRecord('https://mirror.example/mine', 'x.wasm')!)).toMatchObject({ title: 'mine', parameters: 0, f16: false });
  });
});
