/** Lets at most `most` pieces of work run at a time; the others wait in the order in which they came. */
export class Limiter {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly most: number) {}

  /** @throws the signal's reason when it is aborted before the work starts; what the work throws */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.enter(signal);
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  private enter(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.running < this.most) {
      this.running++;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const leaveQueue = (): void => {
        this.waiting.splice(this.waiting.indexOf(start), 1);
        reject(signal?.reason);
      };
      const start = (): void => {
        signal?.removeEventListener('abort', leaveQueue);
        resolve();
      };
      signal?.addEventListener('abort', leaveQueue, { once: true });
      this.waiting.push(start);
    });
  }

  /** The slot goes to the next in line, or is free. */
  private leave(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.running--;
  }
}
