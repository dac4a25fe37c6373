import type { PlainSource } from '../backend.ts';
import { KERNELS, PARTS } from './shaders.generated.ts';

/**
 * A kernel's text and what the host must hand it, read from the text itself so that names are written once: a first line
 * `// include: a, b` names parts (`weights` stands for the one of the matrix's format), `struct Params` the parameters, and every
 * `@group(1)` variable an array.
 */

export type KernelName = keyof typeof KERNELS;
export type WeightFormat = PlainSource['format'];

export interface Binding {
  readonly name: string;
  readonly index: number;
  readonly writes: boolean;
}

export interface Parameter {
  readonly name: string;
  readonly type: 'u32' | 'f32';
}

export interface Shader {
  readonly code: string;
  readonly bindings: readonly Binding[];
  readonly params: readonly Parameter[];
}

const BINDING = /@group\(1\) @binding\((\d+)\) var<storage, (read|read_write)> (\w+): [^;]+;\n/g;

export function composeShader(name: KernelName, format?: WeightFormat): Shader {
  const kernel: string = KERNELS[name];
  const included = /^\/\/ include: (.*)\n/.exec(kernel)?.[1]?.split(', ') ?? [];
  const parts = included.map((part) => partText(part === 'weights' ? `weights_${format ?? 'f32'}` : part));
  const code = [kernel, ...parts].join('\n');
  const fields = /struct Params \{([^}]*)\}/.exec(code)?.[1] ?? '';
  return {
    code,
    bindings: [...code.matchAll(BINDING)].map((m) => ({ index: Number(m[1]), writes: m[2] === 'read_write', name: m[3]! })),
    params: [...fields.matchAll(/(\w+): (u32|f32),/g)].map((m) => ({ name: m[1]!, type: m[2] as Parameter['type'] })),
  };
}

function partText(name: string): string {
  const parts: Readonly<Record<string, string>> = PARTS;
  const text = parts[name];
  if (text === undefined) throw new Error(`shaders/parts has no ${name}.wgsl`);
  return text;
}

/**
 * The shader with some array names standing for others: WebGPU forbids binding a buffer twice in one dispatch when either binding
 * writes, so names that share an array must share a binding. `renamed` maps a name to the one that stays.
 */
export function shareBindings(shader: Shader, renamed: ReadonlyMap<string, string>): Shader {
  let code = shader.code;
  for (const [name, kept] of renamed) {
    code = code.replace(BINDING, (declaration, _index, _mode, declared) => (declared === name ? '' : declaration));
    code = code.replaceAll(new RegExp(`\\b${name}\\[`, 'g'), `${kept}[`);
  }
  return { ...shader, code, bindings: shader.bindings.filter((binding) => !renamed.has(binding.name)) };
}
