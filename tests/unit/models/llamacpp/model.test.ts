import { beforeEach, describe, expect, it } from 'vitest';
import type { CreateWllama, WllamaChunk, WllamaLoad, WllamaLogger, WllamaRequest } from '../../../../src/models/llamacpp/library.ts';
import { type LlamaCppOptions, WllamaModel } from '../../../../src/models/llamacpp/model.ts';

const FILES = [new Blob(['GGUF rest of the file'])];
const GREEDY = { temperature: 0, topP: 1, seed: 1, maxTokens: 4 };
const HELLO = [{ role: 'user' as const, content: 'Hello' }];

type Behaviour = (request: WllamaRequest, start: number) => Promise<void> | void;

let loads: WllamaLoad[];
let requests: WllamaRequest[];
let exits: number;
let behaviour: Behaviour;
let context: number;
let meta: Record<string, string>;
let loadError: ((logger: WllamaLogger) => void) | undefined;

const create: CreateWllama = async (logger) => ({
  async loadModel(_files, params) {
    loads.push(params);
    loadError?.(logger);
  },
  getModelMetadata: () => ({ meta }),
  getLoadedContextInfo: () => ({ n_ctx: context, n_ctx_train: 2048 }),
  getNumThreads: () => 2,
  async createChatCompletion(request) {
    requests.push(request);
    await behaviour(request, loads.length);
  },
  async exit() {
    exits++;
  },
});

const say = ({ onData }: WllamaRequest, words: readonly string[], finish = 'stop'): void => {
  for (const content of words) onData({ choices: [{ delta: { content }, finish_reason: null }] });
  const usage = { prompt_tokens: 30, completion_tokens: words.length, prompt_tokens_details: { cached_tokens: 20 } };
  onData({ choices: [{ delta: {}, finish_reason: finish }] });
  onData({ choices: [], usage } as WllamaChunk);
};

const load = (options: LlamaCppOptions = {}) => WllamaModel.load({ kind: 'files', id: 'tiny', files: FILES }, options, { create });

beforeEach(() => {
  [loads, requests, exits, context, loadError] = [[], [], 0, 4096, undefined];
  meta = { 'general.name': 'Tiny Model', 'general.size_label': '135M' };
  behaviour = (request) => say(request, ['Hel', 'lo']);
});

