import { beforeEach, describe, expect, it } from 'vitest';
import { WebLlmEngine } from '../../../../src/models/webllm/engine.ts';
import type { LibraryChunk, LibraryConfig, LibraryEngine, LibraryRequest, WebLlmLibrary } from '../../../../src/models/webllm/library.ts';
import { WebLlmModel } from '../../../../src/models/webllm/model.ts';
import { FakeCaches, fakeHost, RECORD, tinyModel } from './fake-caches.ts';

/** What the stand-in for WebLLM does with a request; it ends the answer by returning. */
type Behaviour = (request: LibraryRequest, engine: FakeEngine) => AsyncGenerator<string, string>;

/** Stands in for @mlc-ai/web-llm: answers as the test says, and loses its device when told to. */
class FakeEngine implements LibraryEngine {
  static made: FakeEngine[] = [];
  static behaviour: Behaviour;
  static reloadError: Error | undefined;
  readonly loadedModelIdToPipeline = new Map<string, unknown>();
  readonly config: LibraryConfig;
  reloaded: unknown[] = [];
  unloaded = 0;
  resets = 0;
  interrupted = false;
  lose!: () => void;
  private text = '';

  constructor(config: LibraryConfig) {
    this.config = config;
    FakeEngine.made.push(this);
  }

  async reload(model: string, options?: object): Promise<void> {
    this.reloaded.push([model, options]);
    if (FakeEngine.reloadError) throw FakeEngine.reloadError;
    const lost = new Promise<object>((resolve) => {
      this.lose = () => resolve({});
    });
    this.loadedModelIdToPipeline.set(model, { filledKVCacheLength: 120, tvm: { lib: { webGPUContext: { device: { lost } } } } });
    this.config.initProgressCallback({ progress: 0.5, text: 'Loading model from cache[1/2]' });
  }

  async unload(): Promise<void> {
    this.unloaded++;
  }

  interruptGenerate(): void {
    this.interrupted = true;
  }

  async resetChat(): Promise<void> {
    this.resets++;
  }

  async getMessage(): Promise<string> {
    return this.text;
  }

  readonly chat = { completions: { create: async (request: LibraryRequest) => this.stream(request) } };

  private async *stream(request: LibraryRequest): AsyncGenerator<LibraryChunk> {
    this.text = '';
    this.interrupted = false;
    const answer = FakeEngine.behaviour(request, this);
    let said = 0;
    for (let step = await answer.next(); ; step = await answer.next()) {
      if (step.done || this.interrupted) {
        yield { choices: [{ finish_reason: this.interrupted ? 'abort' : String(step.value) }] };
        break;
      }
      said++;
      this.text += step.value;
      yield { choices: [{ finish_reason: null }] };
    }
    yield { choices: [], usage: { prompt_tokens: 100, completion_tokens: said } };
  }
}

const GREEDY = { temperature: 0, topP: 1, seed: 1, maxTokens: 8 };
const HELLO = [{ role: 'user' as const, content: 'Hello' }];
const library: WebLlmLibrary = { MLCEngine: FakeEngine };
let caches: FakeCaches;
let engine: WebLlmEngine;

async function load(options = {}): Promise<WebLlmModel> {
  return new WebLlmModel(engine, await engine.load(RECORD, options));
}

beforeEach(() => {
  caches = new FakeCaches();
  FakeEngine.made = [];
  FakeEngine.reloadError = undefined;
  FakeEngine.behaviour = async function* () {
    yield 'Hi';
    yield '!';
    return 'stop';
  };
  engine = new WebLlmEngine(async () => library, { storage: caches.storage, fetch: fakeHost(tinyModel()).fetch });
});

