import { describe, expect, it } from 'vitest';
import { ErrorWatch } from '../../../src/tensor/webgpu/errors.ts';
import { blockSize } from '../../../src/tensor/webgpu/pool.ts';
import { composeShader, shareBindings } from '../../../src/tensor/webgpu/shader.ts';

/** A device that reports the given errors when its scopes are popped, in the order of the pops. */
function deviceReporting(...errors: (string | null)[]): { device: GPUDevice; lose: (message: string) => void } {
  let resolve: (info: { reason: string; message: string }) => void = () => undefined;
  const lost = new Promise<{ reason: string; message: string }>((done) => {
    resolve = done;
  });
  const queue = [...errors];
  const device = {
    lost,
    pushErrorScope: () => undefined,
    popErrorScope: async () => {
      const message = queue.shift();
      return message ? { message } : null;
    },
  };
  return { device: device as unknown as GPUDevice, lose: (message) => resolve({ reason: 'unknown', message }) };
}

describe('ErrorWatch', () => {
  it('passes results on while all is well', async () => {
    expect(await new ErrorWatch(deviceReporting().device).check(Promise.resolve(5))).toBe(5);
  });

  it.each([
    ['gpu-out-of-memory', ['no room', null, null]],
    ['gpu-validation', [null, 'bad binding', null]],
    ['gpu-internal', [null, null, 'compiler crashed']],
  ])('turns a scope into %s with the driver’s words and a hint', async (code, errors) => {
    const watch = new ErrorWatch(deviceReporting(...errors).device);
    await expect(watch.check(Promise.resolve())).rejects.toMatchObject({ code, hint: expect.stringMatching(/\w/) });
  });

  it('recovers after an error that was reported once', async () => {
    const watch = new ErrorWatch(deviceReporting('no room', null, null).device);
    await expect(watch.check(Promise.resolve())).rejects.toMatchObject({ code: 'gpu-out-of-memory' });
    expect(await watch.check(Promise.resolve('fine'))).toBe('fine');
  });

  it('reports a loss that arrives while a wait is rejected, and everything after it', async () => {
    const { device, lose } = deviceReporting();
    const told: string[] = [];
    const watch = new ErrorWatch(device, (error) => told.push(error.code));
    const waiting = watch.check(Promise.reject(new Error('map aborted')));
    lose('driver reset');
    await expect(waiting).rejects.toMatchObject({ code: 'device-lost', message: 'The GPU device is gone: driver reset.' });
    expect(() => watch.throwIfLost()).toThrow('driver reset');
    expect(told).toEqual(['device-lost']);
  });
});

describe('composeShader', () => {
  it('reads bindings and parameters from the text', () => {
    const { bindings, params } = composeShader('layer_logits', 'q4');
    expect(bindings.map(({ name, writes }) => [name, writes])).toEqual([
      ['result', true],
      ['h', false],
      ['h_rows', false],
      ['tokens', false],
      ['w', false],
      ['w_scales', false],
    ]);
    expect(params.map(({ name }) => name)).toEqual(['count', 'w_cols', 'first_row', 'part_rows']);
  });

  it('lets a name stand for another', () => {
    const shared = shareBindings(composeShader('rms_norm'), new Map([['x', 'result']]));
    expect(shared.bindings.map(({ name }) => name)).toEqual(['result', 'scale']);
    expect(shared.code).not.toMatch(/\bx\[|> x:/);
    expect(shared.code).toContain('result[from_x + d]');
  });
});

describe('blockSize', () => {
  it('holds what was asked for, wastes at most an eighth, and comes in whole words', () => {
    for (let bytes = 1; bytes < 1e9; bytes = Math.ceil(bytes * 1.37)) {
      const size = blockSize(bytes);
      expect(size).toBeGreaterThanOrEqual(bytes);
      expect(size).toBeLessThanOrEqual(Math.max(256, bytes * 1.125 + 4));
      expect(size % 4).toBe(0);
    }
  });
});
