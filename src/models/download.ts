import { NacreError } from '../core/errors.ts';

export type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

export interface TransferProgress {
  /** What is being done: getting files over the network, or bringing them into memory. */
  readonly phase: 'download' | 'load';
  readonly loadedBytes: number;
  /** 0 where the total is not known. */
  readonly totalBytes: number;
}

export type OnTransfer = (progress: TransferProgress) => void;

/**
 * Starts to get a file of a model.
 * @throws {NacreError} `offline`, `host-unreachable`, `file-missing`, `model-gated`, `host-busy`, `host-failed`; the signal's
 *   reason when it is aborted
 */
export async function fetchFile(url: string, init: RequestInit = {}, doFetch: Fetch = fetch): Promise<Response> {
  let response: Response;
  try {
    response = await doFetch(url, init);
  } catch (thrown) {
    init.signal?.throwIfAborted();
    throw unreachable(url, thrown);
  }
  if (response.ok) {
    // Servers of single-page applications answer any unknown path with their page.
    if ((response.headers.get('content-type') ?? '').startsWith('text/html')) throw missing(url, 'a web page was sent instead');
    return response;
  }
  throw refused(url, response.status);
}

/** The network's failure in the middle of a file, or before its beginning. */
export function unreachable(url: string, thrown: unknown): NacreError {
  if (thrown instanceof NacreError) return thrown;
  const { host } = new URL(url);
  if (typeof navigator !== 'undefined' && navigator.onLine === false) {
    return new NacreError(
      'offline',
      `${nameOf(url)} cannot be downloaded: this device is offline.`,
      'Connect and load the model again: what has arrived is kept. Models already stored load without a network.',
      { cause: thrown },
    );
  }
  return new NacreError(
    'host-unreachable',
    `${host} did not send ${nameOf(url)}: ${thrown instanceof Error ? thrown.message : String(thrown)}.`,
    'Load the model again: what has arrived is kept. If it fails at once, the server may not let pages read its files (CORS).',
    { cause: thrown },
  );
}

function refused(url: string, status: number): NacreError {
  const { host } = new URL(url);
  if (status === 404 || status === 410) return missing(url, `HTTP ${status}`);
  if (status === 401 || status === 403) {
    return new NacreError(
      'model-gated',
      `${host} does not give out ${nameOf(url)} (HTTP ${status}).`,
      'The model is private or its licence must be accepted first. Download its files on its page and open them here as local files.',
    );
  }
  if (status === 429) {
    return new NacreError(
      'host-busy',
      `${host} limits downloads (HTTP 429).`,
      'Wait some minutes and load the model again: what has arrived is kept.',
    );
  }
  return new NacreError(
    'host-failed',
    `${host} failed to send ${nameOf(url)} (HTTP ${status}).`,
    'Try again later: what has arrived is kept.',
  );
}

function missing(url: string, how: string): NacreError {
  return new NacreError(
    'file-missing',
    `There is no ${nameOf(url)} at ${new URL(url).host} (${how}).`,
    `Check the address of the model: ${url} must be a file.`,
  );
}

/** @param neededBytes what was to be stored; @param freeBytes what the browser has left, where it tells */
export function storageFull(what: string, neededBytes: number, freeBytes?: number): NacreError {
  const free = freeBytes === undefined ? '' : ` and ${megabytes(freeBytes)} MB are left`;
  return new NacreError(
    'storage-full',
    `${what} does not fit: ${megabytes(neededBytes)} MB are needed${free} of what the browser lets this page store.`,
    'Delete models that you no longer need, free some disk space, or choose a smaller model.',
  );
}

export function isQuotaError(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === 'QuotaExceededError';
}

/** The error of an unfinished download or load that was called off. */
export function cancelled(what: string): NacreError {
  return new NacreError('cancelled', `${what} was cancelled.`, 'Load it again: it goes on where it stopped.');
}

/** Bytes this page may still store; undefined where the browser does not tell. */
export async function freeStorage(): Promise<number | undefined> {
  if (typeof navigator === 'undefined' || !navigator.storage?.estimate) return undefined;
  const { quota, usage } = await navigator.storage.estimate();
  return quota === undefined || usage === undefined ? undefined : Math.max(0, quota - usage);
}

function nameOf(url: string): string {
  return new URL(url).pathname.split('/').findLast((part) => part !== '') ?? url;
}

export function megabytes(bytes: number): number {
  return Math.ceil(bytes / 1e6);
}
