import { NacreError } from '../../core/errors.ts';
import type { DeviceArray, ElementType } from '../backend.ts';
import { ErrorWatch } from './errors.ts';
import { ParameterBlock } from './parameters.ts';
import { Pipelines } from './pipelines.ts';
import { type Block, BufferPool } from './pool.ts';
import type { KernelName, WeightFormat } from './shader.ts';

/** An array in a GPU buffer; `block` is undefined once freed. */
export interface GpuArray extends DeviceArray {
  readonly owner: Recorder;
  block: Block | undefined;
  /** A copy of u32 arrays, which are indices that only the host writes: they can be checked before a kernel follows them. */
  readonly indices: Uint32Array | undefined;
}

export interface Dispatch {
  readonly arrays: Readonly<Record<string, DeviceArray>>;
  readonly params: Readonly<Record<string, number>>;
  readonly workgroups: readonly [number, number?, number?];
  readonly constants?: Readonly<Record<string, number>>;
  /** Storage of the weight matrix, for kernels that include `weights`. */
  readonly format?: WeightFormat;
}

export interface RecorderOptions {
  readonly maxArrayBytes: number;
  readonly software: boolean;
  readonly onLost?: (error: NacreError) => void;
}

/** A software device works off a submission on the CPU: short ones keep the browser's watchdog quiet. */
const SOFTWARE_DISPATCHES = 64;
const UPLOAD_CHUNK = 64 * 2 ** 20;
const DEFECT = 'This is a defect of Nacre: please report it with the details.';

/**
 * Records dispatches into one command encoder and submits them when somebody reads, waits, overwrites what they use, or the block of
 * parameters is full.
 */
export class Recorder {
  readonly software: boolean;
  private readonly pool: BufferPool;
  private readonly watch: ErrorWatch;
  private readonly parameters: ParameterBlock;
  private readonly pipelines: Pipelines;
  private readonly staging: GPUBuffer[] = [];
  private encoder: GPUCommandEncoder | undefined;
  private pass: GPUComputePassEncoder | undefined;
  /** Number of the submission being recorded. */
  private submission = 0;

  constructor(
    private readonly device: GPUDevice,
    options: RecorderOptions,
  ) {
    this.software = options.software;
    this.watch = new ErrorWatch(device, options.onLost);
    this.pool = new BufferPool(device, options.maxArrayBytes);
    this.parameters = new ParameterBlock(device, options.software ? SOFTWARE_DISPATCHES : undefined);
    this.pipelines = new Pipelines(device, this.parameters.layout);
  }

  /** A new array; zeroed unless `dirty` (its first use overwrites it). */
  create(type: ElementType, length: number, label: string, dirty = false): GpuArray {
    this.watch.throwIfLost();
    const { block, fresh } = this.pool.take(length * 4, label);
    if (!fresh && !dirty) {
      this.endPass().clearBuffer(block.buffer);
      block.usedIn = this.submission;
    }
    return { type, length, label, owner: this, block, indices: type === 'u32' ? new Uint32Array(length) : undefined };
  }

  upload(data: Float32Array | Uint32Array, label: string): GpuArray {
    this.watch.throwIfLost();
    const { block } = this.pool.take(data.byteLength, label, this.submission);
    this.writeBytes(block, 0, data);
    const shape = { length: data.length, label, owner: this, block };
    if (data instanceof Float32Array) return { ...shape, type: 'f32', indices: undefined };
    return { ...shape, type: 'u32', indices: data.slice() };
  }

  /** Like `upload` for words that no kernel takes for indices, such as packed weights: without the host's copy. */
  uploadWords(data: Uint32Array, label: string): GpuArray {
    this.watch.throwIfLost();
    const { block } = this.pool.take(data.byteLength, label, this.submission);
    this.writeBytes(block, 0, data);
    return { type: 'u32', length: data.length, label, owner: this, block, indices: undefined };
  }

  write(array: DeviceArray, data: Float32Array | Uint32Array, offset: number): void {
    this.watch.throwIfLost();
    const block = this.blockOf(array);
    // Queue writes happen before the commands still being recorded.
    if (block.usedIn === this.submission) this.submit();
    this.writeBytes(block, offset * 4, data);
    this.own(array).indices?.set(data, offset);
  }

  fill(array: DeviceArray, value: number, offset: number, length: number): void {
    const bits = array.type === 'u32' ? value >>> 0 : new Uint32Array(Float32Array.of(value).buffer)[0]!;
    this.own(array).indices?.fill(value, offset, offset + length);
    if (bits !== 0) {
      const workgroups = this.grid(Math.ceil(length / 64));
      this.dispatch('fill', { arrays: { values: array }, params: { offset, length, bits }, workgroups });
      return;
    }
    this.watch.throwIfLost();
    const block = this.blockOf(array);
    block.usedIn = this.submission;
    if (length > 0) this.endPass().clearBuffer(block.buffer, offset * 4, length * 4);
  }

  free(array: DeviceArray): void {
    this.pool.release(this.blockOf(array), this.submission);
    this.own(array).block = undefined;
  }