describe('loading', () => {
  it('downloads, loads, and says what it has', async () => {
    const seen: string[] = [];
    const info = await engine.load(RECORD, { contextLength: 512 }, ({ phase }) => seen.push(phase));
    expect(info).toMatchObject({
      id: RECORD.model_id,
      backend: 'webllm',
      parameters: 0.1e9,
      contextLength: 512,
      capabilities: { json: true, logprobs: false },
    });
    expect(FakeEngine.made[0]!.reloaded).toEqual([[RECORD.model_id, { context_window_size: 512 }]]);
    expect([...new Set(seen)]).toEqual(['download', 'load']);
  });

  it('can be called off, although the library then resolves', async () => {
    const slow = async (url: string, init?: RequestInit): Promise<Response> => {
      if (url.endsWith('.bin')) await engine.cancelLoad();
      return fakeHost(tinyModel()).fetch(url, init);
    };
    engine = new WebLlmEngine(async () => library, { storage: caches.storage, fetch: slow });
    await expect(engine.load(RECORD, {})).rejects.toMatchObject({ code: 'cancelled' });
    await expect(engine.generate({ id: 'a', messages: HELLO, ...GREEDY })).rejects.toMatchObject({ code: 'model-not-loaded' });
  });

  it('finds damaged files when it fails over them, and deletes those', async () => {
    await load();
    caches.stores.get('webllm/model')!.get(`${RECORD.model}/resolve/main/params_shard_1.bin`)!.bytes = Uint8Array.of(1);
    FakeEngine.reloadError = new RangeError('Invalid typed array length: 5');
    await expect(engine.load(RECORD, {})).rejects.toMatchObject({
      code: 'model-files-damaged',
      message: expect.stringContaining('params_shard_1.bin'),
    });
    FakeEngine.reloadError = undefined;
    await engine.load(RECORD, {});
    expect(caches.stores.get('webllm/model')!.get(`${RECORD.model}/resolve/main/params_shard_1.bin`)!.bytes).toHaveLength(5);
  });

  it('blames the memory when the device is lost in it', async () => {
    FakeEngine.reloadError = Object.assign(new Error('The WebGPU device was lost while loading the model.'), { name: 'DeviceLostError' });
    await expect(engine.load(RECORD, {})).rejects.toMatchObject({ code: 'gpu-out-of-memory' });
  });
});

describe('answering', () => {
  it('passes what was asked, and counts what was kept', async () => {
    let asked: LibraryRequest | undefined;
    FakeEngine.behaviour = async function* (request) {
      asked = request;
      yield 'Hi';
      return 'stop';
    };
    const model = await load();
    const texts: string[] = [];
    const answer = await model.generate(HELLO, { ...GREEDY, schema: { type: 'object' }, stop: ['\n'], onText: (text) => texts.push(text) });
    expect(asked).toMatchObject({
      temperature: 0,
      top_p: 1,
      max_tokens: 8,
      stop: ['\n'],
      response_format: { type: 'json_object', schema: '{"type":"object"}' },
    });
    expect(asked).not.toHaveProperty('extra_body');
    expect(answer).toMatchObject({ text: 'Hi', finish: 'stop', usage: { calls: 1, inputTokens: 100, outputTokens: 1, textVolume: 120 } });
    expect(texts.at(-1)).toBe('Hi');
  });

  it('spreads seeds, so that neighbours draw different first tokens', async () => {
    const seeds: number[] = [];
    FakeEngine.behaviour = async function* (request) {
      seeds.push(request.seed);
      yield '';
      return 'stop';
    };
    const model = await load();
    for (const seed of [0, 1, 2, 1]) await model.generate(HELLO, { ...GREEDY, seed });
    expect(seeds[3]).toBe(seeds[1]);
    // The first number WebLLM draws is this product, as a part of the modulus.
    const first = seeds.slice(0, 3).map((seed) => ((seed * 48_271) % 0x7fff_ffff) / 0x7fff_ffff);
    expect(Math.abs(first[0]! - first[1]!)).toBeGreaterThan(0.01);
    expect(Math.abs(first[1]! - first[2]!)).toBeGreaterThan(0.01);
    for (const seed of seeds) expect(seed).toSatisfy((value: number) => Number.isInteger(value) && value > 0 && value < 0x7fff_ffff);
  });

  it.each([
    ['stop', 3, 'stop'],
    ['length', 8, 'length'],
    ['length', 3, 'context'],
  ])('takes %s after %i tokens for %s', async (reason, count, finish) => {
    FakeEngine.behaviour = async function* () {
      for (let i = 0; i < count; i++) yield 'x';
      return reason;
    };
    expect((await (await load()).generate(HELLO, GREEDY)).finish).toBe(finish);
  });

  it('leaves reasoning out, and lets models reason only where asked', async () => {
    const asked: unknown[] = [];
    FakeEngine.behaviour = async function* (request) {
      asked.push(request.extra_body);
      yield '<think>hm</think>Yes';
      return 'stop';
    };
    expect((await (await load()).generate(HELLO, GREEDY)).text).toBe('Yes');
    const record = { ...RECORD, model_id: 'Qwen3-0.6B-q4f32_1-MLC' };
    await engine.load(record, {});
    await engine.generate({ id: 'a', messages: HELLO, ...GREEDY });
    await engine.load(record, { thinking: true });
    await engine.generate({ id: 'b', messages: HELLO, ...GREEDY });
    await engine.generate({ id: 'c', messages: HELLO, ...GREEDY, schema: {} });
    expect(asked).toEqual([undefined, { enable_thinking: false }, { enable_thinking: true }, { enable_thinking: false }]);
  });

  it('traces tokens when loaded so, and refuses topK otherwise', async () => {
    FakeEngine.behaviour = async function* (_, { config }) {
      const hook = config.logitProcessorRegistry!.get(RECORD.model_id)!;
      const kept = hook.processLogits(Float32Array.of(0, 0, Math.log(2)));
      hook.processSampledToken(kept.indexOf(Math.max(...kept)));
      yield 'x';
      return 'stop';
    };
    const answer = await (await load({ trace: true })).generate(HELLO, { ...GREEDY, topK: 1 });
    expect(answer.tokens!.ids).toEqual([2]);
    expect(answer.tokens!.logprobs[0]).toBeCloseTo(Math.log(0.5), 6);
    await expect((await load()).generate(HELLO, { ...GREEDY, topK: 1 })).rejects.toMatchObject({ code: 'top-k-unsupported' });
  });

  it('reads every prompt afresh when it must be exact', async () => {
    await (await load()).generate(HELLO, GREEDY);
    await (await load({ exact: true })).generate(HELLO, GREEDY);
    expect(FakeEngine.made.map(({ resets }) => resets)).toEqual([0, 1]);
  });
});

