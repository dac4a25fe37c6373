import { NacreError } from '../../core/errors.ts';
import { Random } from '../../core/random.ts';
import { EndpointError, malformed, responseError, streamCut, timedOut, unreachable } from './errors.ts';
import { redact } from './keys.ts';
import { backoff, type Clock, retryAfter, SYSTEM_CLOCK } from './retry.ts';
import { requireReachable } from './settings.ts';

/** Most characters of a server's error that are repeated. */
const MOST_SAID = 300;
/** A server that asks to wait longer than this is not waited for. */
const LONGEST_ASKED_WAIT = 300_000;

export interface TransportOptions {
  readonly baseUrl: string;
  /** Named in errors. */
  readonly model: string;
  /** Asked before each attempt, so that a key entered meanwhile counts. */
  readonly key: () => string | undefined;
  readonly retries: number;
  readonly timeoutMs: number;
  /** Seed of the jitter between attempts. */
  readonly seed?: number;
  readonly fetch?: typeof fetch;
  readonly clock?: Clock;
  /** Origin of the page; undefined outside of browsers. */
  readonly pageOrigin?: string | undefined;
}

export interface ExchangeRequest<T> {
  /** Below the base URL, e.g. `/models`. */
  readonly path: string;
  /** Sent as JSON by POST; without it the request is a GET. */
  readonly body?: object;
  readonly signal?: AbortSignal | undefined;
  /** Reads a 2xx response; what it throws as passing is tried again. */
  readonly read: (reply: Reply) => Promise<T>;
}

/** A successful response whose body arrives under the attempt's time limit. */
export interface Reply {
  readonly url: string;
  readonly contentType: string;
  /** The whole body. */
  text(): Promise<string>;
  /** Text as it arrives. */
  chunks(): AsyncGenerator<string>;
}

/** Requests to one server, each tried until it succeeds, fails for good, or has used up its attempts. */
export class Transport {
  private readonly options: TransportOptions;
  private readonly fetch: typeof fetch;
  private readonly clock: Clock;
  private readonly random: Random;
  private exchanges = 0;
  private answered = false;
  /** No request starts before this time: the server asked all to wait. */
  private resumeAt = 0;

  constructor(options: TransportOptions) {
    this.options = options;
    this.fetch = options.fetch ?? ((...args) => fetch(...args));
    this.clock = options.clock ?? SYSTEM_CLOCK;
    this.random = new Random(options.seed ?? 0, 'endpoint');
  }

  /**
   * @throws {EndpointError} with the code that says why; {NacreError} `endpoint-unreachable` for mixed content;
   *   the signal's reason when it is aborted
   */
  async exchange<T>(request: ExchangeRequest<T>): Promise<T> {
    const { baseUrl, pageOrigin, retries } = this.options;
    requireReachable(baseUrl, pageOrigin);
    const random = this.random.split(this.exchanges++);
    for (let attempt = 0; ; attempt++) {
      await this.waitForServer(request.signal);
      try {
        return await this.attempt(request);
      } catch (error) {
        request.signal?.throwIfAborted();
        if (!(error instanceof EndpointError) || !error.passing) throw error;
        // Nobody was ever there: a wrong address is said at once, not after a minute.
        const most = error.code === 'endpoint-unreachable' && !this.answered ? Math.min(1, retries) : retries;
        if (error.waitMs !== undefined) this.askedToWait(error, error.waitMs);
        if (attempt >= most) throw error;
        // After an asked wait a little of the usual one, so that those who waited do not all return at the same moment.
        const wait = error.waitMs === undefined ? backoff(attempt, random) : error.waitMs + 0.2 * backoff(attempt, random);
        await this.clock.sleep(wait, request.signal);
      }
    }
  }

  /** Holds back all requests as long as the server asks. @throws {EndpointError} when that is too long. */
  private askedToWait(error: EndpointError, waitMs: number): void {
    if (waitMs > LONGEST_ASKED_WAIT) {
      const { code, status, said } = error;
      const message = `${error.message} It asks to wait ${Math.ceil(waitMs / 1000)} s.`;
      throw new EndpointError(code, message, 'Resume then: everything finished so far is kept.', { passing: false, status, said });
    }
    this.resumeAt = Math.max(this.resumeAt, this.clock.now() + waitMs);
  }

