import { NacreError } from '../../core/errors.ts';

/**
 * Watches a device: its loss, and error scopes around everything recorded since the last check. WebGPU reports errors late and out of
 * band, so they are collected here and thrown where the caller waits (`read`, `settle`).
 */
export class ErrorWatch {
  private failure: NacreError | undefined;
  private readonly lost: Promise<void>;
  private closing = false;

  constructor(
    private readonly device: GPUDevice,
    onLost?: (error: NacreError) => void,
  ) {
    this.lost = device.lost.then((info) => {
      this.failure = deviceLost(info);
      if (!this.closing) onLost?.(this.failure);
    });
    this.open();
  }

  /** The device is about to be closed on purpose: nobody needs to be told. */
  expectLoss(): void {
    this.closing = true;
    this.failure = deviceLost({ reason: 'destroyed', message: '' });
  }

  /** @throws {NacreError} `device-lost` once the device is gone */
  throwIfLost(): void {
    if (this.failure) throw this.failure;
  }

  /**
   * Waits for `work` and for the verdict on everything issued since the last check.
   * @throws {NacreError} `device-lost`, `gpu-out-of-memory`, `gpu-validation`, `gpu-internal`
   */
  async check<T>(work: Promise<T>): Promise<T> {
    const verdict = this.close();
    this.open();
    const [error, result] = await Promise.allSettled([verdict, work]);
    if (result.status === 'rejected' || error.status === 'rejected') {
      // A rejected wait is most often a lost device whose `lost` promise settles a moment later.
      await Promise.race([this.lost, new Promise((resolve) => setTimeout(resolve, 500))]);
    }
    this.throwIfLost();
    if (error.status === 'fulfilled' && error.value) throw error.value;
    if (result.status === 'rejected') throw validation(String(result.reason), result.reason);
    return result.value;
  }

  private open(): void {
    this.device.pushErrorScope('internal');
    this.device.pushErrorScope('validation');
    this.device.pushErrorScope('out-of-memory');
  }

  private async close(): Promise<NacreError | undefined> {
    const popped = [this.device.popErrorScope(), this.device.popErrorScope(), this.device.popErrorScope()];
    const [memory, invalid, internal] = await Promise.all(popped);
    if (memory) return outOfMemory(memory.message);
    if (invalid) return validation(invalid.message);
    if (internal)
      return new NacreError('gpu-internal', `The GPU driver failed: ${internal.message}`, 'Update the driver or use the CPU backend.');
    return undefined;
  }
}

export function deviceLost(info: { readonly reason: string | undefined; readonly message: string }): NacreError {
  const cause = info.reason === 'destroyed' ? 'it was closed' : info.message || 'the browser gave no reason';
  return new NacreError(
    'device-lost',
    `The GPU device is gone: ${cause}.`,
    'Finished work is kept. Load the model again and resume the run; if it happens again, choose a smaller model or the CPU backend.',
  );
}

function outOfMemory(message: string): NacreError {
  return new NacreError(
    'gpu-out-of-memory',
    `The GPU ran out of memory: ${message}`,
    'Close other tabs, use a smaller model, a shorter context or fewer rollouts at a time, or the CPU backend.',
  );
}

function validation(message: string, cause?: unknown): NacreError {
  return new NacreError(
    'gpu-validation',
    `The GPU refused a command: ${message}`,
    'This is a defect of Nacre: please report it with the details.',
    {
      cause,
    },
  );
}
