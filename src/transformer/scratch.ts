import type { Backend, DeviceArray } from '../tensor/backend.ts';

/** Named work arrays that are kept between calls and replaced by larger ones when a call needs more. */
export class Scratch {
  private readonly backend: Backend;
  private readonly arrays = new Map<string, DeviceArray>();

  constructor(backend: Backend) {
    this.backend = backend;
  }

  /** At least `length` floats; contents are those of the last use. */
  f32(name: string, length: number): DeviceArray {
    return this.get('f32', name, length);
  }

  /** The given indices on the device. */
  u32(name: string, data: Uint32Array): DeviceArray {
    const array = this.get('u32', name, data.length);
    this.backend.write(array, data);
    return array;
  }

  /** The given floats on the device. */
  floats(name: string, data: Float32Array): DeviceArray {
    const array = this.get('f32', name, data.length);
    this.backend.write(array, data);
    return array;
  }

  free(): void {
    for (const array of this.arrays.values()) this.backend.free(array);
    this.arrays.clear();
  }

  private get(type: 'f32' | 'u32', name: string, length: number): DeviceArray {
    const known = this.arrays.get(name);
    if (known && known.length >= length) return known;
    if (known) this.backend.free(known);
    // A little more than asked for, so that slowly growing batches do not reallocate at each call.
    const array = this.backend.create(type, Math.ceil(length * 1.25), `scratch ${name}`);
    this.arrays.set(name, array);
    return array;
  }
}
