import type { Endpoint } from '../src/core/rpc.ts';

interface ParentPort {
  postMessage(message: unknown, transfer: readonly Transferable[]): void;
  on(type: 'message', listener: (data: unknown) => void): void;
  off(type: 'message', listener: (data: unknown) => void): void;
}

type NodeProcess = { getBuiltinModule?(name: string): { parentPort: ParentPort | null } | undefined };

/** The channel to whoever started this worker: the Web Worker's own scope, or Node's parent port in the same dress. */
export function workerEndpoint(): Endpoint {
  const node = (globalThis as { process?: NodeProcess }).process;
  const port = node?.getBuiltinModule?.('node:worker_threads')?.parentPort;
  return port ? adaptPort(port) : (globalThis as unknown as Endpoint);
}

function adaptPort(port: ParentPort): Endpoint {
  type Listener = EventListenerOrEventListenerObject;
  const adapted = new Map<Listener, (data: unknown) => void>();
  return {
    postMessage: (message, transfer = []) => port.postMessage(message, transfer),
    addEventListener(type, listener) {
      if (type !== 'message') return;
      const event = (data: unknown): void => {
        const message = { data } as MessageEvent;
        if (typeof listener === 'function') listener(message);
        else listener.handleEvent(message);
      };
      adapted.set(listener, event);
      port.on('message', event);
    },
    removeEventListener(_, listener) {
      const event = adapted.get(listener);
      if (event) port.off('message', event);
      adapted.delete(listener);
    },
  };
}