  /** What the host wrote into a u32 array. */
  indicesOf(array: DeviceArray): Uint32Array {
    this.blockOf(array);
    const { indices } = this.own(array);
    if (!indices) throw new NacreError('bad-dispatch', `Array ${array.label} does not hold indices.`, DEFECT);
    return indices;
  }

  /** Runs `kernel` over `workgroups`. Arrays, parameters and constants are named as in the shader. */
  dispatch(kernel: KernelName, call: Dispatch): void {
    this.watch.throwIfLost();
    const [x, y = 1, z = 1] = call.workgroups;
    if (x * y * z === 0) return;
    const shader = this.pipelines.shader(kernel, call.format);
    const blocks = shader.bindings.map((binding) => this.blockOf(named(kernel, call.arrays, binding.name)));
    const values = shader.params.map((param) => named(kernel, call.params, param.name));
    const { pipeline, group } = this.pipelines.bind({ kernel, format: call.format, constants: call.constants }, shader, blocks);
    if (this.parameters.full) this.submit();
    for (const block of blocks) block.usedIn = this.submission;
    const offset = this.parameters.add(shader, values);
    const pass = this.computePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, this.parameters.group, [offset]);
    pass.setBindGroup(1, group);
    pass.dispatchWorkgroups(x, y, z);
  }

  /** Workgroup counts that cover `items` workgroups of one item each, as the kernels' `y · width + x` numbers them. */
  grid(items: number): [number, number] {
    const limit = this.device.limits.maxComputeWorkgroupsPerDimension;
    const height = Math.max(1, Math.ceil(items / limit));
    return [Math.ceil(items / height), height];
  }

  async read(array: DeviceArray, offset: number, length: number): Promise<Float32Array | Uint32Array> {
    this.watch.throwIfLost();
    const block = this.blockOf(array);
    const View = array.type === 'f32' ? Float32Array : Uint32Array;
    if (length === 0) {
      await this.settle();
      return new View(0);
    }
    const bytes = length * 4;
    const staging = this.takeStaging(bytes);
    this.endPass().copyBufferToBuffer(block.buffer, offset * 4, staging, 0, bytes);
    this.submit();
    try {
      await this.watch.check(staging.mapAsync(1, 0, bytes)); // READ
    } catch (thrown) {
      staging.destroy();
      throw thrown;
    }
    const copy = staging.getMappedRange(0, bytes).slice(0);
    staging.unmap();
    this.staging.push(staging);
    return new View(copy);
  }

  async settle(): Promise<void> {
    this.watch.throwIfLost();
    this.submit();
    await this.watch.check(this.device.queue.onSubmittedWorkDone());
  }

  destroy(): void {
    this.watch.expectLoss();
    this.pool.destroy();
    this.parameters.destroy();
    for (const buffer of this.staging) buffer.destroy();
    this.device.destroy();
  }

  private submit(): void {
    if (!this.encoder) return;
    const encoder = this.endPass();
    this.parameters.flush();
    this.device.queue.submit([encoder.finish()]);
    this.encoder = undefined;
    this.submission++;
  }

  private computePass(): GPUComputePassEncoder {
    this.encoder ??= this.device.createCommandEncoder();
    this.pass ??= this.encoder.beginComputePass();
    return this.pass;
  }

  private endPass(): GPUCommandEncoder {
    this.pass?.end();
    this.pass = undefined;
    this.encoder ??= this.device.createCommandEncoder();
    return this.encoder;
  }

  private writeBytes(block: Block, offset: number, data: Float32Array | Uint32Array): void {
    for (let at = 0; at < data.byteLength; at += UPLOAD_CHUNK) {
      const size = Math.min(UPLOAD_CHUNK, data.byteLength - at);
      this.device.queue.writeBuffer(block.buffer, offset + at, data.buffer as ArrayBuffer, data.byteOffset + at, size);
    }
  }

  private takeStaging(bytes: number): GPUBuffer {
    const at = this.staging.findIndex((buffer) => buffer.size >= bytes);
    if (at >= 0) return this.staging.splice(at, 1)[0]!;
    for (const buffer of this.staging.splice(0, Math.max(0, this.staging.length - 3))) buffer.destroy();
    const size = 2 ** Math.ceil(Math.log2(Math.max(4096, bytes)));
    return this.device.createBuffer({ size, usage: 0x01 | 0x08, label: 'staging' }); // MAP_READ | COPY_DST
  }

  private own(array: DeviceArray): GpuArray {
    const own = array as Partial<GpuArray> & DeviceArray;
    if (own.owner !== this) throw new NacreError('foreign-array', `Array ${array.label} is not of this WebGPU backend.`, DEFECT);
    return own as GpuArray;
  }

  private blockOf(array: DeviceArray): Block {
    const { block } = this.own(array);
    if (!block) throw new NacreError('array-freed', `Array ${array.label} was freed.`, DEFECT);
    return block;
  }
}

function named<T>(kernel: string, values: Readonly<Record<string, T>>, name: string): T {
  const value = values[name];
  if (value === undefined) throw new NacreError('bad-dispatch', `Kernel ${kernel} was not given ${name}.`, DEFECT);
  return value;
}
