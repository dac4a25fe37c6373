import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCpuBackend } from '../../../src/tensor/cpu/backend.ts';
import { Memory } from '../../../src/tensor/cpu/memory.ts';

describe('the allocator', () => {
  it('never hands out overlapping blocks and reuses everything that was released', () => {
    const step = fc.record({ bytes: fc.integer({ min: 0, max: 300_000 }), release: fc.option(fc.nat()) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const memory = new Memory(2);
        const live: { start: number; bytes: number }[] = [];
        for (const { bytes, release } of steps) {
          const start = memory.allocate(bytes);
          expect(start % 16).toBe(0);
          expect(start + bytes).toBeLessThanOrEqual(memory.wasm.buffer.byteLength);
          for (const other of live) expect(start >= other.start + other.bytes || start + bytes <= other.start).toBe(true);
          live.push({ start, bytes });
          if (release !== null) memory.release(live.splice(release % live.length, 1)[0]!.start);
        }
        for (const { start } of live) memory.release(start);
        expect(memory.used).toBe(0);
        // All of it is one block again: the whole memory but its first page can be had at once without growing.
        const size = memory.wasm.buffer.byteLength;
        memory.allocate(size - 65536 - 64);
        expect(memory.wasm.buffer.byteLength).toBe(size);
      }),
      { numRuns: 100 },
    );
  });

  it('refuses to release a block twice', () => {
    const memory = new Memory(2);
    const pointer = memory.allocate(10);
    memory.release(pointer);
    expect(() => memory.release(pointer)).toThrow(expect.objectContaining({ code: 'double-free' }));
  });

  it('says so when there is no more memory', () => {
    expect(() => new Memory(2).allocate(5 * 2 ** 30)).toThrow(expect.objectContaining({ code: 'out-of-memory' }));
  });
});

describe('arrays of the backend', () => {
  it('keep their contents when the memory grows', async () => {
    const backend = await createCpuBackend();
    const small = backend.upload(Float32Array.of(1, 2, 3), 'small');
    const large = backend.create('f32', 8_000_000, 'large');
    expect([...(await backend.read(small))]).toEqual([1, 2, 3]);
    expect(await backend.read(large, 7_999_998)).toEqual(new Float32Array(2));
    backend.write(large, Float32Array.of(7), 7_999_999);
    expect([...(await backend.read(large, 7_999_998))]).toEqual([0, 7]);
    backend.destroy();
  });

  it('start as zeros even where freed numbers lay', async () => {
    const backend = await createCpuBackend();
    backend.free(backend.upload(new Float32Array(1000).fill(5), 'old'));
    const fresh = backend.create('f32', 1000, 'fresh');
    expect(await backend.read(fresh)).toEqual(new Float32Array(1000));
    backend.destroy();
  });

  it('are read as copies', async () => {
    const backend = await createCpuBackend();
    const array = backend.upload(Uint32Array.of(4, 5), 'ids');
    const copy = await backend.read(array);
    backend.fill(array, 9);
    expect([...copy]).toEqual([4, 5]);
    backend.destroy();
  });
});
