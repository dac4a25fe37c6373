import { NacreError } from '../../core/errors.ts';
import type { DeviceArray, ElementType } from '../backend.ts';
import { ErrorWatch } from './errors.ts';
import { type Block, BufferPool } from './pool.ts';
import { composeShader, type KernelName, type Shader, shareBindings, type WeightFormat } from './shader.ts';

/** An array in a GPU buffer; `block` is undefined once freed. */
export interface GpuArray extends DeviceArray {
  readonly owner: Recorder;
  block: Block | undefined;
}

export interface Dispatch {
  readonly arrays: Readonly<Record<string, DeviceArray>>;
  readonly params: Readonly<Record<string, number>>;
  readonly workgroups: readonly [number, number?, number?];
  readonly constants?: Readonly<Record<string, number>>;
  /** Storage of the weight matrix, for kernels that include `weights`. */
  readonly format?: WeightFormat;
}

interface Pipeline {
  readonly pipeline: GPUComputePipeline;
  readonly layout: GPUBindGroupLayout;
  readonly shader: Shader;
  readonly key: string;
}

/** Bytes of parameters a dispatch may have: the alignment every device accepts. */
const SLOT = 256;
const SLOTS = 512;
const MAX_BIND_GROUPS = 4096;
/** A software device works off a submission on the CPU: short ones keep the browser's watchdog quiet. */
const SOFTWARE_SLOTS = 64;
const UPLOAD_CHUNK = 64 * 2 ** 20;
const DEFECT = 'This is a defect of Nacre: please report it with the details.';

/**
 * Records dispatches into one command encoder and submits them when somebody reads, waits, overwrites what they use, or the block of
 * parameters is full. Parameters of all dispatches of a submission lie in one uniform buffer at dynamic offsets; bind groups and
 * pipelines are kept.
 */
export class Recorder {
  readonly pool: BufferPool;
  private readonly watch: ErrorWatch;
  private encoder: GPUCommandEncoder | undefined;
  private pass: GPUComputePassEncoder | undefined;
  private submission = 0;
  private slots = 0;
  private readonly maxSlots: number;
  private readonly uniforms: GPUBuffer;
  private readonly uniformWords = new Uint32Array((SLOT / 4) * SLOTS);
  private readonly uniformFloats = new Float32Array(this.uniformWords.buffer);
  private readonly uniformLayout: GPUBindGroupLayout;
  private readonly uniformGroup: GPUBindGroup;
  private readonly shaders = new Map<string, Shader>();
  private readonly pipelines = new Map<string, Pipeline>();
  private readonly bindGroups = new Map<string, GPUBindGroup>();
  private readonly staging: GPUBuffer[] = [];

  constructor(
    readonly device: GPUDevice,
    options: { readonly maxArrayBytes: number; readonly software: boolean; readonly onLost?: (error: NacreError) => void },
  ) {
    this.watch = new ErrorWatch(device, options.onLost);
    this.pool = new BufferPool(device, options.maxArrayBytes);
    this.maxSlots = options.software ? SOFTWARE_SLOTS : SLOTS;
    this.uniforms = device.createBuffer({ size: SLOT * SLOTS, usage: 0x40 | 0x08, label: 'parameters' }); // UNIFORM | COPY_DST
    this.uniformLayout = device.createBindGroupLayout({
      entries: [{ binding: 0, visibility: 4, buffer: { type: 'uniform', hasDynamicOffset: true, minBindingSize: SLOT } }], // COMPUTE
    });
    this.uniformGroup = device.createBindGroup({
      layout: this.uniformLayout,
      entries: [{ binding: 0, resource: { buffer: this.uniforms, size: SLOT } }],
    });
  }

  /** A new array; zeroed unless `dirty` (its first use overwrites it). */
  create(type: ElementType, length: number, label: string, dirty = false): GpuArray {
    this.watch.throwIfLost();
    const { block, fresh } = this.pool.take(length * 4, label);
    if (!fresh && !dirty) {
      this.endPass().clearBuffer(block.buffer);
      block.usedIn = this.submission;
    }
    return { type, length, label, owner: this, block };
  }

  upload(data: Float32Array | Uint32Array, label: string): GpuArray {
    this.watch.throwIfLost();
    const type = data instanceof Float32Array ? 'f32' : 'u32';
    const { block } = this.pool.take(data.byteLength, label, this.submission);
    this.writeBytes(block, 0, data);
    return { type, length: data.length, label, owner: this, block };
  }

  write(array: DeviceArray, data: Float32Array | Uint32Array, offset: number): void {
    this.watch.throwIfLost();
    const block = this.blockOf(array);
    // Queue writes happen before the commands still being recorded.
    if (block.usedIn === this.submission) this.submit();
    this.writeBytes(block, offset * 4, data);
  }

  clear(array: DeviceArray, offset: number, length: number): void {
    this.watch.throwIfLost();
    const block = this.blockOf(array);
    block.usedIn = this.submission;
    if (length > 0) this.endPass().clearBuffer(block.buffer, offset * 4, length * 4);
  }

  free(array: DeviceArray): void {
    const own = this.own(array);
    this.pool.release(this.blockOf(own), this.submission);
    own.block = undefined;
  }

