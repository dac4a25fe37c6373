import { WEBLLM_RECORDS } from './catalogue.generated.ts';

/** A model as @mlc-ai/web-llm describes it (`ModelRecord`); plain data. */
export interface WebLlmRecord {
  /** Address of the folder with the weights. */
  readonly model: string;
  readonly model_id: string;
  /** Address of the compiled library: WebAssembly with WGSL inside. */
  readonly model_lib: string;
  readonly vram_required_MB?: number;
  readonly low_resource_required?: boolean;
  /** Needed `maxStorageBufferBindingSize`. */
  readonly buffer_size_required_bytes?: number;
  readonly required_features?: readonly string[];
  /** 0 or absent: language model, 1: embeddings, 2: language and images. */
  readonly model_type?: number;
  /** Newer packages list their files in a manifest of this name. */
  readonly model_manifest?: string;
  readonly overrides?: { readonly context_window_size?: number; readonly [key: string]: unknown };
}

/** What of the machine decides which models run; see `describeAdapter` for the first four. */
export interface WebLlmMachine {
  readonly webgpu: boolean;
  /** An adapter that runs on the CPU: right, and far too slow to be useful. */
  readonly software: boolean;
  readonly f16: boolean;
  /** `maxStorageBufferBindingSize` in bytes. */
  readonly bufferBytes: number;
  /** Memory of the device in GiB as far as the browser tells; browsers say at most 8. */
  readonly memoryGiB?: number;
  /** What the browser still lets this page store, in bytes. */
  readonly freeBytes?: number;
}

export interface WebLlmEntry {
  readonly id: string;
  readonly title: string;
  /** As MLC names it: `q4f16_1`, `q0f32`, … */
  readonly quantisation: string;
  /** Computes in half precision, which needs the feature `shader-f16`. */
  readonly f16: boolean;
  /** Number of weights as the name tells it; 0 where it does not. */
  readonly parameters: number;
  /** GPU memory in use, weights and working memory, in bytes; 0 where the package does not say. */
  readonly memoryBytes: number;
  /** About how much is downloaded, in bytes, 0 where unknown; `downloadPlan` asks the server for the exact size. */
  readonly downloadBytes: number;
  readonly contextLength: number;
  /** Meant for phones and small laptops as well. */
  readonly small: boolean;
  readonly record: WebLlmRecord;
}

export type Fit =
  | { readonly runs: true /** What to expect, where that is not good. */; readonly warning?: string }
  | { readonly runs: false; readonly reason: string };

export interface ListedWebLlmModel extends WebLlmEntry {
  readonly fit: Fit;
}

const EMBEDDING = 1;
const DEFAULT_CONTEXT = 4096;
/** The binding size that every device with WebGPU has. */
const GUARANTEED_BUFFER = 128 * 2 ** 20;
/** Browsers round the memory they tell down to at most this many GiB. */
const MEMORY_CEILING_GIB = 8;
/** Part of the memory that models may fill; the system and the page need the rest. */
const USABLE_MEMORY = 0.75;

/** Models that answer, the package's own list unless another is given; embedding models are left out. */
export function webLlmEntries(records: readonly WebLlmRecord[] = WEBLLM_RECORDS): readonly WebLlmEntry[] {
  return records.filter(({ model_type }) => model_type !== EMBEDDING).map(toEntry);
}

export function toEntry(record: WebLlmRecord): WebLlmEntry {
  const id = record.model_id;
  const quantisation = /q\d+[bf]?f(?:16|32)(?:_\d)?/.exec(id)?.[0] ?? '';
  const parameters = parametersIn(id);
  return {
    id,
    title: titleOf(id, quantisation),
    quantisation,
    f16: quantisation.includes('f16') || (record.required_features ?? []).includes('shader-f16'),
    parameters,
    memoryBytes: Math.round((record.vram_required_MB ?? 0) * 1e6),
    downloadBytes: Math.round(parameters * bytesPerWeight(quantisation)),
    contextLength: record.overrides?.context_window_size ?? DEFAULT_CONTEXT,
    small: record.low_resource_required ?? false,
    record,
  };
}

