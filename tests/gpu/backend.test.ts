import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NacreError } from '../../src/core/errors.ts';
import { describeAdapter } from '../../src/tensor/adapter.ts';
import type { Backend, Matrix } from '../../src/tensor/backend.ts';
import { createBackend } from '../../src/tensor/index.ts';
import { createWebGpuBackend, type WebGpuOptions } from '../../src/tensor/webgpu/backend.ts';
import { type Format, indices, normals, randomMatrix } from '../kernels/inputs.ts';
import { expectSameBits } from '../kernels/stage.ts';

/** A backend and the device inside it, to break from outside. */
async function openWithDevice(options: WebGpuOptions = {}): Promise<{ backend: Backend; device: GPUDevice }> {
  const adapter = (await navigator.gpu.requestAdapter())!;
  const devices: GPUDevice[] = [];
  const watched = {
    info: adapter.info,
    limits: adapter.limits,
    features: adapter.features,
    async requestDevice(descriptor: GPUDeviceDescriptor): Promise<GPUDevice> {
      const device = await adapter.requestDevice(descriptor);
      devices.push(device);
      return device;
    },
  };
  const backend = await createWebGpuBackend({ ...options, adapter: watched as unknown as GPUAdapter });
  return { backend, device: devices[0]! };
}

function f32(values: Float32Array | Uint32Array): number[] {
  return [...values];
}

describe('the device', () => {
  it('is known as a software one, so that the CPU is chosen without being asked', async () => {
    expect(await describeAdapter()).toMatchObject({ available: true, software: true });
    const { backend, reason } = await createBackend('auto');
    expect(backend.info.kind).toBe('cpu');
    expect(reason).toContain('software');
    backend.destroy();
  });

  it('can be chosen all the same', async () => {
    const { backend, reason } = await createBackend('webgpu');
    expect(backend.info).toMatchObject({ kind: 'webgpu', software: true });
    expect(reason).toContain(backend.info.adapter);
    backend.destroy();
  });

  it('when lost rejects what waits and refuses everything after, with a typed error', async () => {
    const told: NacreError[] = [];
    const { backend, device } = await openWithDevice({ onLost: (error) => told.push(error) });
    const array = backend.upload(Float32Array.of(1, 2, 3), 'three');
    const out = backend.create('f32', 1, 'out');
    const waiting = backend.read(array);
    device.destroy();
    await expect(waiting).rejects.toMatchObject({ code: 'device-lost' });
    await expect(backend.read(array)).rejects.toMatchObject({ code: 'device-lost', hint: expect.stringContaining('resume') });
    await expect(backend.settle()).rejects.toMatchObject({ code: 'device-lost' });
    expect(() => backend.create('f32', 1, 'late')).toThrow(expect.objectContaining({ code: 'device-lost' }));
    expect(() => backend.swiglu({ out, gateUp: array, rows: 1, dim: 1 })).toThrow(expect.objectContaining({ code: 'device-lost' }));
    expect(told.map((error) => error.code)).toEqual(['device-lost']);
  });

  it('when lost between calls is noticed by the next wait', async () => {
    const { backend, device } = await openWithDevice();
    const array = backend.create('f32', 8, 'eight');
    device.destroy();
    backend.fill(array, 2);
    await expect(backend.settle()).rejects.toMatchObject({ code: 'device-lost' });
  });

  it('closed on purpose tells nobody', async () => {
    const told: NacreError[] = [];
    const { backend, device } = await openWithDevice({ onLost: (error) => told.push(error) });
    backend.destroy();
    await device.lost;
    await expect(backend.settle()).rejects.toMatchObject({ code: 'device-lost' });
    expect(told).toEqual([]);
  });

  it('reports a refused command once and works on', async () => {
    const { backend, device } = await openWithDevice();
    device.createBuffer({ size: 16, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.STORAGE });
    await expect(backend.settle()).rejects.toMatchObject({ code: 'gpu-validation' });
    expect(f32(await backend.read(backend.upload(Float32Array.of(7), 'seven')))).toEqual([7]);
    backend.destroy();
  });
});

