import type { Block } from './pool.ts';
import { composeShader, type KernelName, type Shader, shareBindings, type WeightFormat } from './shader.ts';

export interface PipelineRequest {
  readonly kernel: KernelName;
  readonly format: WeightFormat | undefined;
  readonly constants: Readonly<Record<string, number>> | undefined;
}

interface Pipeline {
  readonly key: string;
  readonly pipeline: GPUComputePipeline;
  readonly layout: GPUBindGroupLayout;
  /** Numbers of the bindings that are left after names that share a buffer were merged. */
  readonly kept: ReadonlySet<number>;
}

const MAX_BIND_GROUPS = 4096;

/** Compiled kernels and the bind groups of the buffers they ran on, made when first needed and kept. */
export class Pipelines {
  private readonly shaders = new Map<string, Shader>();
  private readonly pipelines = new Map<string, Pipeline>();
  private readonly bindGroups = new Map<string, GPUBindGroup>();

  constructor(
    private readonly device: GPUDevice,
    private readonly parameterLayout: GPUBindGroupLayout,
  ) {}

  shader(kernel: KernelName, format: WeightFormat | undefined): Shader {
    const key = `${kernel} ${format ?? ''}`;
    let shader = this.shaders.get(key);
    if (!shader) {
      shader = composeShader(kernel, format);
      this.shaders.set(key, shader);
    }
    return shader;
  }

  /** The pipeline and the group of `blocks`, which are in the order of `shader.bindings`. */
  bind(request: PipelineRequest, shader: Shader, blocks: readonly Block[]): { pipeline: GPUComputePipeline; group: GPUBindGroup } {
    const made = this.pipeline(request, shader, sharedNames(shader, blocks));
    const key = `${made.key} ${blocks.map((block) => block.id).join()}`;
    let group = this.bindGroups.get(key);
    if (!group) {
      if (this.bindGroups.size >= MAX_BIND_GROUPS) this.bindGroups.clear();
      const entries = shader.bindings.flatMap(({ index }, i) =>
        made.kept.has(index) ? [{ binding: index, resource: { buffer: blocks[i]!.buffer } }] : [],
      );
      group = this.device.createBindGroup({ layout: made.layout, entries });
      this.bindGroups.set(key, group);
    }
    return { pipeline: made.pipeline, group };
  }

  private pipeline(request: PipelineRequest, shader: Shader, renamed: ReadonlyMap<string, string>): Pipeline {
    const key = `${request.kernel} ${request.format ?? ''} ${JSON.stringify(request.constants ?? {})} ${[...renamed].join()}`;
    const found = this.pipelines.get(key);
    if (found) return found;
    const { code, bindings } = shareBindings(shader, renamed);
    const layout = this.device.createBindGroupLayout({
      entries: bindings.map(({ index, writes }) => ({
        binding: index,
        visibility: 4, // COMPUTE
        buffer: { type: writes ? 'storage' : 'read-only-storage' },
      })),
    });
    const pipeline = this.device.createComputePipeline({
      label: key,
      layout: this.device.createPipelineLayout({ bindGroupLayouts: [this.parameterLayout, layout] }),
      compute: { module: this.device.createShaderModule({ code, label: key }), constants: { ...request.constants } },
    });
    const made = { key, pipeline, layout, kept: new Set(bindings.map(({ index }) => index)) };
    this.pipelines.set(key, made);
    return made;
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
