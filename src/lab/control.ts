/** What a loop asks between two units of work: go on, or finish now with what there is. */
export type Verdict = 'continue' | 'finish';

/**
 * Pause, resume and stop of one run. The loop awaits `checkpoint` between units; while paused that promise stays open.
 * Stopping means finishing early (the best context so far is still tested); leaving without finishing is the abort signal.
 */
export class RunControl {
  private stopping = false;
  private waiting: (() => void)[] = [];
  private isPaused = false;

  get paused(): boolean {
    return this.isPaused;
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    this.release();
  }

  stop(): void {
    this.stopping = true;
    this.resume();
  }

  async checkpoint(signal: AbortSignal): Promise<Verdict> {
    while (this.isPaused && !this.stopping) {
      signal.throwIfAborted();
      await new Promise<void>((resolve) => {
        const wake = () => {
          signal.removeEventListener('abort', wake);
          resolve();
        };
        signal.addEventListener('abort', wake, { once: true });
        this.waiting.push(wake);
      });
    }
    signal.throwIfAborted();
    return this.stopping ? 'finish' : 'continue';
  }

  private release(): void {
    const waiting = this.waiting;
    this.waiting = [];
    for (const wake of waiting) wake();
  }
}
