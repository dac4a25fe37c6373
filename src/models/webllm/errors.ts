import { NacreError } from '../../core/errors.ts';
import { isQuotaError, storageFull } from '../download.ts';

/** What WebLLM says, taken apart: its classes are lost on the way from one thread to another, their names are not. */
export interface WebLlmFailure {
  readonly name: string;
  readonly message: string;
}

/** Takes an error, or the text `Name: message` that WebLLM sends between threads. */
export function readFailure(thrown: unknown): WebLlmFailure {
  if (thrown instanceof Error) return { name: thrown.name, message: thrown.message };
  const text = String(thrown);
  const found = /^([A-Za-z]*(?:Error|Exception)): ([\s\S]*)$/.exec(text);
  return found ? { name: found[1]!, message: found[2]! } : { name: 'Error', message: text };
}

/** What was being done, for the message and the remedy. */
export interface FailureContext {
  readonly model: string;
  readonly memoryBytes?: number;
}

type Maker = (failure: WebLlmFailure, context: FailureContext) => NacreError;

/** Each kind of failure with the names and texts it shows itself by; the first that fits is taken. */
const KINDS: readonly (readonly [RegExp, Maker])[] = [
  [/^ContextWindowSizeExceededError:/, (failure, context) => contextExceeded(failure, context)],
  [
    /^(?:WebGPUNotAvailableError|WebGPUNotFoundError):|unable to find a compatible gpu|cannot initialize runtime because of requested/i,
    (failure) =>
      new NacreError(
        'webgpu-unavailable',
        `WebLLM finds no usable GPU: ${sentence(failure.message)}`,
        'Use a recent Chrome, Edge or Safari with graphics acceleration switched on, or a GGUF model, which needs no GPU.',
      ),
  ],
  [
    /^ShaderF16SupportError:|shader-f16/,
    (_, { model }) =>
      new NacreError(
        'f16-missing',
        `${model} computes in half precision, which this GPU or browser does not offer (shader-f16).`,
        'Choose the same model with f32 in place of f16 in its name.',
      ),
  ],
  [
    /^FeatureSupportError:/,
    ({ message }, { model }) =>
      new NacreError('gpu-feature-missing', `${model} does not run on this GPU: ${sentence(message)}`, 'Choose another model of the list.'),
  ],
  [
    /^DeviceLostError:|out ?of ?memory|allocation failed|failed to allocate|not enough memory|memory access out of bounds/i,
    (_, context) => outOfMemory(context),
  ],
  [
    /^(?:ModelNotLoadedError|WorkerEngineModelNotLoadedError|SpecifiedModelNotFoundError):|device (?:was |is )?lost|instance reference no longer exists/i,
    (_, context) => gpuLost(context),
  ],
  [
    /^(?:LinkError|CompileError|RuntimeError): .*(?:import|wasm|WebAssembly)|WebAssembly\.(?:instantiate|compile)|cannot find (?:function|module)/i,
    ({ message }, { model }) =>
      new NacreError(
        'library-mismatch',
        `The library of ${model} does not fit this version of WebLLM: ${sentence(message)}`,
        "Use a library compiled for this version, or the model of this name in the package's list.",
      ),
  ],
  [
    /^(?:GrammarMatcherInitError|InvalidResponseFormat\w*|CustomResponseFormatError):|json ?schema|parse schema|grammar/i,
    ({ message }, { model }) =>
      new NacreError(
        'schema-refused',
        `${model} cannot be held to this JSON schema: ${sentence(message)}`,
        'Use a simpler schema (objects, arrays, strings, numbers, enums), or ask for JSON in words.',
      ),
  ],
  [
    /^(?:MessageOrderError|SystemMessageOrderError|UnsupportedRoleError|ContentTypeError):/,
    ({ message }, { model }) =>
      new NacreError(
        'messages-refused',
        `${model} does not take these messages: ${sentence(message)}`,
        'One system message may come first; the last message must be from the user.',
      ),
  ],
  [
    /failed to fetch|networkerror|network error|load failed|^(?:Error: )?cannot fetch|failed to store|failed to execute 'add' on 'cache'/i,
    ({ message }, { model }) =>
      new NacreError(
        typeof navigator !== 'undefined' && navigator.onLine === false ? 'offline' : 'host-unreachable',
        `A file of ${model} could not be downloaded: ${sentence(message)}`,
        'Check the network and the address of the model, then load it again: what has arrived is kept.',
      ),
  ],
  [
    /^(?:SyntaxError|RangeError|TypeError): .*(?:JSON|typed array|offset|length|byte)|Packed BF16 record|unexpected end|^IntegrityError:|^ArtifactManifestError:/i,
    (_, { model }) => filesDamaged(model),
  ],
];

/** The error people are told for what WebLLM threw. */
export function webLlmError(thrown: unknown, context: FailureContext): NacreError {
  if (thrown instanceof NacreError) return thrown;
  if (isQuotaError(thrown)) return storageFull(context.model, context.memoryBytes ?? 0);
  const failure = readFailure(thrown);
  const text = `${failure.name}: ${failure.message}`;
  const make = KINDS.find(([pattern]) => pattern.test(text))?.[1];
  if (make) return make(failure, context);
  return new NacreError(
    'webllm-failed',
    `WebLLM failed on ${context.model}: ${sentence(text)}`,
    'Check the stored files of the model in the library, or delete it and download it again. If it fails again, choose another model.',
    { cause: thrown },
  );
}

export function gpuLost({ model }: FailureContext): NacreError {
  return new NacreError(
    'gpu-lost',
    `The GPU was lost while ${model} was running, and again after it had been loaded anew.`,
    'Close other pages that use the GPU, keep this tab in sight (browsers take the GPU from hidden ones), then resume: finished work is kept. If it happens again, choose a smaller model.',
  );
}

export function outOfMemory({ model, memoryBytes }: FailureContext): NacreError {
  const need = memoryBytes ? ` It needs about ${Math.ceil(memoryBytes / 1e6)} MB.` : '';
  return new NacreError(
    'gpu-out-of-memory',
    `${model} does not fit the memory of this GPU.${need}`,
    'Choose a smaller model, load it with a shorter context, or close other pages that use the GPU.',
  );
}

export function filesDamaged(model: string, files: readonly string[] = []): NacreError {
  const which =
    files.length === 0 ? 'Stored files' : `${files.slice(0, 3).join(', ')}${files.length > 3 ? ` and ${files.length - 3} more` : ''}`;
  return new NacreError(
    'model-files-damaged',
    `${which} of ${model} ${files.length === 1 ? 'is' : 'are'} damaged or incomplete.`,
    files.length === 0
      ? 'Delete the model in the library and load it again.'
      : 'They have been deleted: load the model again to download them.',
  );
}

function contextExceeded({ message }: WebLlmFailure, { model }: FailureContext): NacreError {
  return new NacreError(
    'context-length',
    `The text does not fit the context window of ${model}: ${sentence(message)}`,
    'Load the model with a longer context, or choose one that has it.',
  );
}

/** The first sentence of a message, which may go on for a screen. */
function sentence(text: string): string {
  const first = text
    .trim()
    .split(/(?<=[.!?])\s|\n/)[0]!
    .slice(0, 240);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