describe('arrays', () => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await createWebGpuBackend();
  });
  afterAll(() => backend.destroy());

  it('start at zero, also in the place of freed ones', async () => {
    const first = backend.upload(new Float32Array(300).fill(9), 'first');
    backend.free(first);
    expect(f32(await backend.read(backend.create('f32', 300, 'second')))).toEqual(new Array(300).fill(0));
  });

  it('are filled, written and read in part', async () => {
    const array = backend.create('f32', 8, 'part');
    backend.fill(array, 1.5, 1, 3);
    backend.write(array, Float32Array.of(-1, -2), 5);
    backend.fill(array, 0, 2, 1);
    expect(f32(await backend.read(array))).toEqual([0, 1.5, 0, 1.5, 0, -1, -2, 0]);
    expect(f32(await backend.read(array, 5, 2))).toEqual([-1, -2]);
    expect(await backend.read(array, 8, 0)).toEqual(new Float32Array(0));
    const whole = backend.create('u32', 3, 'whole numbers');
    backend.fill(whole, 4294967295);
    expect(await backend.read(whole)).toEqual(Uint32Array.of(4294967295, 4294967295, 4294967295));
  });

  it('keep the order of writes and recorded work', async () => {
    const x = backend.upload(Float32Array.of(2, 3), 'x');
    const seen = backend.create('f32', 1, 'seen');
    backend.sumSquares(seen, x, 2);
    backend.write(x, Float32Array.of(100, 100));
    expect(f32(await backend.read(seen))).toEqual([13]);
    // A freed array whose use is still being recorded must not be overwritten by an upload that takes its place.
    const freed = backend.upload(Float32Array.of(4, 0), 'freed');
    backend.sumSquares(seen, freed, 2);
    backend.free(freed);
    backend.upload(Float32Array.of(50, 50), 'usurper');
    expect(f32(await backend.read(seen))).toEqual([16]);
  });

  it('can be read many at a time', async () => {
    const arrays = Array.from({ length: 10 }, (_, i) => backend.upload(Float32Array.of(i), `array ${i}`));
    const read = await Promise.all(arrays.map((array) => backend.read(array)));
    expect(read.map((values) => values[0])).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('survive more calls than one block of parameters holds', async () => {
    const table = backend.upload(Float32Array.of(1, 0), 'pair');
    for (let i = 0; i < 1300; i++) backend.fill(table, i, i % 2, 1);
    expect(f32(await backend.read(table))).toEqual([1298, 1299]);
  });

  it('are refused when freed, foreign or too short', async () => {
    const freed = backend.create('f32', 4, 'freed');
    backend.free(freed);
    await expect(backend.read(freed)).rejects.toMatchObject({ code: 'array-freed' });
    expect(() => backend.free(freed)).toThrow(expect.objectContaining({ code: 'array-freed' }));
    const other = await createWebGpuBackend();
    const foreign = other.create('f32', 4, 'foreign');
    expect(() => backend.fill(foreign, 1)).toThrow(expect.objectContaining({ code: 'foreign-array' }));
    const matrix = other.matrix({ rows: 1, cols: 1, format: 'f32', data: Float32Array.of(1) }, 'foreign');
    expect(() => backend.touch(matrix)).toThrow(expect.objectContaining({ code: 'foreign-matrix' }));
    other.destroy();
    const short = backend.create('f32', 3, 'short');
    await expect(backend.read(short, 1, 3)).rejects.toMatchObject({ code: 'bad-shape' });
    expect(() => backend.swiglu({ out: short, gateUp: short, rows: 2, dim: 2 })).toThrow(expect.objectContaining({ code: 'bad-shape' }));
  });

  it('reach past the first dimension of workgroups', async () => {
    const length = 64 * 65535 + 1000;
    const long = backend.create('f32', length, 'long');
    backend.fill(long, 2, 1, length - 2);
    const sum = backend.create('f32', 1, 'sum');
    backend.sumSquares(sum, long, length);
    expect((await backend.read(sum))[0]).toBeCloseTo(4 * (length - 2), -3);
    expect(f32(await backend.read(long, length - 3, 3))).toEqual([2, 2, 0]);
    backend.free(long);
  });

  it('of indices are checked before a kernel follows them', () => {
    const table = backend.matrix(randomMatrix('table', 3, 4, 'q4').source, 'table');
    const ids = backend.create('u32', 2, 'ids');
    const out = backend.create('f32', 8, 'out');
    const embed = (): void => backend.embed({ out, table, ids, rows: 2, scale: 1 });
    const refused = expect.objectContaining({ code: 'index-out-of-range' });
    expect(embed).not.toThrow();
    backend.write(ids, Uint32Array.of(3), 1);
    expect(embed).toThrow(refused);
    backend.fill(ids, 2);
    expect(embed).not.toThrow();
    const x = { array: backend.create('f32', 8, 'x'), offset: 0, stride: 4 };
    const to = { array: out, offset: 0, stride: 4 };
    const spans = backend.upload(Uint32Array.of(0, 2, 1, 2), 'spans');
    expect(() => backend.attention({ out, q: x, k: x, v: x, spans, rows: 1, heads: 1, kvHeads: 1, headDim: 4 })).toThrow(refused);
    expect(() => backend.copyRows({ to, from: x, toRows: backend.upload(Uint32Array.of(2), 'to'), rows: 1, width: 4 })).toThrow(refused);
  });
});