describe('a GGUF model', () => {
  it('says what it is, and what it was trained for', async () => {
    const { info } = await load({ threads: 3 });
    expect(info).toMatchObject({
      id: 'tiny',
      title: 'Tiny Model',
      parameters: 135e6,
      backend: 'llamacpp',
      adapter: 'CPU, 2 threads',
      contextLength: 2048,
    });
    // No GPU here, so none is tried.
    expect(loads).toMatchObject([{ n_ctx: 4096, n_threads: 3, n_gpu_layers: 0, n_parallel: 1 }]);
    meta = { 'general.size_label': '8x7B' };
    expect((await load()).info).toMatchObject({ title: 'tiny', parameters: 56e9 });
  });

  it('passes what was asked, and counts what was read', async () => {
    const texts: string[] = [];
    const answer = await (await load()).generate(HELLO, {
      ...GREEDY,
      topK: 5,
      stop: ['.'],
      schema: { type: 'object' },
      onText: (text) => texts.push(text),
    });
    expect(answer).toMatchObject({ text: 'Hello', finish: 'stop', usage: { calls: 1, inputTokens: 10, outputTokens: 2, textVolume: 32 } });
    expect(texts).toEqual(['Hel', 'Hello']);
    expect(requests[0]).toMatchObject({
      temperature: 0,
      top_k: 5,
      min_p: 0,
      max_tokens: 4,
      stop: ['.'],
      cache_prompt: true,
      response_format: { type: 'json_schema', json_schema: { schema: { type: 'object' } } },
      chat_template_kwargs: { enable_thinking: false },
    });
    expect(requests[0]).not.toHaveProperty('logprobs');
  });

  it('reasons and reads afresh only where asked, and leaves reasoning out', async () => {
    behaviour = (request) => say(request, ['<think>hm</think>', 'Yes']);
    const model = await load({ thinking: true, exact: true, probabilities: true });
    expect((await model.generate(HELLO, GREEDY)).text).toBe('Yes');
    expect(requests[0]).toMatchObject({ cache_prompt: false, chat_template_kwargs: { enable_thinking: true }, logprobs: true });
  });

  it.each([
    ['length', 4, 'length'],
    ['length', 2, 'context'],
    ['stop', 2, 'stop'],
  ])('takes %s after %i tokens for %s', async (reason, count, finish) => {
    behaviour = (request) => say(request, new Array<string>(count).fill('x'), reason);
    expect((await (await load()).generate(HELLO, GREEDY)).finish).toBe(finish);
  });

  it('answers one question after the other, and gives up its place when cancelled', async () => {
    const release: (() => void)[] = [];
    behaviour = (request) => new Promise((resolve) => release.push(() => resolve(say(request, [request.messages[0]!.content]))));
    const model = await load();
    const abort = new AbortController();
    const ask = (content: string, signal?: AbortSignal) =>
      model.generate([{ role: 'user', content }], { ...GREEDY, ...(signal ? { signal } : {}) });
    const [first, second, third] = [ask('a'), ask('b', abort.signal), ask('c')];
    abort.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    await expect.poll(() => release.length).toBe(1);
    release[0]!();
    expect((await first).text).toBe('a');
    await expect.poll(() => release.length).toBe(2);
    release[1]!();
    expect((await third).text).toBe('c');
    await expect(ask('d', AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
  });
});

describe('failures of llama.cpp', () => {
  const crash = (message: string): Error => Object.assign(new Error(message), { name: 'RuntimeError' });

  it('are survived once, by starting it again without the GPU', async () => {
    behaviour = (request, start) => {
      if (start === 1) throw crash('(ABORT) device lost');
      say(request, ['ok']);
    };
    const model = await load({ gpu: 'always' });
    expect((await model.generate(HELLO, GREEDY)).text).toBe('ok');
    expect(loads.map(({ n_gpu_layers }) => n_gpu_layers > 0)).toEqual([true, false]);
    expect(exits).toBe(1);
    behaviour = () => {
      throw crash('unreachable');
    };
    await expect(model.generate(HELLO, GREEDY)).rejects.toMatchObject({ code: 'llamacpp-failed' });
    behaviour = (request) => say(request, ['well again']);
    expect((await model.generate(HELLO, GREEDY)).text).toBe('well again');
  });

  it.each([
    ['the request exceeds the available context size, try increasing it', 'context-length'],
    ['Failed to parse grammar', 'schema-refused'],
    ['Jinja Exception: Conversation roles must alternate', 'messages-refused'],
    ['something new', 'llamacpp-failed'],
  ])('while answering: %s', async (message, code) => {
    behaviour = () => {
      throw new Error(message);
    };
    const model = await load();
    await expect(model.generate(HELLO, GREEDY)).rejects.toMatchObject({ code });
    expect(loads).toHaveLength(1);
  });

  it.each([
    ["llama_model_load: error loading model: unknown model architecture: 'newmodel'", 'architecture-unsupported'],
    ['ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of size 3000000000', 'out-of-memory'],
    ["tensor 'blk.1.ffn_up.weight' data is not within the file bounds, model is corrupted or incomplete", 'model-files-damaged'],
  ])('while loading, told only in its own words: %s', async (line, code) => {
    context = 0;
    loadError = (logger) => logger.error(line);
    await expect(load()).rejects.toMatchObject({ code });
    expect(exits).toBe(1);
  });

  it('does not even start with a file of another kind', async () => {
    const source = { kind: 'files' as const, id: 'notes', files: [new Blob(['# Notes'])] };
    await expect(WllamaModel.load(source, {}, { create })).rejects.toMatchObject({ code: 'not-gguf' });
    expect(loads).toEqual([]);
  });
});
