import { DISTANCES_BASE64 } from './distances.generated.ts';
import { type Matrix, row } from './matrix.ts';

/** Most points a block holds; `assembly/cluster/distances.ts` is written for this number. */
export const BLOCK_SIZE = 32;

const PAGE_BYTES = 65536;
const FLOAT_BYTES = 8;
/** The compiler may keep constants below this address. */
const FIRST_ADDRESS = 1024;

interface Kernel {
  squaredDistances(query: number, block: number, d: number, count: number, out: number): number;
}

let compiled: WebAssembly.Module | undefined;

/**
 * Points in blocks of up to 32, in the memory of a WASM kernel that measures a query against a whole block at once. Results
 * have the same bits as those of a plain loop. Each instance has its own memory, freed with it.
 */
export class BlockDistances {
  /** The query's d coordinates: written by the caller before `measure`. */
  readonly query: Float64Array;
  /** Squared distances of the block measured last, by place; infinite where there is no point. */
  readonly squares: Float64Array;
  private readonly data: Float64Array;
  private readonly d: number;
  private readonly kernel: Kernel;

  /** @param order the points by position; block b holds positions starts[b] … starts[b + 1] − 1. */
  constructor(points: Matrix, order: Int32Array, starts: Int32Array) {
    const { columns: d } = points;
    const blocks = starts.length - 1;
    // Rounded so that vectors start at multiples of 16 bytes.
    const out = FIRST_ADDRESS + Math.ceil(d / 2) * 2 * FLOAT_BYTES;
    const first = out + BLOCK_SIZE * FLOAT_BYTES;
    const bytes = first + blocks * d * BLOCK_SIZE * FLOAT_BYTES;
    const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / PAGE_BYTES) });
    compiled ??= new WebAssembly.Module(Uint8Array.from(atob(DISTANCES_BASE64), (character) => character.charCodeAt(0)));
    this.kernel = new WebAssembly.Instance(compiled, { env: { memory } }).exports as unknown as Kernel;
    this.d = d;
    this.query = new Float64Array(memory.buffer, FIRST_ADDRESS, d);
    this.squares = new Float64Array(memory.buffer, out, BLOCK_SIZE);
    this.data = new Float64Array(memory.buffer, first, blocks * d * BLOCK_SIZE).fill(Number.POSITIVE_INFINITY);
    for (let block = 0; block < blocks; block++) {
      for (let position = starts[block]!; position < starts[block + 1]!; position++) {
        this.put(block, position - starts[block]!, row(points, order[position]!));
      }
    }
  }

  /** Measures the query against the first `count` places of a block; returns the smallest square. */
  measure(block: number, count: number): number {
    const at = this.data.byteOffset + block * this.d * BLOCK_SIZE * FLOAT_BYTES;
    return this.kernel.squaredDistances(this.query.byteOffset, at, this.d, count, this.squares.byteOffset);
  }

  /** Moves the point at place `from` of a block to `to`, and leaves `from` empty. */
  move(block: number, from: number, to: number): void {
    for (let c = 0, at = block * this.d * BLOCK_SIZE; c < this.d; c++, at += BLOCK_SIZE) {
      this.data[at + to] = this.data[at + from]!;
      this.data[at + from] = Number.POSITIVE_INFINITY;
    }
  }

  private put(block: number, place: number, coordinates: Float64Array): void {
    for (let c = 0, at = block * this.d * BLOCK_SIZE + place; c < this.d; c++, at += BLOCK_SIZE) this.data[at] = coordinates[c]!;
  }
}