describe('the queue', () => {
  it('answers one after the other, and cancels the right one', async () => {
    const order: string[] = [];
    FakeEngine.behaviour = async function* (request) {
      order.push(request.messages[0]!.content);
      for (let i = 0; i < 5; i++) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        yield 'x';
      }
      return 'stop';
    };
    const model = await load();
    const running = new AbortController();
    const waiting = new AbortController();
    const say = (content: string, signal?: AbortSignal) =>
      model.generate([{ role: 'user', content }], { ...GREEDY, ...(signal ? { signal } : {}) });
    const first = say('first', running.signal);
    const second = say('second', waiting.signal);
    const third = say('third');
    waiting.abort(new Error('not any more'));
    await expect(second).rejects.toThrow('not any more');
    await new Promise((resolve) => setTimeout(resolve, 2));
    running.abort(new Error('enough'));
    await expect(first).rejects.toThrow('enough');
    expect((await third).text).toBe('xxxxx');
    expect(order).toEqual(['first', 'third']);
  });
});

describe('losing the device', () => {
  it('loads again once and asks again with the same seed', async () => {
    const seeds: number[] = [];
    FakeEngine.behaviour = async function* (request, fake) {
      seeds.push(request.seed);
      yield 'Hi';
      if (FakeEngine.made.length === 1) {
        fake.lose();
        // A lost device leaves its calls hanging.
        await new Promise(() => undefined);
      }
      return 'stop';
    };
    expect((await (await load()).generate(HELLO, GREEDY)).text).toBe('Hi');
    expect(FakeEngine.made).toHaveLength(2);
    expect(seeds[1]).toBe(seeds[0]);
    expect(FakeEngine.made[0]!.unloaded).toBe(1);
  });

  it('gives up after the second time, and also knows the loss by its name', async () => {
    // biome-ignore lint/correctness/useYield: it fails before it has said anything
    FakeEngine.behaviour = async function* () {
      throw Object.assign(new Error('Model not loaded before trying to complete'), { name: 'ModelNotLoadedError' });
    };
    const model = await load();
    await expect(model.generate(HELLO, GREEDY)).rejects.toMatchObject({ code: 'gpu-lost' });
    expect(FakeEngine.made).toHaveLength(2);
  });
});
