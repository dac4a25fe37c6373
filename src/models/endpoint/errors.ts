import { NacreError } from '../../core/errors.ts';

/** A failed exchange with an endpoint: what people are told, and what the transport needs to know. */
export class EndpointError extends NacreError {
  /** The same request may succeed later. */
  readonly passing: boolean;
  readonly status: number | undefined;
  /** Milliseconds the server asks to wait. */
  readonly waitMs: number | undefined;
  /** The server's own words, without the key. */
  readonly said: string;

  constructor(
    code: string,
    message: string,
    hint: string,
    about: {
      readonly passing: boolean;
      readonly status?: number | undefined;
      readonly waitMs?: number | undefined;
      readonly said?: string;
    },
  ) {
    super(code, message, hint);
    this.passing = about.passing;
    this.status = about.status;
    this.waitMs = about.waitMs;
    this.said = about.said ?? '';
  }
}

export interface FailedResponse {
  readonly url: string;
  readonly model: string;
  readonly status: number;
  /** The server's words, without the key. */
  readonly said: string;
  /** Machine-readable code of the error, where the server gives one. */
  readonly serverCode: string;
  readonly waitMs: number | undefined;
}

const TOO_LONG =
  /context[ _-]?(?:length|window|size)|maximum (?:input|prompt|model) length|(?:prompt|input|request)[^.]{0,60}(?:too long|longer than|exceeds? the)|too many tokens|max_model_len/i;
const NO_SUCH_MODEL =
  /model.{0,200}(?:not found|does ?n[o']t exist|not exist|unknown|not available|not served|is not a valid)|(?:unknown|invalid|no such|could not find(?: base)?) model/i;
const PASSING = new Set([408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529]);

/** The error that a response other than 2xx stands for. */
export function responseError(failed: FailedResponse): EndpointError {
  const { url, model, status, said, serverCode, waitMs } = failed;
  const { host } = new URL(url);
  const words = said === '' ? '' : `: ${said}`;
  if (status === 401 || status === 403) {
    // What servers say here likes to repeat the key.
    return new EndpointError(
      'endpoint-auth',
      `${host} refused the key (HTTP ${status}).`,
      'Enter the API key of this server (command line: the variable NACRE_API_KEY) and check that it may use the model.',
      { passing: false, status },
    );
  }
  if (serverCode === 'model_not_found' || ((status === 404 || status === 400) && NO_SUCH_MODEL.test(said)))
    return modelUnknown(host, model);
  if (status === 429) {
    const empty = serverCode === 'insufficient_quota' || /insufficient[ _]quota|billing/i.test(said);
    return new EndpointError(
      'endpoint-rate-limited',
      `${host} limits the rate of requests (HTTP 429)${words}.`,
      empty ? 'The account has no quota left: raise it at the provider, then resume.' : 'Lower "parallel" or wait, then resume.',
      { passing: !empty, status, waitMs, said },
    );
  }
  const tooLong = serverCode === 'context_length_exceeded' || serverCode === 'exceed_context_size_error' || TOO_LONG.test(said);
  if (status === 413 || ((status === 400 || status === 422 || status === 500) && tooLong)) {
    return new EndpointError(
      'context-length',
      `The text does not fit the context window of "${model}" at ${host}${words}.`,
      'Start the server with a longer context window, or choose a model that has one.',
      { passing: false, status, said },
    );
  }
  if (status === 404 || status === 405) {
    return new EndpointError(
      'endpoint-unreachable',
      `${host} has no OpenAI-compatible API at ${url} (HTTP ${status}).`,
      'Check the base URL: for most servers it ends in /v1.',
      { passing: false, status, said },
    );
  }
  if (status >= 500 || PASSING.has(status)) {
    return new EndpointError(
      'endpoint-server',
      `${host} failed (HTTP ${status})${words}.`,
      'Look at the log of the server; when it is well again, resume.',
      { passing: PASSING.has(status), status, waitMs, said },
    );
  }
  return new EndpointError(
    'endpoint-refused',
    `${host} refused the request (HTTP ${status})${words}.`,
    'The server does not take one of the settings: its words name which.',
    { passing: false, status, said },
  );
}

/** @param offered the models the server has, where they are known. */
export function modelUnknown(host: string, model: string, offered: readonly string[] = []): EndpointError {
  const list = offered.length === 0 ? '' : ` It offers: ${listed(offered)}.`;
  return new EndpointError(
    'endpoint-model-unknown',
    model === '' ? `No model was chosen at ${host}.${list}` : `${host} has no model "${model}".${list}`,
    'Choose one of the models that the server lists.',
    { passing: false, status: 404 },
  );
}

/** A request that got no response at all; browsers keep the reason from the page. */
export function unreachable(url: string, cause: unknown, pageOrigin: string | undefined): EndpointError {
  const { host } = new URL(url);
  const reason = networkReason(cause);
  if (pageOrigin === undefined) {
    return new EndpointError(
      'endpoint-unreachable',
      `${host} cannot be reached${reason === '' ? '' : `: ${reason}`}.`,
      'Start the server, and check the address and the port.',
      { passing: true },
    );
  }
  return new EndpointError(
    'endpoint-unreachable',
    `${host} did not answer this page: it is not running, or it does not let pages from ${pageOrigin} read its answers (CORS).`,
    `Check on the machine of the page: curl ${url}. If that answers, let the server allow this origin: Ollama OLLAMA_ORIGINS=${pageOrigin}, ` +
      `vLLM --allowed-origins '["${pageOrigin}"]' (vLLM, SGLang, llama.cpp and Ray Serve allow every origin unless told otherwise).`,
    { passing: true },
  );
}

export function timedOut(url: string, seconds: number): EndpointError {
  return new EndpointError(
    'endpoint-timeout',
    `${new URL(url).host} sent nothing for ${seconds} s.`,
    'Raise "timeoutSeconds", or lower "parallel" so that the server has less to do at a time.',
    { passing: true },
  );
}

export function streamCut(url: string): EndpointError {
  return new EndpointError(
    'endpoint-stream-cut',
    `${new URL(url).host} broke off in the middle of an answer.`,
    'A server that crashes or a gateway that cuts long answers does this: look at their logs, then resume.',
    { passing: true },
  );
}

export function malformed(url: string, what: string): EndpointError {
  return new EndpointError(
    'endpoint-malformed',
    `${new URL(url).host} answered with something that is no chat completion: ${what}.`,
    'Check that the base URL is that of an OpenAI-compatible API.',
    { passing: true },
  );
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 12).map((name) => `"${name}"`);
  return names.length > 12 ? `${shown.join(', ')} and ${names.length - 12} more` : shown.join(', ');
}

/** Node hides the reason in the cause of "fetch failed". */
function networkReason(cause: unknown): string {
  if (!(cause instanceof Error)) return '';
  const inner = cause.cause;
  if (inner instanceof Error && 'code' in inner && typeof inner.code === 'string') return inner.code;
  return inner instanceof Error ? inner.message : '';
}
