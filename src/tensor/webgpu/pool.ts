import { NacreError } from '../../core/errors.ts';

/** A GPU buffer and when the commands being recorded last used it. */
export interface Block {
  readonly buffer: GPUBuffer;
  readonly id: number;
  /** Number of the submission that used it last. */
  usedIn: number;
}

/** Idle blocks are kept up to this many bytes. */
const KEEP_BYTES = 512 * 2 ** 20;
const USAGE = 0x80 | 0x08 | 0x04; // STORAGE | COPY_DST | COPY_SRC; the globals are absent in Node.

/** Rounds up to a size with four significant bits (at most an eighth is wasted), so that freed buffers fit again. */
export function blockSize(bytes: number): number {
  const least = Math.max(256, bytes);
  const step = 2 ** Math.max(2, Math.floor(Math.log2(least)) - 3);
  return Math.ceil(least / step) * step;
}

/** Storage buffers by size. A released buffer goes to the next array of the same size class. */
export class BufferPool {
  private readonly idle = new Map<number, Block[]>();
  private idleBytes = 0;
  private nextId = 1;
  private readonly all = new Map<number, Block>();

  constructor(
    private readonly device: GPUDevice,
    private readonly maxBytes: number,
  ) {}

  /**
   * A block of at least `bytes` bytes and whether it is fresh (all zeros). `notUsedIn`: skip blocks that submission uses.
   * @throws {NacreError} `array-too-large`
   */
  take(bytes: number, label: string, notUsedIn?: number): { block: Block; fresh: boolean } {
    if (bytes > this.maxBytes) {
      throw new NacreError(
        'array-too-large',
        `${label} needs ${mib(bytes)} MiB in one buffer; this GPU binds at most ${mib(this.maxBytes)} MiB.`,
        'Use a smaller model, a shorter context or fewer rollouts at a time, or the CPU backend.',
      );
    }
    const size = Math.min(blockSize(bytes), this.maxBytes - (this.maxBytes % 4));
    const list = this.idle.get(size);
    const at = list?.findIndex((block) => block.usedIn !== notUsedIn) ?? -1;
    if (list && at >= 0) {
      const [block] = list.splice(at, 1);
      this.idleBytes -= size;
      return { block: block!, fresh: false };
    }
    const buffer = this.device.createBuffer({ size, usage: USAGE, label });
    const block = { buffer, id: this.nextId++, usedIn: -1 };
    this.all.set(block.id, block);
    return { block, fresh: true };
  }

  /** `recording`: the submission being recorded; blocks it uses must live until it was submitted. */
  release(block: Block, recording: number): void {
    const size = block.buffer.size;
    const list = this.idle.get(size) ?? [];
    this.idle.set(size, list);
    list.push(block);
    this.idleBytes += size;
    if (this.idleBytes > KEEP_BYTES) this.shrink(recording);
  }

  destroy(): void {
    for (const block of this.all.values()) block.buffer.destroy();
    this.all.clear();
    this.idle.clear();
  }

  /** Destroys idle blocks, larger ones first, until half of what may be kept is left. */
  private shrink(recording: number): void {
    for (const size of [...this.idle.keys()].sort((a, b) => b - a)) {
      const kept: Block[] = [];
      for (const block of this.idle.get(size) ?? []) {
        if (this.idleBytes <= KEEP_BYTES / 2 || block.usedIn === recording) {
          kept.push(block);
          continue;
        }
        block.buffer.destroy();
        this.all.delete(block.id);
        this.idleBytes -= size;
      }
      this.idle.set(size, kept);
    }
  }
}

function mib(bytes: number): number {
  return Math.ceil(bytes / 2 ** 20);
}
