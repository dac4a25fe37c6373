import { describe, expect, it } from 'vitest';
import { Random } from '../../../../src/core/random.ts';
import { Limiter } from '../../../../src/models/endpoint/limiter.ts';
import { backoff, retryAfter } from '../../../../src/models/endpoint/retry.ts';
import type { ExchangeRequest } from '../../../../src/models/endpoint/transport.ts';
import { fakeClock, fakeFetch, json, transport } from './fake-server.ts';

const ask: ExchangeRequest<string> = { path: '/chat/completions', body: { a: 1 }, read: (reply) => reply.text() };
const ok = (): Response => new Response('fine');
const failure =
  (status: number, error: object = {}, headers: Record<string, string> = {}) =>
  () =>
    json(status, { error }, headers);

describe('Transport', () => {
  it.each([429, 500, 502, 503, 504, 408])('tries again after HTTP %i', async (status) => {
    const clock = fakeClock();
    const { fetch, seen } = fakeFetch(failure(status), failure(status), ok);
    expect(await transport({ fetch, clock }).exchange(ask)).toBe('fine');
    expect(seen).toHaveLength(3);
    expect(clock.sleeps).toHaveLength(2);
    expect(clock.sleeps[1]!).toBeGreaterThan(clock.sleeps[0]!);
  });

  it.each([
    [401, {}, 'endpoint-auth'],
    [403, {}, 'endpoint-auth'],
    [400, { message: 'bad thing' }, 'endpoint-refused'],
    [422, { message: 'bad thing' }, 'endpoint-refused'],
    [404, { message: 'Not Found' }, 'endpoint-unreachable'],
    [404, { message: 'The model `x` does not exist.', code: 'model_not_found' }, 'endpoint-model-unknown'],
    [404, { message: 'model "x" not found, try pulling it first' }, 'endpoint-model-unknown'],
    [404, { message: 'Got request for model "q2.5". Could not find base model with ID "q2.5".' }, 'endpoint-model-unknown'],
    [429, { message: 'You exceeded your current quota', code: 'insufficient_quota' }, 'endpoint-rate-limited'],
    [400, { message: "This model's maximum context length is 8 tokens." }, 'context-length'],
    [400, { message: 'the request exceeds the available context size' }, 'context-length'],
    [400, { message: "The input (9000 tokens) is longer than the model's context length (8192 tokens)." }, 'context-length'],
    [400, { message: 'x', code: 'context_length_exceeded' }, 'context-length'],
    [413, {}, 'context-length'],
    [501, {}, 'endpoint-server'],
  ])('gives up at once on HTTP %i %j as %s', async (status, error, code) => {
    const { fetch, seen } = fakeFetch(failure(status, error));
    await expect(transport({ fetch }).exchange(ask)).rejects.toMatchObject({ code });
    expect(seen).toHaveLength(1);
  });

  it('gives up after the retries, with the code and the words of the last failure', async () => {
    const { fetch, seen } = fakeFetch(failure(500, { message: 'the engine  died\n' }));
    await expect(transport({ fetch, retries: 2 }).exchange(ask)).rejects.toMatchObject({
      code: 'endpoint-server',
      message: expect.stringContaining('the engine died'),
    });
    expect(seen).toHaveLength(3);
  });

  it('waits as long as Retry-After says, in seconds or as a date, and makes other requests wait too', async () => {
    for (const header of ['7', new Date(1_000_000 + 7000).toUTCString()]) {
      const clock = fakeClock();
      const { fetch } = fakeFetch(failure(429, {}, { 'retry-after': header }), ok);
      await transport({ fetch, clock }).exchange(ask);
      expect(clock.sleeps[0]).toBeGreaterThanOrEqual(7000);
      expect(clock.sleeps[0]).toBeLessThan(7500);
    }
    const clock = fakeClock();
    const { fetch } = fakeFetch(failure(429, {}, { 'retry-after': '60' }), ok);
    const shared = transport({ fetch, clock, retries: 0 });
    await expect(shared.exchange(ask)).rejects.toMatchObject({ code: 'endpoint-rate-limited' });
    expect(await shared.exchange(ask)).toBe('fine');
    expect(clock.sleeps).toEqual([60_000]);
  });

  it('does not wait for a server that asks for longer than a few minutes', async () => {
    const clock = fakeClock();
    const { fetch } = fakeFetch(failure(429, {}, { 'retry-after': '3600' }), ok);
    await expect(transport({ fetch, clock }).exchange(ask)).rejects.toMatchObject({
      code: 'endpoint-rate-limited',
      message: expect.stringContaining('3600 s'),
    });
    expect(clock.sleeps).toEqual([]);
  });

  it('says at once that nobody is there, but keeps trying a server that was', async () => {
    const refused = (): never => {
      throw new TypeError('fetch failed', { cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }) });
    };
    const gone = fakeFetch(refused);
    await expect(transport({ fetch: gone.fetch }).exchange(ask)).rejects.toMatchObject({
      code: 'endpoint-unreachable',
      message: expect.stringContaining('ECONNREFUSED'),
    });
    expect(gone.seen).toHaveLength(2);
    const flaky = fakeFetch(ok, refused, refused, refused, ok);
    const known = transport({ fetch: flaky.fetch });
    await known.exchange(ask);
    expect(await known.exchange(ask)).toBe('fine');
  });

  it('explains CORS in a page, and mixed content without asking', async () => {
    const { fetch, seen } = fakeFetch(() => {
      throw new TypeError('Failed to fetch');
    });
    const page = 'https://nacre.example';
    await expect(transport({ fetch, pageOrigin: page }).exchange(ask)).rejects.toMatchObject({
      code: 'endpoint-unreachable',
      message: expect.stringContaining('CORS'),
      hint: expect.stringContaining(`--allowed-origins '["${page}"]'`),
    });
    const before = seen.length;
    await expect(transport({ fetch, pageOrigin: page, baseUrl: 'http://10.0.0.7/v1' }).exchange(ask)).rejects.toThrow(/mixed content/);
    expect(seen).toHaveLength(before);
  });

  it('gives up an attempt that stays silent, and tries again', async () => {
    let calls = 0;
    const fetcher: typeof fetch = (_, init) =>
      calls++ > 0
        ? Promise.resolve(ok())
        : new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(new DOMException('', 'AbortError'))));
    expect(await transport({ fetch: fetcher, timeoutMs: 5 }).exchange(ask)).toBe('fine');
    await expect(
      transport({
        retries: 0,
        timeoutMs: 5,
        fetch: (_, init) => new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(new Error('aborted')))),
      }).exchange(ask),
    ).rejects.toMatchObject({ code: 'endpoint-timeout' });
  });

  it('stops with the reason of the signal, in a request and in a wait', async () => {
    const reason = new Error('enough');
    const abort = new AbortController();
    const hanging = transport({
      fetch: (_, init) => new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(new Error('aborted')))),
    }).exchange({ ...ask, signal: abort.signal });
    abort.abort(reason);
    await expect(hanging).rejects.toBe(reason);

    const { fetch, seen } = fakeFetch(failure(500));
    const second = new AbortController();
    const clock = { now: () => 0, sleep: async () => second.abort(reason) };
    await expect(transport({ fetch, clock }).exchange({ ...ask, signal: second.signal })).rejects.toBe(reason);
    expect(seen).toHaveLength(1);
  });

  it('sends the key of the moment and never repeats it', async () => {
    let key = 'sk-wrong-aaaaaaaaaaaa';
    const { fetch, seen } = fakeFetch(
      ({ headers }) => json(400, { error: { message: `unexpected ${headers.get('authorization')}` } }),
      () => json(401, { error: { message: 'sk-wrong-aaa' } }),
      ok,
    );
    const keyed = transport({ fetch, key: () => key });
    await expect(keyed.exchange(ask)).rejects.toMatchObject({ message: expect.not.stringContaining('aaaa') });
    await expect(keyed.exchange(ask)).rejects.toMatchObject({ message: expect.not.stringContaining('aaa') });
    key = 'sk-right';
    await keyed.exchange(ask);
    expect(seen.map(({ headers }) => headers.get('authorization'))).toEqual([
      'Bearer sk-wrong-aaaaaaaaaaaa',
      'Bearer sk-wrong-aaaaaaaaaaaa',
      'Bearer sk-right',
    ]);
  });

  it('does not quote web pages of gateways', async () => {
    const { fetch } = fakeFetch(() => new Response('<html><body>Bad gateway</body></html>', { status: 502 }));
    await expect(transport({ fetch, retries: 0 }).exchange(ask)).rejects.toMatchObject({ message: expect.not.stringContaining('<') });
  });

  it('reads text whose characters arrive in halves', async () => {
    const bytes = new TextEncoder().encode('naïve 🐚');
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    expect(await transport({ fetch: async () => new Response(body) }).exchange(ask)).toBe('naïve 🐚');
  });
});

