import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Generation, ModelInfo } from '../../src/models/types.ts';
import type { TextualOutcome } from '../../src/textual/loop.ts';
import { fabricate } from './models-page/fabricated.ts';
import { type FileServer, type ModelsPage, openModelsPage, serveFiles } from './models-page/site.ts';

const made = fabricate('Qwen2-0.5B-Instruct-q4f32_1-ctx4k_cs1k-webgpu.wasm');
/** On the software adapter a token takes most of a minute of CPU time. */
const SLOW = { timeout: 1_200_000 };
const HELLO = [{ role: 'user' as const, content: 'Hi' }];

/** The library was compiled for an older package, which therefore stands in for today's; the weights are random. */
describe.skipIf(!made)('a chat model on WebLLM, in Chromium', () => {
  let site: ModelsPage;
  let host: FileServer;
  let info: ModelInfo;
  const ask = (options: object, abortAtText?: number): Promise<Generation> =>
    site.call('ask', HELLO, { temperature: 1, topP: 1, seed: 5, maxTokens: 2, ...options }, abortAtText);

  beforeAll(async () => {
    host = await serveFiles(made!.files);
    site = await openModelsPage('web-llm-0279');
    const record = { model: `${host.url}Qwen2-0.5B`, model_id: 'Qwen2-0.5B-test-q4f32_1', model_lib: `${host.url}lib.wasm` };
    info = await site.call<ModelInfo>('loadWebLlm', record, { trace: true });
  });

  afterAll(async () => {
    await site?.close();
    await host?.close();
    rmSync(made!.folder, { recursive: true });
  });

  it('answers from its seed, through the loss of the GPU, one question after the other', SLOW, async () => {
    expect(info).toMatchObject({ backend: 'webllm', contextLength: 4096, capabilities: { chat: true, json: true, logprobs: true } });
    await site.seen();

    const [first, second] = [ask({}), ask({ maxTokens: 1 })];
    const texts: string[] = [];
    while (texts.length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      texts.push(...(await site.seen<string>()));
    }
    await site.crashGpu();
    const answer = await first;
    const { ids, logprobs, entropies } = answer.tokens!;
    expect(ids).toHaveLength(2);
    expect(answer).toMatchObject({ finish: 'length', usage: { calls: 1, outputTokens: 2 } });
    // Random weights know nothing: every token is about as likely as any other.
    const ignorance = Math.log(151_936);
    for (const entropy of entropies) expect(entropy).toBeGreaterThan(ignorance - 1);
    for (const logprob of logprobs) expect(Math.abs(logprob + ignorance)).toBeLessThan(5);
    expect((await second).tokens!.ids).toEqual(ids.slice(0, 1));
  });

  it('keeps to a JSON schema and can be broken off', SLOW, async () => {
    const schema = { type: 'object', properties: { colour: { type: 'string' } }, required: ['colour'] };
    const json = await ask({ schema, maxTokens: 1 });
    expect(json.text).toMatch(/^\s*\{/);
    await expect(ask({ maxTokens: 50 }, 1)).rejects.toMatchObject({ message: 'enough' });
  });

  it('is the target of a step of TextualRL', SLOW, async () => {
    await site.seen();
    const outcome = await site.call<TextualOutcome>('textualStep');
    const [step] = outcome.steps;
    expect(outcome.steps).toHaveLength(1);
    expect(step).toMatchObject({ rollouts: 2, decision: 'rejected', candidate: expect.stringContaining('Answer in one word.') });
    expect(outcome.tokens.byRole.rollout).toMatchObject({ calls: 2, outputTokens: 4 });
    expect(outcome.tokens.byRole.validation.calls).toBe(2);
    expect(outcome.initial.scores.val).toMatchObject({ rate: 0 });
  });
});
