import type { Shader } from './shader.ts';

/** Bytes of parameters a dispatch may have: the offset alignment every device accepts. */
const SLOT = 256;
const SLOTS = 512;

/** The parameters of all dispatches of a submission in one uniform buffer, bound at dynamic offsets as group 0. */
export class ParameterBlock {
  readonly layout: GPUBindGroupLayout;
  readonly group: GPUBindGroup;
  private readonly buffer: GPUBuffer;
  private readonly words = new Uint32Array((SLOT / 4) * SLOTS);
  private readonly floats = new Float32Array(this.words.buffer);
  private used = 0;

  constructor(
    private readonly device: GPUDevice,
    private readonly slots = SLOTS,
  ) {
    this.buffer = device.createBuffer({ size: SLOT * SLOTS, usage: 0x40 | 0x08, label: 'parameters' }); // UNIFORM | COPY_DST
    this.layout = device.createBindGroupLayout({
      entries: [{ binding: 0, visibility: 4, buffer: { type: 'uniform', hasDynamicOffset: true, minBindingSize: SLOT } }], // COMPUTE
    });
    this.group = device.createBindGroup({
      layout: this.layout,
      entries: [{ binding: 0, resource: { buffer: this.buffer, size: SLOT } }],
    });
  }

  get full(): boolean {
    return this.used === this.slots;
  }

  /** Stores the values in the order and types of the shader's struct and returns their offset in bytes. */
  add(shader: Shader, values: readonly number[]): number {
    const offset = this.used++ * SLOT;
    shader.params.forEach(({ type }, i) => {
      if (type === 'f32') this.floats[offset / 4 + i] = values[i]!;
      else this.words[offset / 4 + i] = values[i]!;
    });
    return offset;
  }

  /** Sends what was added to the device, ahead of the submission that uses it, and starts again. */
  flush(): void {
    if (this.used > 0) this.device.queue.writeBuffer(this.buffer, 0, this.words, 0, (this.used * SLOT) / 4);
    this.used = 0;
  }

  destroy(): void {
    this.buffer.destroy();
  }
}
