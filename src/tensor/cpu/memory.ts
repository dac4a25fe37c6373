import { NacreError } from '../../core/errors.ts';
import type { DeviceArray, ElementType } from '../backend.ts';

/** An array in the WASM memory. `pointer` is its byte address; 0 once freed. */
export interface CpuArray extends DeviceArray {
  readonly owner: Memory;
  pointer: number;
}

interface Block {
  start: number;
  size: number;
}

const PAGE = 65536;
/** The first bytes hold the kernels' own constants and are never handed out. */
const FIRST = PAGE;
/** Every block starts at a cache line, which also keeps 16-byte vectors aligned. */
const ALIGNMENT = 64;
/** Vector kernels may read this far past the end of an array (and drop what they read). */
const OVERREAD = 32;
/** 4 GiB, what 32-bit addresses reach. */
const MAX_PAGES = 65536;

/**
 * The linear memory and its allocator: first fit over a list of free blocks sorted by address, neighbours merged on free.
 * Growing the memory detaches every earlier typed array, so views are made for each use and never kept.
 */
export class Memory {
  readonly wasm: WebAssembly.Memory;
  private readonly freeBlocks: Block[];
  private readonly sizes = new Map<number, number>();

  constructor(initialPages = 64) {
    this.wasm = new WebAssembly.Memory({ initial: initialPages });
    this.freeBlocks = [{ start: FIRST, size: initialPages * PAGE - FIRST }];
  }

  /**
   * The address of at least `bytes` bytes, not cleared.
   * @throws {NacreError} `out-of-memory` when the memory cannot grow any more
   */
  allocate(bytes: number): number {
    const size = Math.ceil((bytes + OVERREAD) / ALIGNMENT) * ALIGNMENT;
    let index = this.freeBlocks.findIndex((block) => block.size >= size);
    if (index < 0) {
      this.grow(size);
      index = this.freeBlocks.findIndex((block) => block.size >= size);
    }
    const block = this.freeBlocks[index]!;
    const pointer = block.start;
    block.start += size;
    block.size -= size;
    if (block.size === 0) this.freeBlocks.splice(index, 1);
    this.sizes.set(pointer, size);
    return pointer;
  }

  release(pointer: number): void {
    const size = this.sizes.get(pointer);
    if (size === undefined) {
      throw new NacreError('double-free', `No block starts at address ${pointer}.`, 'This is a defect of Nacre: please report it.');
    }
    this.sizes.delete(pointer);
    this.insert({ start: pointer, size });
  }

  f32(pointer: number, length: number): Float32Array<ArrayBuffer> {
    return new Float32Array(this.wasm.buffer, pointer, length);
  }

  u32(pointer: number, length: number): Uint32Array<ArrayBuffer> {
    return new Uint32Array(this.wasm.buffer, pointer, length);
  }

  /** Bytes handed out now. */
  get used(): number {
    let sum = 0;
    for (const size of this.sizes.values()) sum += size;
    return sum;
  }

  private grow(size: number): void {
    const end = this.wasm.buffer.byteLength;
    // At least a quarter more, so that many small allocations do not grow the memory one by one.
    const wanted = Math.ceil(Math.max(size, end / 4) / PAGE);
    const pages = Math.min(Math.max(wanted, 1), Math.max(MAX_PAGES - end / PAGE, Math.ceil(size / PAGE)));
    try {
      this.wasm.grow(pages);
    } catch (cause) {
      throw new NacreError(
        'out-of-memory',
        `The CPU backend needs ${Math.ceil(size / 2 ** 20)} MiB more, beyond ${Math.round(end / 2 ** 20)} MiB, and the browser refused.`,
        'Use a smaller model, a shorter context or fewer rollouts at a time, or close other tabs.',
        { cause },
      );
    }
    this.insert({ start: end, size: pages * PAGE });
  }

  private insert(block: Block): void {
    const list = this.freeBlocks;
    let low = 0;
    let high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (list[middle]!.start < block.start) low = middle + 1;
      else high = middle;
    }
    list.splice(low, 0, block);
    const next = list[low + 1];
    if (next && block.start + block.size === next.start) {
      block.size += next.size;
      list.splice(low + 1, 1);
    }
    const previous = list[low - 1];
    if (previous && previous.start + previous.size === block.start) {
      previous.size += block.size;
      list.splice(low, 1);
    }
  }
}

/** The array's own record. @throws {NacreError} when it is freed or belongs to another backend */
export function owned(memory: Memory, array: DeviceArray): CpuArray {
  const own = array as Partial<CpuArray> & DeviceArray;
  if (own.owner !== memory) throw new NacreError('foreign-array', `Array ${array.label} is not of this CPU backend.`, DEFECT);
  if (own.pointer === 0) throw new NacreError('array-freed', `Array ${array.label} was freed.`, DEFECT);
  return own as CpuArray;
}

const DEFECT = 'This is a defect of Nacre: please report it with the details.';

export function newArray(memory: Memory, type: ElementType, length: number, label: string): CpuArray {
  const pointer = memory.allocate(length * 4);
  return { type, length, label, owner: memory, pointer };
}
