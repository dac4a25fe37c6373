import { describe, expect, it } from 'vitest';
import { choiceKey, criticChoice, parseChoice, parseConfig } from '../../../src/lab/config.ts';
import { planModel, type StoredModels } from '../../../src/lab/models/resolve.ts';
import type { WebLlmMachine } from '../../../src/models/webllm/catalogue.ts';

const household = { schema: 'nacre.experiment/1', kind: 'textual', name: 'A study', suite: { id: 'household' } };
const imported = { ...household, suite: { id: 'imported', name: 'sums' }, critic: { kind: 'model', model: 'a-critic' } };

describe('an experiment', () => {
  it('written before there were other runtimes and suites means what it meant', () => {
    const { target, critic, suite } = parseConfig(household);
    expect(target).toEqual({ model: 'nacre-tiny', backend: 'auto' });
    expect(critic).toEqual({ kind: 'analyst' });
    expect(suite).toEqual({ id: 'household', train: 48, val: 32, test: 160, unseen: 96 });
  });

  it.each([
    { model: 'SmolLM2-135M-Instruct.Q4_1', runtime: 'llamacpp', contextLength: 2048 },
    { model: 'https://huggingface.co/x/y/resolve/main/z.gguf' },
    { model: 'Qwen2.5-0.5B-Instruct-q4f32_1-MLC', runtime: 'webllm' },
    { model: 'endpoint', endpoint: { baseUrl: 'http://127.0.0.1:1/v1' } },
  ])('may choose %j, as target and as critic', (choice) => {
    const config = parseConfig({ ...imported, target: choice, critic: { kind: 'model', ...choice, maxTokens: 64 } });
    expect(config.target).toMatchObject(choice);
    expect(criticChoice(config)).toEqual(config.target);
    expect(choiceKey(criticChoice(config)!)).toBe(choiceKey(config.target));
  });

  it.each([
    [{ ...imported, critic: {} }, /critic\.kind: The analyst works only for the household suite; choose a model/],
    [{ ...imported, critic: { kind: 'model' } }, /critic.*needs the field model/],
    [{ ...imported, suite: { id: 'imported' } }, /suite\.name/],
    [{ ...imported, suite: { id: 'imported', name: 'No Id' } }, /suite\.name: lower-case letters/],
    [{ ...imported, suite: { id: 'other', name: 'sums' } }, /suite\.id/],
    [{ ...household, suite: { id: 'household', answerTokens: 8 } }, /answerTokens/],
    [{ ...household, target: { model: 'endpoint' } }, /target.*endpoint with its baseUrl/],
    [
      { ...household, target: { model: 'endpoint', runtime: 'own', endpoint: { baseUrl: 'http://127.0.0.1' } } },
      /target.*no field runtime/,
    ],
    [{ ...household, target: { model: 'nacre-tiny', runtime: 'webllm' } }, /target.*runs on "own" only/],
    [{ ...household, target: { runtime: 'cuda' } }, /target\.runtime/],
    [{ ...household, target: { contextLength: 8 } }, /target\.contextLength/],
  ])('names the field that is wrong: %j', (input, message) => {
    expect(() => parseConfig(input)).toThrow(message);
  });

  it('knows equal choices whatever is left out', () => {
    expect(choiceKey(parseChoice({ model: 'm' }))).toBe(choiceKey(parseChoice({ runtime: 'own', backend: 'auto', model: 'm' })));
    expect(choiceKey(parseChoice({ model: 'm' }))).not.toBe(choiceKey(parseChoice({ model: 'm', runtime: 'llamacpp' })));
  });
});

const machine: WebLlmMachine = { webgpu: true, software: false, f16: true, bufferBytes: 2 ** 30 };
const LISTED = 'Qwen2.5-0.5B-Instruct-q4f16_1-MLC';
const record = { model: 'https://local.invalid/mine', model_id: 'mine', model_lib: 'https://local.invalid/mine/lib.wasm' };
const stored: StoredModels = {
  mlc: [{ url: 'https://local.invalid/mine/resolve/main/', title: 'mine', bytes: 5, complete: true, record }],
  gguf: [{ url: 'https://host.example/a/small.Q4.gguf', title: 'small.Q4', bytes: 9, totalBytes: 9, complete: true }],
};
const plan = (choice: object, on = machine) => planModel(parseChoice(choice), stored, on);

describe('planModel', () => {
  it.each([
    ['a shipped model', { model: 'nacre-tiny' }, { runtime: 'own', from: 'source', source: { kind: 'shipped', id: 'nacre-tiny' } }],
    ['a stored file, by name', { model: 'small.Q4' }, { runtime: 'own', from: 'gguf', url: stored.gguf[0]!.url }],
    ['a stored file, by file name', { model: 'small.Q4.gguf', runtime: 'llamacpp' }, { runtime: 'llamacpp', url: stored.gguf[0]!.url }],
    [
      "a file's page",
      { model: 'https://huggingface.co/a/b/blob/main/c.gguf', runtime: 'llamacpp' },
      { runtime: 'llamacpp', url: 'https://huggingface.co/a/b/resolve/main/c.gguf' },
    ],
    ['a stored folder on WebLLM', { model: 'mine', runtime: 'webllm' }, { runtime: 'webllm', record }],
    ['a stored folder on the own runtime', { model: 'mine' }, { runtime: 'own', from: 'mlc', record, stored: true }],
    ['a listed model', { model: LISTED }, { runtime: 'own', from: 'mlc', stored: false }],
    ['an address', { model: 'https://host.example/m/' }, { runtime: 'own', from: 'source', source: { kind: 'url' } }],
  ])('finds %s', (_, choice, wanted) => {
    expect(plan(choice)).toMatchObject(wanted);
  });

  it.each([
    [{ model: 'nothing' }, 'unknown-model'],
    [{ model: 'nothing', runtime: 'webllm' }, 'unknown-model'],
    [{ model: 'small.Q4', runtime: 'webllm' }, 'runtime-unsuitable'],
    [{ model: 'mine', runtime: 'llamacpp' }, 'runtime-unsuitable'],
    [{ model: 'https://host.example/unheard-of', runtime: 'webllm' }, 'library-missing'],
  ])('refuses %j with %s and a remedy', (choice, code) => {
    expect(() => plan(choice)).toThrow(expect.objectContaining({ code, hint: expect.stringMatching(/\w/) }));
  });

  it('names the twin in single precision where half precision is missing', () => {
    const error = { code: 'model-does-not-fit', hint: expect.stringContaining('q4f32_1') };
    expect(() => plan({ model: LISTED, runtime: 'webllm' }, { ...machine, f16: false })).toThrow(expect.objectContaining(error));
    expect(() => plan({ model: LISTED, runtime: 'webllm' }, { ...machine, webgpu: false })).toThrow(/WebGPU/);
  });
});