describe('products', () => {
  it('have the same bits whichever kernel multiplies', async () => {
    const [serial, hardware] = [await createWebGpuBackend(), await createWebGpuBackend({ hardwareKernels: true })];
    const [n, k] = [70, 1100];
    const { source } = randomMatrix('product', n, k, 'q4');
    const run = async (backend: Backend, rows: number): Promise<Float32Array> => {
      const x = backend.upload(normals('product x', 17 * k).subarray(0, rows * k), 'x');
      const out = backend.create('f32', rows * n, 'out');
      backend.linear({ out, x, w: backend.matrix(source, 'w'), rows, accumulate: false });
      return (await backend.read(out)) as Float32Array;
    };
    const tiled = await run(hardware, 17);
    for (const [backend, rows] of [
      [serial, 17],
      [serial, 1],
      [hardware, 1],
      [hardware, 6],
    ] as const) {
      expectSameBits(`${rows} rows`, await run(backend, rows), tiled.slice(0, rows * n));
    }
    serial.destroy();
    hardware.destroy();
  });
});

describe('matrices larger than a binding', () => {
  const [rows, cols, tokens] = [45, 70, 5];
  let whole: Backend;
  let split: Backend;
  beforeAll(async () => {
    whole = await createWebGpuBackend();
    // Room for six rows of 16-bit floats: the matrix comes in eight parts.
    split = await createWebGpuBackend({ maxArrayBytes: 4 * 35 * 6 });
  });
  afterAll(() => {
    whole.destroy();
    split.destroy();
  });

  it.each(['f16', 'bf16', 'q4'] as const)('give the same bits in parts (%s)', async (format: Format) => {
    const { source } = randomMatrix(`split ${format}`, rows, cols, format);
    const x = normals('x', 2 * cols);
    const d = normals('d', 2 * rows);
    const ids = indices('ids', tokens, rows);
    ids[0] = rows - 1;
    const run = async (backend: Backend): Promise<Float32Array[]> => {
      const w: Matrix = backend.matrix(source, 'w');
      const input = backend.upload(x, 'x');
      const chosen = backend.upload(ids, 'ids');
      const out = backend.create('f32', 2 * rows, 'out');
      const rowsOut = backend.create('f32', 2 * cols, 'rows');
      const logits = backend.create('f32', 2, 'logits');
      backend.linear({ out, x: input, w, rows: 2, accumulate: false });
      backend.embed({ out: rowsOut, table: w, ids: chosen, rows: 2, scale: 2 });
      backend.layerLogits({ out: logits, h: input, hRows: backend.upload(Uint32Array.of(0, 1), 'h'), tokens: chosen, w, count: 2 });
      const dx = backend.create('f32', 2 * cols, 'dx');
      backend.linearBackwardInput({ dx, dOut: backend.upload(d, 'd'), w, rows: 2, accumulate: false });
      const read = await Promise.all([out, rowsOut, logits, dx].map((array) => backend.read(array)));
      backend.freeMatrix(w);
      return read as Float32Array[];
    };
    const [parts, one] = [await run(split), await run(whole)];
    expectSameBits('linear', parts[0]!, one[0]!);
    expectSameBits('embed', parts[1]!, one[1]!);
    expectSameBits('layerLogits', parts[2]!, one[2]!);
    // The sum over rows is cut at the parts, so only nearly the same.
    parts[3]!.forEach((value, i) => {
      expect(Math.abs(value - one[3]![i]!)).toBeLessThan(1e-4);
    });
  });

  it('are refused with their name when they cannot be split', () => {
    const tooLarge = { code: 'array-too-large', message: expect.stringContaining('big') };
    expect(() => split.create('f32', 1000, 'big')).toThrow(expect.objectContaining(tooLarge));
    const data = new Float32Array(rows * cols);
    expect(() => split.matrix({ rows, cols, format: 'f32', data }, 'big')).toThrow(expect.objectContaining(tooLarge));
    const long = new Uint16Array(2000);
    expect(() => split.matrix({ rows: 1, cols: 2000, format: 'f16', data: long }, 'big')).toThrow(expect.objectContaining(tooLarge));
  });
});