describe('backoff', () => {
  it('doubles up to half a minute, repeats with the seed and differs between streams', () => {
    const waits = (seed: number) => Array.from({ length: 10 }, (_, i) => backoff(i, new Random(seed)));
    expect(waits(1)).toEqual(waits(1));
    expect(waits(1)).not.toEqual(waits(2));
    waits(3).forEach((wait, i) => {
      const longest = Math.min(30_000, 500 * 2 ** i);
      expect(wait).toBeGreaterThanOrEqual(longest / 2);
      expect(wait).toBeLessThanOrEqual(longest);
    });
  });
});

describe('retryAfter', () => {
  it.each([
    [{ 'retry-after': '2' }, 2000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after-ms': '120', 'retry-after': '2' }, 120],
    [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:05 GMT' }, 4000],
    [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ])('%j', (headers, expected) => {
    expect(retryAfter(new Headers(headers as Record<string, string>), 1000)).toBe(expected);
  });
});

describe('Limiter', () => {
  it('runs at most so many at a time, in order, and gives slots back after failures', async () => {
    const limiter = new Limiter(3);
    let running = 0;
    let most = 0;
    const started: number[] = [];
    const work = (i: number) =>
      limiter.run(async () => {
        started.push(i);
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 1));
        running--;
        if (i % 4 === 0) throw new Error(`${i}`);
        return i;
      });
    const settled = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => work(i)));
    expect(most).toBe(3);
    expect(started).toEqual(Array.from({ length: 20 }, (_, i) => i));
    expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(5);
    expect(await work(1)).toBe(1);
  });

  it('lets a waiting piece leave when it is aborted', async () => {
    const limiter = new Limiter(1);
    let finish = (): void => undefined;
    const first = limiter.run(
      () =>
        new Promise<void>((resolve) => {
          finish = resolve;
        }),
    );
    const abort = new AbortController();
    const waiting = limiter.run(async () => 'never', abort.signal);
    const later = limiter.run(async () => 'later');
    abort.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
    finish();
    await first;
    expect(await later).toBe('later');
  });
});
