import type { Backend, DeviceArray } from '../tensor/backend.ts';
import type { DecoderConfig } from './weights.ts';

/** A contiguous range of rows of the arena. */
export interface Region {
  readonly start: number;
  readonly rows: number;
}

/**
 * The keys and values of all live sequences: per layer one array [capacity, kvHeads·headDim] each, shared by everybody.
 * Rows are handed out in contiguous regions, first fit; a full arena moves to arrays twice as large, which keeps row numbers.
 */
export class KvArena {
  readonly width: number;
  keys: DeviceArray[] = [];
  values: DeviceArray[] = [];
  private capacity = 0;
  private gaps: Region[] = [];
  private readonly backend: Backend;
  private readonly layers: number;

  constructor(backend: Backend, config: Pick<DecoderConfig, 'layers' | 'kvHeads' | 'headDim'>) {
    this.backend = backend;
    this.layers = config.layers;
    this.width = config.kvHeads * config.headDim;
  }

  /** Rows in use. */
  get used(): number {
    return this.capacity - this.gaps.reduce((sum, gap) => sum + gap.rows, 0);
  }

  allocate(rows: number): Region {
    let index = this.gaps.findIndex((gap) => gap.rows >= rows);
    if (index < 0) {
      this.grow(rows);
      index = this.gaps.findIndex((gap) => gap.rows >= rows);
    }
    const gap = this.gaps[index]!;
    if (gap.rows === rows) this.gaps.splice(index, 1);
    else this.gaps[index] = { start: gap.start + rows, rows: gap.rows - rows };
    return { start: gap.start, rows };
  }

  release(region: Region): void {
    if (region.rows === 0) return;
    const gaps = [...this.gaps, region].sort((a, b) => a.start - b.start);
    const merged: Region[] = [];
    for (const gap of gaps) {
      const last = merged.at(-1);
      if (last && last.start + last.rows === gap.start) merged[merged.length - 1] = { start: last.start, rows: last.rows + gap.rows };
      else merged.push(gap);
    }
    this.gaps = merged;
  }

  /** Copies `rows` rows of every layer between regions that do not overlap. */
  copy(from: Region, to: Region, rows: number): void {
    if (rows === 0) return;
    for (const array of [...this.keys, ...this.values]) this.copyRows(array, from.start, array, to.start, rows);
  }

  free(): void {
    for (const array of [...this.keys, ...this.values]) this.backend.free(array);
    this.keys = [];
    this.values = [];
    this.capacity = 0;
    this.gaps = [];
  }

  private grow(rows: number): void {
    const before = this.capacity;
    this.capacity = Math.max(256, 2 * before, before + rows);
    const enlarge = (name: string, old: DeviceArray | undefined): DeviceArray => {
      const array = this.backend.create('f32', this.capacity * this.width, name);
      if (old) {
        this.copyRows(old, 0, array, 0, before);
        this.backend.free(old);
      }
      return array;
    };
    for (let layer = 0; layer < this.layers; layer++) {
      this.keys[layer] = enlarge(`keys ${layer}`, this.keys[layer]);
      this.values[layer] = enlarge(`values ${layer}`, this.values[layer]);
    }
    this.release({ start: before, rows: this.capacity - before });
  }

  private copyRows(from: DeviceArray, fromRow: number, to: DeviceArray, toRow: number, rows: number): void {
    const width = this.width;
    this.backend.copyRows({
      to: { array: to, offset: toRow * width, stride: width },
      from: { array: from, offset: fromRow * width, stride: width },
      rows,
      width,
    });
  }
}
