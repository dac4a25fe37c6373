import { describe, expect, it } from 'vitest';
import { createCpuBackend } from '../../../src/tensor/cpu/backend.ts';
import { halfToFloat } from '../../../src/tensor/half.ts';

describe('numbers of the cpu backend', () => {
  it('widens every one of the 65,536 half-precision patterns exactly', async () => {
    const backend = await createCpuBackend();
    const data = Uint16Array.from({ length: 65536 }, (_, i) => i);
    const table = backend.matrix({ rows: 65536, cols: 1, format: 'f16', data }, 'halves');
    const ids = backend.upload(Uint32Array.from(data), 'ids');
    const embedded = backend.create('f32', 65536, 'embedded');
    backend.embed({ out: embedded, table, ids, rows: 65536, scale: 1 });
    const multiplied = backend.create('f32', 65536, 'multiplied');
    backend.linear({ out: multiplied, x: backend.upload(Float32Array.of(1), 'one'), w: table, rows: 1, accumulate: false });
    const [rows, products] = [await backend.read(embedded), await backend.read(multiplied)];
    for (let i = 0; i < 65536; i++) {
      const wanted = halfToFloat(i);
      if (!Object.is(rows[i], wanted)) expect([i, rows[i]]).toEqual([i, wanted]);
      // A sum that starts at +0 turns −0 into +0.
      if (!Object.is(products[i], wanted + 0)) expect([i, products[i]]).toEqual([i, wanted]);
    }
    backend.destroy();
  });

  /** With up = 1 and a gate g, swiglu is g/(1 + e^−g), which shows the exponential. */
  async function exponentials(x: Float32Array): Promise<Float64Array> {
    const backend = await createCpuBackend();
    const gateUp = Float32Array.from({ length: 2 * x.length }, (_, i) => (i % 2 === 0 ? -x[i / 2]! : 1));
    const out = backend.create('f32', x.length, 'out');
    backend.swiglu({ out, gateUp: backend.upload(gateUp, 'gateUp'), rows: x.length, dim: 1 });
    const silu = await backend.read(out);
    backend.destroy();
    return Float64Array.from(x, (value, i) => -value / silu[i]! - 1);
  }

  it('takes exponentials to float32 precision', async () => {
    const x = Float32Array.from({ length: 4001 }, (_, i) => (i - 500) / 50).filter((value) => value !== 0);
    const powers = await exponentials(x);
    // One was added in float32, so the error is measured against 1 + e^x.
    for (let i = 0; i < x.length; i++) {
      const wanted = Math.exp(x[i]!);
      expect(Math.abs(powers[i]! - wanted) / (1 + wanted)).toBeLessThan(4e-7);
    }
  });

  it('lets NaN through every kernel with an exponential', async () => {
    const backend = await createCpuBackend();
    const out = backend.create('f32', 5, 'out');
    const gateUp = backend.upload(new Float32Array(10).fill(Number.NaN), 'gateUp');
    backend.swiglu({ out, gateUp, rows: 1, dim: 5 });
    expect([...(await backend.read(out))]).toEqual(new Array(5).fill(Number.NaN));
    const logits = backend.upload(Float32Array.of(1, 2, Number.NaN, 3, 4), 'logits');
    const loss = backend.create('f32', 1, 'loss');
    const weights = backend.upload(Float32Array.of(1), 'weights');
    const targets = backend.upload(Uint32Array.of(0), 'targets');
    backend.crossEntropy({ loss, dLogits: out, logits, targets, weights, rows: 1, vocab: 5 });
    expect((await backend.read(loss))[0]).toBeNaN();
    backend.destroy();
  });
});
