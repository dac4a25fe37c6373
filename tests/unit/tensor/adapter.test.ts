import { describe, expect, it } from 'vitest';
import { adapterName, describeAdapter, isSoftware } from '../../../src/tensor/adapter.ts';
import { createBackend } from '../../../src/tensor/index.ts';

const info = (vendor: string, architecture = '', description = '', isFallbackAdapter = false) => ({
  vendor,
  architecture,
  device: '',
  description,
  isFallbackAdapter,
});

/** Just enough of a GPU for the code that looks before it opens a device. */
function gpuWith(requestAdapter: () => Promise<unknown>): GPU {
  return { requestAdapter } as unknown as GPU;
}

describe('isSoftware', () => {
  it.each([
    ['SwiftShader', info('google', 'swiftshader')],
    ['llvmpipe', info('mesa', '', 'llvmpipe (LLVM 15.0.7, 256 bits)')],
    ['WARP', info('microsoft', 'warp')],
    ['Microsoft Basic Render Driver', info('', '', 'Microsoft Basic Render Driver')],
    ['a fallback adapter without a name', info('', '', '', true)],
  ])('knows %s', (_name, adapter) => {
    expect(isSoftware(adapter)).toBe(true);
  });

  it.each([
    ['NVIDIA', info('nvidia', 'ampere', 'NVIDIA GeForce RTX 3080')],
    ['Apple', info('apple', 'metal-3')],
    ['Intel', info('intel', 'xe-2lpg')],
    ['AMD', info('amd', 'rdna-3', 'AMD Radeon RX 7900 (RADV NAVI31)')],
    ['an adapter that tells nothing', info('')],
  ])('takes %s for hardware', (_name, adapter) => {
    expect(isSoftware(adapter)).toBe(false);
  });
});

describe('describeAdapter', () => {
  it('says why there is none', async () => {
    const absent = await describeAdapter(gpuWith(async () => null));
    expect(absent).toMatchObject({ available: false, reason: 'the browser offers no GPU adapter' });
    const failing = await describeAdapter(gpuWith(() => Promise.reject(new Error('blocked by policy'))));
    expect(failing).toMatchObject({ available: false, reason: 'asking for a GPU adapter failed: blocked by policy' });
  });

  it('lists limits that are getters of the prototype, as browsers have them', async () => {
    class Limits {
      get maxBufferSize(): number {
        return 1024;
      }
    }
    Object.defineProperty(Limits.prototype, 'maxBufferSize', { enumerable: true });
    const adapter = { info: info('intel', 'xe'), limits: new Limits(), features: new Set(['timestamp-query', 'shader-f16']) };
    expect(await describeAdapter(gpuWith(async () => adapter))).toEqual({
      available: true,
      adapter: 'intel xe',
      software: false,
      features: ['shader-f16', 'timestamp-query'],
      limits: { maxBufferSize: 1024 },
    });
  });

  it('names an adapter by what it tells', () => {
    expect(adapterName(info('nvidia', 'ampere', 'RTX'))).toBe('nvidia ampere RTX');
    expect(adapterName(info(''))).toBe('unnamed adapter');
  });
});

describe('createBackend', () => {
  const software = { info: info('google', 'swiftshader'), limits: {}, features: new Set() };
  const broken = { ...software, info: info('nvidia', 'ampere'), requestDevice: () => Promise.reject(new Error('no memory')) };

  it.each([
    ['a software adapter', gpuWith(async () => software), /software/],
    ['no adapter', gpuWith(async () => null), /offers no GPU adapter/],
    ['an adapter without a device', gpuWith(async () => broken), /gave no device/],
  ])('takes the CPU by itself with %s and says so', async (_name, gpu, why) => {
    const { backend, reason } = await createBackend('auto', { gpu });
    expect(backend.info.kind).toBe('cpu');
    expect(reason).toMatch(why);
    backend.destroy();
  });

  it('does not fall back when WebGPU was asked for', async () => {
    await expect(createBackend('webgpu', { gpu: gpuWith(async () => null) })).rejects.toMatchObject({ code: 'webgpu-unavailable' });
  });
});
