import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../../src/core/types.ts';
import { EndpointModel } from '../../../../src/models/endpoint/model.ts';
import { EndpointSettings } from '../../../../src/models/endpoint/settings.ts';
import { isStrict } from '../../../../src/models/endpoint/structured.ts';
import type { GenerateOptions } from '../../../../src/models/types.ts';
import { completion, fakeClock, fakeFetch, json, type SeenRequest, sse } from './fake-server.ts';

const MESSAGES: readonly Message[] = [{ role: 'user', content: 'Hello' }];
const OPTIONS: GenerateOptions = { temperature: 0.7, topP: 1, maxTokens: 32, seed: 2 ** 32 - 1 };
const SCHEMA = { type: 'object', properties: { order: { type: 'array', items: { type: 'string' } } }, required: ['order'] };

type Answer = (request: SeenRequest) => Response;

/** A model whose server lists `m` and answers completions from `answers`, one a request. */
async function connect(answers: readonly Answer[], settings: object = {}) {
  const completions = fakeFetch(...answers);
  const notices: string[] = [];
  const model = await EndpointModel.connect(
    v.parse(EndpointSettings, { baseUrl: 'http://127.0.0.1:8000', model: 'm', retries: 2, ...settings }),
    {
      clock: fakeClock(),
      onNotice: (notice) => notices.push(notice),
      fetch: async (url, init) =>
        String(url).endsWith('/models')
          ? json(200, { data: [{ id: 'm', max_model_len: 4096 }, { id: 'n' }] })
          : completions.fetch(url, init),
    },
  );
  return { model, seen: completions.seen, notices };
}

const refuse = (message: string) => () => json(400, { error: { message } });

describe('EndpointModel', () => {
  it('knows its model, and asks which one where several are offered', async () => {
    const { model } = await connect([() => completion('x')]);
    expect(model.info).toMatchObject({ id: 'm', backend: 'endpoint', adapter: '127.0.0.1:8000', contextLength: 4096 });
    await expect(connect([], { model: '' })).rejects.toMatchObject({
      code: 'endpoint-model-unknown',
      message: expect.stringMatching(/"m", "n"/),
    });
  });

  it('sends the options in the words of the API', async () => {
    const { model, seen } = await connect([() => completion('x')]);
    await model.generate(MESSAGES, { ...OPTIONS, topK: 5, stop: ['END'] });
    expect(seen[0]).toMatchObject({
      url: 'http://127.0.0.1:8000/v1/chat/completions',
      body: { model: 'm', messages: MESSAGES, temperature: 0.7, top_p: 1, top_k: 5, max_tokens: 32, seed: 2 ** 31 - 1, stop: ['END'] },
    });
  });

  it.each([
    ['text', 'plain words', 'plain words'],
    [
      'parts',
      [
        { type: 'text', text: 'in ' },
        { type: 'text', text: 'parts' },
      ],
      'in parts',
    ],
    ['nothing', null, ''],
    ['a think block', '<think>hm\n</think>\nyes', '\nyes'],
    ['a block opened by the template', 'hm</think>yes', 'yes'],
    ['a block that never closes', 'yes <think>but then', ''],
  ])('takes %s as content', async (_, content, text) => {
    const { model } = await connect([() => completion(content)]);
    expect((await model.generate(MESSAGES, OPTIONS)).text).toBe(text);
  });

  it('counts reasoning as output and leaves it out of the text volume', async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 50, completion_tokens_details: { reasoning_tokens: 40 } };
    const split = await connect([() => completion('ok', { usage }, { reasoning_content: 'long thoughts' })]);
    expect(await split.model.generate(MESSAGES, OPTIONS)).toMatchObject({
      text: 'ok',
      usage: { calls: 1, inputTokens: 10, outputTokens: 50, textVolume: 20 },
    });
    // Without details the share of the characters decides: 9 of 10.
    const shared = await connect([() => completion('<think>123456789</think>0', { usage: { prompt_tokens: 10, completion_tokens: 50 } })]);
    expect((await shared.model.generate(MESSAGES, OPTIONS)).usage).toMatchObject({ outputTokens: 50, textVolume: 15 });
  });

  it('estimates and says so where the server does not count', async () => {
    const { model } = await connect([() => completion('12345678')]);
    expect((await model.generate(MESSAGES, OPTIONS)).usage).toMatchObject({ inputTokens: 6, outputTokens: 2, estimatedCalls: 1 });
  });

  it('reports answers cut at their limit, and cuts at stop texts itself', async () => {
    const cut = await connect([() => json(200, { choices: [{ message: { content: 'half' }, finish_reason: 'length' }] })]);
    expect(await cut.model.generate(MESSAGES, OPTIONS)).toMatchObject({ text: 'half', finish: 'length' });
    const stopped = await connect([() => completion('one\ntwo')]);
    expect(await stopped.model.generate(MESSAGES, { ...OPTIONS, stop: ['\n'] })).toMatchObject({ text: 'one', finish: 'stop' });
  });

  it('names the models there are when its own is unknown', async () => {
    const { model } = await connect([() => json(404, { error: { message: 'x', code: 'model_not_found' } })], { model: 'gone' });
    await expect(model.generate(MESSAGES, OPTIONS)).rejects.toMatchObject({
      code: 'endpoint-model-unknown',
      message: expect.stringMatching(/no model "gone".*"m", "n"/),
    });
  });
});

