/**
 * Lets pending messages and events of this thread run, then goes on. Not a timer, so hidden tabs do not slow it down.
 */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}

/** Calls `nextTask` when at least `everyMs` have passed since the last time: for long loops that must stay cancellable. */
export class Breather {
  private last = performance.now();
  private readonly everyMs: number;

  constructor(everyMs = 20) {
    this.everyMs = everyMs;
  }

  async breathe(): Promise<void> {
    if (performance.now() - this.last < this.everyMs) return;
    await nextTask();
    this.last = performance.now();
  }
}