  /** Runs `kernel` over `workgroups`. Arrays, parameters and constants are named as in the shader. */
  dispatch(kernel: KernelName, call: Dispatch): void {
    this.watch.throwIfLost();
    const [x, y = 1, z = 1] = call.workgroups;
    if (x * y * z === 0) return;
    const shader = this.shader(kernel, call.format);
    const blocks = shader.bindings.map((binding) => this.blockOf(named(kernel, call.arrays, binding.name)));
    const pipeline = this.pipeline(kernel, call, shader, blocks);
    if (this.slots === this.maxSlots) this.submit();
    const offset = this.slots++ * SLOT;
    this.writeParams(kernel, shader, call.params, offset / 4);
    const group = this.bindGroup(pipeline, shader, blocks);
    for (const block of blocks) block.usedIn = this.submission;
    const pass = this.computePass();
    pass.setPipeline(pipeline.pipeline);
    pass.setBindGroup(0, this.uniformGroup, [offset]);
    pass.setBindGroup(1, group);
    pass.dispatchWorkgroups(x, y, z);
  }

  /** Workgroup counts that cover `items` workgroups of one item each, as the kernels' `y · width + x` numbers them. */
  grid(items: number): [number, number] {
    const limit = this.device.limits.maxComputeWorkgroupsPerDimension;
    if (items <= limit) return [items, 1];
    const height = Math.ceil(items / limit);
    return [Math.ceil(items / height), height];
  }

  async read(array: DeviceArray, offset: number, length: number): Promise<Float32Array | Uint32Array> {
    this.watch.throwIfLost();
    if (length === 0) {
      await this.settle();
      return array.type === 'f32' ? new Float32Array(0) : new Uint32Array(0);
    }
    const block = this.blockOf(array);
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
    return array.type === 'f32' ? new Float32Array(copy) : new Uint32Array(copy);
  }

  async settle(): Promise<void> {
    this.watch.throwIfLost();
    this.submit();
    await this.watch.check(this.device.queue.onSubmittedWorkDone());
  }

  destroy(): void {
    this.watch.expectLoss();
    this.pool.destroy();
    this.uniforms.destroy();
    for (const buffer of this.staging) buffer.destroy();
    this.device.destroy();
  }

  private submit(): void {
    if (!this.encoder) return;
    const encoder = this.endPass();
    if (this.slots > 0) this.device.queue.writeBuffer(this.uniforms, 0, this.uniformWords, 0, (this.slots * SLOT) / 4);
    this.device.queue.submit([encoder.finish()]);
    this.encoder = undefined;
    this.slots = 0;
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

  private writeParams(kernel: KernelName, shader: Shader, params: Readonly<Record<string, number>>, at: number): void {
    shader.params.forEach(({ name, type }, i) => {
      const value = named(kernel, params, name);
      if (type === 'f32') this.uniformFloats[at + i] = value;
      else this.uniformWords[at + i] = value;
    });
  }

  private shader(kernel: KernelName, format: WeightFormat | undefined): Shader {
    const key = `${kernel} ${format ?? ''}`;
    let shader = this.shaders.get(key);
    if (!shader) {
      shader = composeShader(kernel, format);
      this.shaders.set(key, shader);
    }
    return shader;
  }

  private pipeline(kernel: KernelName, call: Dispatch, shader: Shader, blocks: readonly Block[]): Pipeline {
    const renamed = sharedNames(shader, blocks);
    const key = `${kernel} ${call.format ?? ''} ${JSON.stringify(call.constants ?? {})} ${[...renamed].join()}`;
    const found = this.pipelines.get(key);
    if (found) return found;
    const variant = shareBindings(shader, renamed);
    const layout = this.device.createBindGroupLayout({
      entries: variant.bindings.map(({ index, writes }) => ({
        binding: index,
        visibility: 4, // COMPUTE
        buffer: { type: writes ? 'storage' : 'read-only-storage' },
      })),
    });
    const pipeline = this.device.createComputePipeline({
      label: key,
      layout: this.device.createPipelineLayout({ bindGroupLayouts: [this.uniformLayout, layout] }),
      compute: { module: this.device.createShaderModule({ code: variant.code, label: key }), constants: { ...call.constants } },
    });
    const made = { pipeline, layout, shader: variant, key };
    this.pipelines.set(key, made);
    return made;
  }

  private bindGroup(pipeline: Pipeline, shader: Shader, blocks: readonly Block[]): GPUBindGroup {
    const key = `${pipeline.key} ${blocks.map((block) => block.id).join()}`;
    const found = this.bindGroups.get(key);
    if (found) return found;
    if (this.bindGroups.size >= MAX_BIND_GROUPS) this.bindGroups.clear();
    const kept = new Set(pipeline.shader.bindings.map((binding) => binding.index));
    const entries = shader.bindings.flatMap((binding, i) =>
      kept.has(binding.index) ? [{ binding: binding.index, resource: { buffer: blocks[i]!.buffer } }] : [],
    );
    const made = this.device.createBindGroup({ layout: pipeline.layout, entries });
    this.bindGroups.set(key, made);
    return made;
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

/** Names that share a buffer which the kernel writes, mapped to the name that keeps its binding. */
function sharedNames(shader: Shader, blocks: readonly Block[]): Map<string, string> {
  const renamed = new Map<string, string>();
  const written = new Map<number, string>();
  shader.bindings.forEach((binding, i) => {
    if (!binding.writes) return;
    const kept = written.get(blocks[i]!.id);
    if (kept === undefined) written.set(blocks[i]!.id, binding.name);
    else renamed.set(binding.name, kept);
  });
  shader.bindings.forEach((binding, i) => {
    const kept = written.get(blocks[i]!.id);
    if (!binding.writes && kept !== undefined) renamed.set(binding.name, kept);
  });
  return renamed;
}

function named<T>(kernel: string, values: Readonly<Record<string, T>>, name: string): T {
  const value = values[name];
  if (value === undefined) throw new NacreError('bad-dispatch', `Kernel ${kernel} was not given ${name}.`, DEFECT);
  return value;
}
