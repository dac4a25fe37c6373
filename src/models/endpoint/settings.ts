import * as v from 'valibot';
import { NacreError } from '../../core/errors.ts';

const count = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));
const real = (min: number, max: number) => v.pipe(v.number(), v.finite(), v.minValue(min), v.maxValue(max));

/** How to reach an OpenAI-compatible server. Holds no key: keys live in memory only (`KeyRing`). */
export const EndpointSettings = v.strictObject({
  baseUrl: v.pipe(
    v.string(),
    v.maxLength(2048),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      try {
        return normaliseBaseUrl(dataset.value);
      } catch (error) {
        if (!(error instanceof NacreError)) throw error;
        addIssue({ message: `${error.message} ${error.hint}` });
        return NEVER;
      }
    }),
  ),
  /** The model's name at the server; empty takes the only one the server offers. */
  model: v.optional(v.pipe(v.string(), v.maxLength(512)), ''),
  /** Most requests open at a time. */
  parallel: v.optional(count(1, 1024), 8),
  /** Seconds without a byte after which an attempt is given up. */
  timeoutSeconds: v.optional(real(0.05, 3600), 120),
  /** Further attempts after one that failed for a passing reason. */
  retries: v.optional(count(0, 20), 5),
  /** Most tokens of one action of an agent, reasoning included. */
  actionTokens: v.optional(count(1, 131_072), 256),
  /** `auto` streams where someone watches or the answer may be long. */
  stream: v.optional(v.picklist(['auto', 'always', 'never']), 'auto'),
});
export type EndpointSettings = v.InferOutput<typeof EndpointSettings>;

/** Paths that people copy along with the address. */
const COPIED_PATH = /\/(?:chat\/completions|completions|responses|embeddings|models)$/;

/**
 * The address under which `/models` and `/chat/completions` lie, without a trailing slash. A bare host gets `/v1`; an address
 * without a scheme gets `http` for this machine and for IP addresses, `https` for anything else.
 * @throws {NacreError} `endpoint-address` saying what is wrong with it.
 */
export function normaliseBaseUrl(text: string): string {
  const given = text.trim();
  if (given === '') throw badAddress('The address of the endpoint is empty.');
  let url: URL;
  try {
    url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : `${guessScheme(given)}://${given}`);
  } catch {
    // The parser's own message says less than this one.
    throw badAddress('The address of the endpoint cannot be read.');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw badAddress(`An endpoint cannot be reached by "${url.protocol}".`);
  if (url.username !== '' || url.password !== '') {
    throw badAddress('The address of the endpoint holds a user name or password, which would be stored with the run.');
  }
  if (url.search !== '' || url.hash !== '') throw badAddress('The address of the endpoint holds a query or a fragment.');
  const path = url.pathname.replace(/\/+$/, '').replace(COPIED_PATH, '').replace(/\/+$/, '');
  return `${url.origin}${path === '' ? '/v1' : path}`;
}

/** Whether a host is this machine: browsers let secure pages reach it over plain http. */
export function isLoopback(baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl);
  return hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
}

/**
 * Refuses what a browser would block without saying why.
 * @param pageOrigin origin of the page, undefined outside of browsers.
 * @throws {NacreError} `endpoint-unreachable` for plain http from an https page.
 */
export function requireReachable(baseUrl: string, pageOrigin: string | undefined): void {
  if (!pageOrigin?.startsWith('https:') || !baseUrl.startsWith('http:') || isLoopback(baseUrl)) return;
  throw new NacreError(
    'endpoint-unreachable',
    `Browsers block ${new URL(baseUrl).origin} from this page: the page came over https, the endpoint speaks plain http (mixed content).`,
    'Give the server an https address, reach it through a tunnel on http://127.0.0.1, or run Nacre from your own machine with npm start.',
  );
}

function guessScheme(address: string): 'http' | 'https' {
  return /^(?:localhost|\[|\d+\.\d+\.\d+\.\d+)/i.test(address) ? 'http' : 'https';
}

function badAddress(message: string): NacreError {
  return new NacreError(
    'endpoint-address',
    message,
    'Give the base URL alone, e.g. http://127.0.0.1:8000/v1; a key goes into the field for keys.',
  );
}