/** Whether a machine can run a model, and what stands against it. */
export function fitOf(entry: WebLlmEntry, machine: WebLlmMachine): Fit {
  if (!machine.webgpu) return { runs: false, reason: 'WebLLM needs WebGPU, which this browser does not offer.' };
  if (entry.f16 && !machine.f16) return { runs: false, reason: 'This GPU or browser has no half precision (shader-f16).' };
  const buffer = entry.record.buffer_size_required_bytes ?? GUARANTEED_BUFFER;
  if (machine.bufferBytes < buffer) {
    return { runs: false, reason: `It binds ${megabytes(buffer)} MB at once; this GPU allows ${megabytes(machine.bufferBytes)} MB.` };
  }
  if (machine.freeBytes !== undefined && machine.freeBytes < entry.downloadBytes) {
    const free = `${megabytes(machine.freeBytes)} MB`;
    return {
      runs: false,
      reason: `It takes about ${megabytes(entry.downloadBytes)} MB to store; the browser has ${free} left for this page.`,
    };
  }
  if (machine.memoryGiB !== undefined && entry.memoryBytes > machine.memoryGiB * USABLE_MEMORY * 2 ** 30) {
    const warning = `It needs ${megabytes(entry.memoryBytes)} MB of GPU memory; this machine tells ${machine.memoryGiB} GiB in all.`;
    // A machine that tells the most a browser may tell can have any amount above it.
    if (machine.memoryGiB < MEMORY_CEILING_GIB) return { runs: false, reason: warning };
    return { runs: true, warning };
  }
  if (machine.software) return { runs: true, warning: 'The GPU is emulated on the CPU: expect minutes for a word.' };
  return { runs: true };
}

/** The list for a machine: what runs before what does not, small before large. */
export function listWebLlmModels(machine: WebLlmMachine, entries: readonly WebLlmEntry[] = webLlmEntries()): ListedWebLlmModel[] {
  return entries
    .map((entry) => ({ ...entry, fit: fitOf(entry, machine) }))
    .sort((a, b) => Number(b.fit.runs) - Number(a.fit.runs) || a.memoryBytes - b.memoryBytes || a.id.localeCompare(b.id));
}

/**
 * The variant of a model that a machine can run: the model itself, or its twin in single precision where half precision is
 * missing. Undefined where neither is in the list or the twin does not exist.
 */
export function variantFor(id: string, machine: WebLlmMachine, entries: readonly WebLlmEntry[] = webLlmEntries()): WebLlmEntry | undefined {
  const asked = entries.find((entry) => entry.id === id);
  if (!asked?.f16 || machine.f16) return asked;
  const twin = id.replace(asked.quantisation, asked.quantisation.replace('f16', 'f32'));
  return entries.find((entry) => entry.id === twin && !entry.f16);
}

/**
 * A record for a model that is not in the list: an address of a folder in MLC format and of the library compiled for it. A copy
 * of a listed model, known by the name of its folder, needs no library of its own.
 */
export function customRecord(model: string, library?: string, records: readonly WebLlmRecord[] = WEBLLM_RECORDS): WebLlmRecord | undefined {
  const id = folderName(model);
  const listed = records.find(({ model_id, model: url }) => model_id === id || folderName(url) === id);
  if (listed) return { ...listed, model, model_id: id, ...(library === undefined ? {} : { model_lib: library }) };
  return library === undefined ? undefined : { model, model_id: id, model_lib: library };
}

/** The last part of an address that names a model: not `resolve/main`. */
export function folderName(url: string): string {
  const path = url.replace(/[?#].*$/, '').replace(/\/resolve\/[^/]+\/?$/, '');
  return path.split('/').findLast((part) => part !== '') ?? url;
}

/** `0.6B`, `135M`, `1_6b` in a name: the number of weights; 0 without one. */
function parametersIn(id: string): number {
  const found = /(?:^|[-_])E?(\d+(?:[._]\d+)?)([bm])(?:[-_]|$)/i.exec(id);
  if (!found) return KNOWN_SIZES.find(([name]) => id.toLowerCase().startsWith(name))?.[1] ?? 0;
  return Number(found[1]!.replace('_', '.')) * (found[2]!.toLowerCase() === 'b' ? 1e9 : 1e6);
}

/** Families whose names do not tell their size. */
const KNOWN_SIZES: readonly (readonly [string, number])[] = [
  ['phi-3', 3.8e9],
  ['phi-4-mini', 3.8e9],
  ['phi-2', 2.7e9],
  ['phi-1_5', 1.3e9],
];

/** Stored bytes of one weight: groups of 32 with one scale of 16 bits; single precision is stored as bf16. */
function bytesPerWeight(quantisation: string): number {
  const bits = Number(/^q(\d+)/.exec(quantisation)?.[1] ?? 0);
  return bits === 0 ? 2 : bits / 8 + 2 / 32;
}

function titleOf(id: string, quantisation: string): string {
  const short = id.endsWith('-1k') ? ', 1k context' : '';
  const name = id.replace(/-MLC(-1k)?$/, '').replace(`-${quantisation}`, '');
  return quantisation === '' ? id : `${name} (${quantisation}${short})`;
}

function megabytes(bytes: number): number {
  return Math.ceil(bytes / 1e6);
}