describe('streaming', () => {
  const chunk = (content: string, finish: string | null = null): string =>
    `data: ${JSON.stringify({ choices: [{ delta: { content }, finish_reason: finish }] })}\n\n`;
  const usage = `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } })}\n\n`;
  const watched = (texts: string[]): GenerateOptions => ({ ...OPTIONS, onText: (text) => texts.push(text) });

  it('gives the text as it grows, and the usage of the last chunk', async () => {
    const texts: string[] = [];
    const { model, seen } = await connect([() => sse(': hi\n\n', chunk('a'), chunk('b'), chunk('', 'stop'), usage, 'data: [DONE]\n\n')]);
    expect(await model.generate(MESSAGES, watched(texts))).toMatchObject({ text: 'ab', usage: { inputTokens: 3, outputTokens: 2 } });
    expect(texts.filter((text, i) => text !== texts[i - 1])).toEqual(['', 'a', 'ab']);
    expect(seen[0]?.body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  it.each([
    ['breaks off', [chunk('a')], 'endpoint-stream-cut'],
    ['breaks off in a line', [chunk('a'), 'data: {"choi'], 'endpoint-stream-cut'],
    ['is no JSON', ['data: {"choices": [\n\n'], 'endpoint-malformed'],
    ['has no choices', ['data: [DONE]\n\n'], 'endpoint-malformed'],
    ['tells an error', [chunk('a'), 'data: {"error": {"message": "engine dead", "code": 500}}\n\n'], 'endpoint-server'],
    ['names its error event', ['event: error\ndata: {"message": "slow down", "code": 429}\n\n'], 'endpoint-rate-limited'],
  ])('tries again when a stream %s, and then says %s', async (_, pieces, code) => {
    const once = await connect([() => sse(...pieces), () => sse(chunk('ok', 'stop'))]);
    expect((await once.model.generate(MESSAGES, watched([]))).text).toBe('ok');
    const always = await connect([() => sse(...pieces)]);
    await expect(always.model.generate(MESSAGES, watched([]))).rejects.toMatchObject({ code });
    expect(always.seen).toHaveLength(3);
  });

  it('understands a server that does not stream', async () => {
    const { model } = await connect([() => completion('whole')]);
    expect((await model.generate(MESSAGES, watched([]))).text).toBe('whole');
  });

  it('takes a finish without [DONE] for an end', async () => {
    const { model } = await connect([() => sse(chunk('a', 'stop'))]);
    expect((await model.generate(MESSAGES, watched([]))).text).toBe('a');
  });
});

describe('what a server does not take', () => {
  it.each([
    ["Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", 'max_tokens'],
    ["Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) value is supported.", 'temperature'],
    ['[{"type":"extra_forbidden","loc":["body","seed"],"msg":"Extra inputs are not permitted"}]', 'seed'],
  ])('is left out from then on: %s', async (message, name) => {
    const { model, seen } = await connect([refuse(message), () => completion('x')]);
    await model.generate(MESSAGES, OPTIONS);
    await model.generate(MESSAGES, OPTIONS);
    expect(seen.map(({ body }) => name in body)).toEqual([true, false, false]);
    if (name === 'max_tokens') expect(seen[2]?.body.max_completion_tokens).toBe(32);
  });

  it('is told once', async () => {
    const { model, notices } = await connect([refuse('unknown parameter seed'), refuse('unknown parameter seed'), () => completion('x')]);
    await Promise.all([model.generate(MESSAGES, OPTIONS), model.generate(MESSAGES, OPTIONS)]);
    expect(notices).toEqual([expect.stringContaining('"seed"')]);
  });

  it('puts the system text before the first user message where there is no system role', async () => {
    const { model, seen } = await connect([refuse('System role not supported'), () => completion('x')]);
    await model.generate([{ role: 'system', content: 'Rules' }, ...MESSAGES], OPTIONS);
    expect(seen[1]?.body.messages).toEqual([{ role: 'user', content: 'Rules\n\nHello' }]);
  });

  it('asks for a shorter answer where only the answer does not fit', async () => {
    const { model, seen } = await connect([
      refuse(
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (1000 in the messages, 4000 in the completion).",
      ),
      () => completion('x'),
    ]);
    await model.generate(MESSAGES, { ...OPTIONS, maxTokens: 4000 });
    expect(seen[1]?.body.max_tokens).toBe(3088);
  });

  it('passes other refusals on', async () => {
    const { model, seen } = await connect([refuse('messages[0] is odd')]);
    await expect(model.generate(MESSAGES, OPTIONS)).rejects.toMatchObject({
      code: 'endpoint-refused',
      message: expect.stringContaining('odd'),
    });
    expect(seen).toHaveLength(1);
  });
});

describe('JSON answers', () => {
  const formatOf = ({ body }: SeenRequest): string => (body.response_format as { type?: string } | undefined)?.type ?? 'plain';
  const structured = { ...OPTIONS, schema: SCHEMA };
  const byFormat =
    (answers: Readonly<Record<string, Answer>>): Answer =>
    (request) =>
      answers[formatOf(request)]!(request);
  const colour = () => completion('{"colour": "red"}');
  const prose = () => completion('Red.');

  it.each([
    ['json_schema', { json_schema: colour, json_object: colour, plain: prose }],
    ['json_object', { json_schema: refuse('unknown response_format'), json_object: colour, plain: prose }],
    ['json_object', { json_schema: prose, json_object: colour, plain: prose }],
    ['plain', { json_schema: refuse('no'), json_object: refuse('no'), plain: prose }],
    ['plain', { json_schema: prose, json_object: prose, plain: prose }],
    ['plain', { json_schema: () => json(500, {}), json_object: refuse('no'), plain: prose }],
  ])('are asked for by %s where that is the best that works', async (format, answers) => {
    const { model, seen } = await connect([byFormat(answers)]);
    await Promise.all([model.generate(MESSAGES, structured), model.generate(MESSAGES, structured)]);
    await model.generate(MESSAGES, structured);
    const asked = seen.filter(({ body }) => JSON.stringify(body.messages).includes('Hello'));
    expect(asked.map(formatOf)).toEqual([format, format, format]);
    // Probed once, before everything else.
    expect(seen.slice(-3)).toEqual(asked);
    if (format !== 'json_schema') expect(JSON.stringify(asked[0]?.body.messages)).toContain('order');
  });

  it('charge the probe to one call', async () => {
    const usage = { prompt_tokens: 5, completion_tokens: 3 };
    const { model } = await connect([() => completion('{"colour": "red"}', { usage })]);
    const [first, second] = [await model.generate(MESSAGES, structured), await model.generate(MESSAGES, structured)];
    expect([first.usage.calls, second.usage.calls]).toEqual([2, 1]);
    expect(first.usage.inputTokens + second.usage.inputTokens).toBe(15);
  });

  it('fall back when the schema is refused that the probe was not', async () => {
    const picky: Answer = ({ body }) => (JSON.stringify(body.response_format ?? '').includes('order') ? refuse('bad schema')() : colour());
    const { model, seen, notices } = await connect([picky]);
    await model.generate(MESSAGES, structured);
    await model.generate(MESSAGES, structured);
    expect(seen.map(formatOf)).toEqual(['json_schema', 'json_schema', 'json_object', 'json_object']);
    expect(notices).toHaveLength(1);
  });

  it('do not remember a format when the server is ill', async () => {
    let ill = true;
    const { model } = await connect([() => (ill ? json(500, {}) : colour())], { retries: 0 });
    await expect(model.generate(MESSAGES, structured)).rejects.toMatchObject({ code: 'endpoint-server' });
    ill = false;
    expect((await model.generate(MESSAGES, structured)).text).toContain('colour');
  });
});

describe('isStrict', () => {
  it.each([
    [{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }, true],
    [{ type: 'object', properties: { a: { type: 'string' } }, required: [], additionalProperties: false }, false],
    [{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }, false],
    [{ type: 'array', items: { type: 'object', properties: {} } }, false],
    [{ enum: ['a'] }, true],
  ])('%j is %s', (schema, strict) => {
    expect(isStrict(schema)).toBe(strict);
  });
});
