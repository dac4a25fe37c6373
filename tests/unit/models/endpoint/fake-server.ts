import type { Clock } from '../../../../src/models/endpoint/retry.ts';
import { Transport, type TransportOptions } from '../../../../src/models/endpoint/transport.ts';

export interface SeenRequest {
  readonly url: string;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

/** A fetch that answers from a list, one entry a request (the last one again and again), and remembers what it was sent. */
export function fakeFetch(...answers: readonly ((request: SeenRequest) => Response | Promise<Response>)[]) {
  const seen: SeenRequest[] = [];
  const fetcher: typeof fetch = async (input, init) => {
    const body = typeof init?.body === 'string' ? (JSON.parse(init.body) as Record<string, unknown>) : {};
    const request = { url: String(input), headers: new Headers(init?.headers), body };
    seen.push(request);
    return answers[Math.min(seen.length, answers.length) - 1]!(request);
  };
  return { fetch: fetcher, seen };
}

/** A clock that does not wait, and says how long it would have. */
export function fakeClock(start = 1_000_000): Clock & { readonly sleeps: number[] } {
  let time = start;
  const sleeps: number[] = [];
  return {
    sleeps,
    now: () => time,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      sleeps.push(ms);
      time += ms;
    },
  };
}

export function transport(options: Partial<TransportOptions>): Transport {
  return new Transport({
    baseUrl: 'http://127.0.0.1:8000/v1',
    model: 'm',
    key: () => undefined,
    retries: 4,
    timeoutMs: 60_000,
    clock: fakeClock(),
    ...options,
  });
}

export function json(status: number, value: unknown, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(value), { status, headers: { 'content-type': 'application/json', ...headers } });
}

export function completion(content: unknown, extra: object = {}, message: object = {}): Response {
  return json(200, { choices: [{ message: { role: 'assistant', content, ...message }, finish_reason: 'stop' }], ...extra });
}

export function sse(...pieces: readonly string[]): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });
  return new Response(body, { status: 200, headers: { 'content-type': 'text/event-stream' } });
}