  private async waitForServer(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    const wait = this.resumeAt - this.clock.now();
    if (wait > 0) await this.clock.sleep(wait, signal);
  }

  private async attempt<T>({ path, body, signal, read }: ExchangeRequest<T>): Promise<T> {
    // Aborting while this was about to start would be missed by the listener below.
    signal?.throwIfAborted();
    const { baseUrl, timeoutMs, pageOrigin } = this.options;
    const url = `${baseUrl}${path}`;
    const key = this.options.key();
    const abort = new AbortController();
    const cancel = (): void => abort.abort(signal?.reason);
    signal?.addEventListener('abort', cancel, { once: true });
    let timer: ReturnType<typeof setTimeout> | undefined;
    let late = false;
    const restartTimer = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        late = true;
        abort.abort();
      }, timeoutMs);
    };
    let response: Response | undefined;
    try {
      restartTimer();
      response = await this.fetch(url, requestInit(body, key, abort.signal));
      this.answered = true;
      restartTimer();
      if (!response.ok) throw await this.failure(url, response, key);
      return await read(replyOf(url, response, restartTimer));
    } catch (error) {
      signal?.throwIfAborted();
      if (late) throw timedOut(url, timeoutMs / 1000);
      if (error instanceof NacreError) throw error;
      throw response === undefined ? unreachable(url, error, pageOrigin) : streamCut(url);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
      // A body that was not read to its end must not keep the connection.
      abort.abort();
    }
  }

  private async failure(url: string, response: Response, key: string | undefined): Promise<EndpointError> {
    const { said, code } = readServerError(await response.text(), key);
    const waitMs = retryAfter(response.headers, this.clock.now());
    return responseError({ url, model: this.options.model, status: response.status, said, serverCode: code, waitMs });
  }
}

function requestInit(body: object | undefined, key: string | undefined, signal: AbortSignal): RequestInit {
  const headers: Record<string, string> = { Accept: 'application/json, text/event-stream' };
  if (body) headers['Content-Type'] = 'application/json';
  if (key !== undefined) headers.Authorization = `Bearer ${key}`;
  return {
    method: body ? 'POST' : 'GET',
    headers,
    signal,
    cache: 'no-store',
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
    ...(body ? { body: JSON.stringify(body) } : {}),
  };
}

function replyOf(url: string, response: Response, arrived: () => void): Reply {
  async function* chunks(): AsyncGenerator<string> {
    if (!response.body) return;
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      arrived();
      yield decoder.decode(value, { stream: true });
    }
    yield decoder.decode();
  }
  return {
    url,
    contentType: response.headers.get('content-type')?.toLowerCase() ?? '',
    chunks,
    async text() {
      let text = '';
      for await (const chunk of chunks()) text += chunk;
      return text;
    },
  };
}

/** The words and the code of an error body: OpenAI's `{error: {message, code}}`, FastAPI's `{detail}`, or plain text. */
export function readServerError(body: string, key: string | undefined): { readonly said: string; readonly code: string } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    // Not JSON: an error page of a gateway, or plain words.
    return { said: /<[a-z!/]/i.test(body) ? '' : shorten(body, key), code: '' };
  }
  const error = field(parsed, 'error') ?? parsed;
  const message = field(error, 'message') ?? field(parsed, 'message') ?? field(parsed, 'detail') ?? error;
  const code = field(error, 'code') ?? field(error, 'type');
  return {
    said: shorten(typeof message === 'string' ? message : JSON.stringify(message), key),
    code: typeof code === 'string' ? code : '',
  };
}

/** Parses the body of a 2xx response. @throws {EndpointError} `endpoint-malformed`. */
export function parseReply(url: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw malformed(url, text.trim() === '' ? 'nothing' : /^\s*</.test(text) ? 'a web page' : 'text that is not JSON');
  }
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

function shorten(text: string, key: string | undefined): string {
  const line = redact(text, key).replace(/\s+/g, ' ').trim();
  const cut = line.length > MOST_SAID ? `${line.slice(0, MOST_SAID)}…` : line;
  return cut.replace(/[.\s]+$/, '');
}
