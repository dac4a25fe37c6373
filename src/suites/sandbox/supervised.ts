import { timeoutFault } from './faults.ts';
import { DEFAULT_TIME_MS, type ScriptCall, type ScriptSandbox, type ScriptScore } from './types.ts';

/** A sandbox in a thread of its own that can be ended from outside. */
export interface SandboxThread {
  readonly sandbox: ScriptSandbox;
  /** Ends the thread whatever it is doing. */
  end(): void | Promise<void>;
}

/** How long past its limit a call is given to stop by itself, in ms. */
const GRACE_MS = 1000;

/**
 * A sandbox that cannot be wedged. It starts its thread when first needed, plays one call at a time, and when a call does not
 * stop by itself ends the thread, reports `scorer-timeout`, and starts another for the next call.
 */
export class SupervisedSandbox implements ScriptSandbox {
  private readonly start: () => Promise<SandboxThread>;
  private thread: Promise<SandboxThread> | undefined;
  private previous: Promise<unknown> = Promise.resolve();

  constructor(start: () => Promise<SandboxThread>) {
    this.start = start;
  }

  score(call: ScriptCall): Promise<ScriptScore> {
    const result = this.previous.then(() => this.play(call));
    // The caller gets the failure; the next call only waits for the end of this one.
    this.previous = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }

  /** Ends the thread after the calls that were made. */
  async close(): Promise<void> {
    await this.previous;
    await this.replace();
  }

  private async play(call: ScriptCall): Promise<ScriptScore> {
    this.thread ??= this.start();
    let thread: SandboxThread;
    try {
      thread = await this.thread;
    } catch (thrown) {
      this.thread = undefined;
      throw thrown;
    }
    const timeMs = call.timeMs ?? DEFAULT_TIME_MS;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let wedged = false;
    const limit = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        wedged = true;
        reject(timeoutFault(timeMs));
      }, timeMs + GRACE_MS);
    });
    try {
      return await Promise.race([thread.sandbox.score(call), limit]);
    } finally {
      clearTimeout(timer);
      if (wedged) await this.replace();
    }
  }

  private async replace(): Promise<void> {
    const { thread } = this;
    this.thread = undefined;
    if (thread) await (await thread).end();
  }
}
