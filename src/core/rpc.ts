import * as Comlink from 'comlink';
import { fromPlainError, NacreError, toPlainError } from './errors.ts';

/**
 * Typed calls between threads, over Comlink. What Comlink lacks is added here: errors keep `{code, message, hint}`, plain
 * functions may be passed as arguments (they are called back in the caller's thread), and a worker that dies rejects the
 * calls it leaves open. Works on a Web Worker, on a `MessagePort` and on an adapted Node worker (`scripts/node-worker.ts`).
 */

/** The methods of a service as seen from another thread: every one returns a promise. */
export type Remote<T> = {
  readonly [K in keyof T as T[K] extends (...args: never[]) => unknown ? K : never]: T[K] extends (...args: infer A) => infer R
    ? (...args: A) => Promise<Awaited<R>>
    : never;
};

export type Endpoint = Comlink.Endpoint;

export interface Connection<T> {
  readonly remote: Remote<T>;
  /** Closes the channel: open calls reject with `worker-closed`. Does not end the worker. */
  release(): void;
}

type ThrowHandler = Comlink.TransferHandler<{ value: unknown }, unknown>;

/** Replaces how Comlink carries thrown values, and lets plain functions cross. Both sides run this on import. */
function installHandlers(): void {
  const before = Comlink.transferHandlers.get('throw') as ThrowHandler;
  const errors: ThrowHandler = {
    canHandle: before.canHandle,
    serialize: ({ value }) => [toPlainError(value), []],
    deserialize: (plain) => {
      throw fromPlainError(toPlainError(plain));
    },
  };
  const functions: Comlink.TransferHandler<(...args: never[]) => unknown, MessagePort> = {
    canHandle: (value): value is (...args: never[]) => unknown => typeof value === 'function' && !(Comlink.proxyMarker in value),
    serialize(callback) {
      const { port1, port2 } = new MessageChannel();
      Comlink.expose(callback, port1);
      return [port2, [port2]];
    },
    deserialize(port) {
      port.start();
      return Comlink.wrap(port) as unknown as (...args: never[]) => unknown;
    },
  };
  Comlink.transferHandlers.set('throw', errors as Comlink.TransferHandler<unknown, unknown>);
  Comlink.transferHandlers.set('function', functions as Comlink.TransferHandler<unknown, unknown>);
}

installHandlers();

/** Serves `service` on this worker's own channel, or on the given one. */
export function exposeService(service: object, endpoint?: Endpoint): void {
  Comlink.expose(service, endpoint);
}

/** Marks buffers as moved, not copied, when `value` is passed or returned. */
export function transfer<T>(value: T, buffers: Transferable[]): T {
  return Comlink.transfer(value, buffers);
}

interface ErrorSource {
  addEventListener(type: 'error' | 'messageerror', listener: (event: { message?: string }) => void): void;
}

/** The service that runs at the other end of `endpoint`. */
export function connectService<T>(endpoint: Endpoint): Connection<T> {
  type Method = (...args: unknown[]) => Promise<unknown>;
  const wrapped = Comlink.wrap<object>(endpoint) as unknown as Record<string, Method> & Record<symbol, () => void>;
  const open = new Set<(error: NacreError) => void>();
  let closed: NacreError | undefined;
  const close = (error: NacreError): void => {
    closed ??= error;
    for (const reject of open) reject(closed);
    open.clear();
  };
  (endpoint as unknown as ErrorSource).addEventListener('error', (event) => close(workerFailed(event.message)));

  const call = (method: string, args: unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (closed) {
        reject(closed);
        return;
      }
      open.add(reject);
      wrapped[method]!(...args)
        .then(resolve, reject)
        .finally(() => open.delete(reject));
    });
  const methods = new Map<string, (...args: unknown[]) => Promise<unknown>>();
  const remote = new Proxy(Object.create(null) as object, {
    get(_, key) {
      // A promise must not mistake the service for a thenable.
      if (typeof key !== 'string' || key === 'then') return undefined;
      const known = methods.get(key) ?? ((...args: unknown[]) => call(key, args));
      methods.set(key, known);
      return known;
    },
  });
  return {
    remote: remote as Remote<T>,
    release() {
      if (closed) return;
      close(new NacreError('worker-closed', 'The connection to the worker was closed.', 'Start the work again.'));
      wrapped[Comlink.releaseProxy]!();
    },
  };
}

function workerFailed(message: string | undefined): NacreError {
  return new NacreError(
    'worker-failed',
    `A worker stopped: ${message ?? 'no reason was given'}.`,
    'Reload the page: what is in the journal is kept and the run resumes.',
  );
}
