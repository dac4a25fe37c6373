import { Worker } from 'node:worker_threads';
import { type Connection, connectService, type Endpoint } from '../src/core/rpc.ts';

export interface NodeWorkerConnection<T> extends Connection<T> {
  /** Releases the connection and ends the thread. */
  close(): Promise<void>;
}

/**
 * Starts `workers/<name>.ts` as a Node worker thread and connects to its service.
 * The thread does not keep the process alive by itself.
 */
export function startNodeWorker<T>(name: string): NodeWorkerConnection<T> {
  const entry = new URL(`../workers/${name}.ts`, import.meta.url).href;
  const worker = new Worker(new URL('./worker-boot.mjs', import.meta.url), { execArgv: [], workerData: { entry } });
  const { remote, release } = connectService<T>(nodeEndpoint(worker));
  return {
    remote,
    release,
    async close() {
      release();
      await worker.terminate();
    },
  };
}

/** A Node worker in the dress of a Web Worker. An early exit is reported as an error event. */
function nodeEndpoint(worker: Worker): Endpoint {
  type Listener = EventListenerOrEventListenerObject;
  const adapted = new Map<Listener, (data: unknown) => void>();
  return {
    postMessage: (message, transfer = []) => worker.postMessage(message, transfer as never),
    addEventListener(type, listener) {
      const send = (event: object): void => {
        if (typeof listener === 'function') listener(event as MessageEvent);
        else listener.handleEvent(event as MessageEvent);
      };
      if (type === 'error') {
        worker.on('error', (error: Error) => send({ message: error.message }));
        worker.on('exit', (code) => send({ message: `it ended with exit code ${code}` }));
        return;
      }
      const event = (data: unknown): void => send({ data });
      adapted.set(listener, event);
      worker.on('message', event);
    },
    removeEventListener(_, listener) {
      const event = adapted.get(listener);
      if (event) worker.off('message', event);
      adapted.delete(listener);
    },
  };
}
