import { describe, expect, it } from 'vitest';
import { NacreError } from '../../../src/core/errors.ts';
import { connectService, type Endpoint, exposeService, transfer } from '../../../src/core/rpc.ts';

const service = {
  add: (a: number, b: number) => a + b,
  fail(): never {
    throw new NacreError('no-game', 'Game 3 is missing.', 'Choose another.');
  },
  crash(): never {
    throw new TypeError('plain');
  },
  async count(to: number, tell: (i: number) => void): Promise<number> {
    for (let i = 0; i < to; i++) await tell(i);
    return to;
  },
  double: (values: Float32Array) => {
    const out = values.map((x) => 2 * x);
    return transfer(out, [out.buffer]);
  },
  never: () => new Promise<void>(() => undefined),
};

function connected() {
  const { port1, port2 } = new MessageChannel();
  exposeService(service, port1 as unknown as Endpoint);
  port1.start();
  const connection = connectService<typeof service>(port2 as unknown as Endpoint);
  port2.start();
  return {
    ...connection,
    port: port2,
    close: () => {
      port1.close();
      port2.close();
    },
  };
}

describe('calls between threads', () => {
  it('returns results and moves buffers', async () => {
    const { remote, close } = connected();
    expect(await remote.add(2, 3)).toBe(5);
    const values = new Float32Array([1, 2]);
    expect(await remote.double(transfer(values, [values.buffer]))).toEqual(new Float32Array([2, 4]));
    expect(values.length).toBe(0);
    close();
  });

  it('keeps code, message and hint of an error, and marks unexpected ones', async () => {
    const { remote, close } = connected();
    const error = await remote.fail().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NacreError);
    expect(error).toMatchObject({ code: 'no-game', message: 'Game 3 is missing.', hint: 'Choose another.' });
    expect(await remote.crash().catch((thrown: unknown) => thrown)).toMatchObject({ code: 'unexpected', message: 'plain' });
    close();
  });

  it('calls functions back in the thread that passed them', async () => {
    const { remote, close } = connected();
    const seen: number[] = [];
    expect(await remote.count(3, (i) => void seen.push(i))).toBe(3);
    expect(seen).toEqual([0, 1, 2]);
    close();
  });

  it('rejects open and later calls when the worker dies or the connection is released', async () => {
    const { remote, port, close } = connected();
    const open = remote.never().catch((thrown: unknown) => thrown);
    port.dispatchEvent(Object.assign(new Event('error'), { message: 'out of memory' }));
    expect(await open).toMatchObject({ code: 'worker-failed', message: 'A worker stopped: out of memory.' });
    expect(await remote.add(1, 1).catch((thrown: unknown) => thrown)).toMatchObject({ code: 'worker-failed' });
    close();
    const other = connected();
    const pending = other.remote.never().catch((thrown: unknown) => thrown);
    other.release();
    expect(await pending).toMatchObject({ code: 'worker-closed' });
    other.close();
  });
});
