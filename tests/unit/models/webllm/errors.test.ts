import { expect, it } from 'vitest';
import { NacreError } from '../../../../src/core/errors.ts';
import { readFailure, webLlmError } from '../../../../src/models/webllm/errors.ts';

const named = (name: string, message: string): Error => Object.assign(new Error(message), { name });
const context = { model: 'Qwen3-0.6B-q4f16_1-MLC', memoryBytes: 1.4e9 };

it.each<[string, unknown, string]>([
  [
    'no adapter',
    new Error("Unable to find a compatible GPU. This issue might be because your computer doesn't have a GPU"),
    'webgpu-unavailable',
  ],
  ['no WebGPU', named('WebGPUNotAvailableError', 'WebGPU is not supported in your current environment'), 'webgpu-unavailable'],
  ['no half precision', named('ShaderF16SupportError', 'This model requires WebGPU extension shader-f16'), 'f16-missing'],
  ['another feature', named('FeatureSupportError', 'This model requires feature subgroups, which …'), 'gpu-feature-missing'],
  ['loss while loading', named('DeviceLostError', 'The WebGPU device was lost while loading the model.'), 'gpu-out-of-memory'],
  ['no host memory', new RangeError('Array buffer allocation failed'), 'gpu-out-of-memory'],
  ['loss while running', named('ModelNotLoadedError', 'Model not loaded before trying to complete ChatCompletionRequest.'), 'gpu-lost'],
  ['a lost device', named('AbortError', 'A valid external Instance reference no longer exists.'), 'gpu-lost'],
  ['a long text', named('ContextWindowSizeExceededError', 'Prompt tokens exceed context window size'), 'context-length'],
  ['a full store', new DOMException('Quota exceeded.', 'QuotaExceededError'), 'storage-full'],
  [
    'an old library',
    named('LinkError', 'WebAssembly.instantiate(): Import #0 "env" "TVMFFI": function import requires a callable'),
    'library-mismatch',
  ],
  ['a schema too clever', named('GrammarMatcherInitError', 'Failed to initialize the grammar'), 'schema-refused'],
  ['a schema that is none', new Error('Failed to parse schema string "": Unexpected end of JSON input'), 'schema-refused'],
  ['messages out of order', named('MessageOrderError', 'Last message should be from either `user` or `tool`.'), 'messages-refused'],
  ['a cut network', new TypeError('Failed to fetch'), 'host-unreachable'],
  ['a cut store', named('SyntaxError', 'Unexpected end of JSON input'), 'model-files-damaged'],
  ['a shard of a wrong size', new RangeError('Invalid typed array length: 12'), 'model-files-damaged'],
  ['something new', new Error('The moon is full'), 'webllm-failed'],
])('names %s', (_, thrown, code) => {
  const error = webLlmError(thrown, context);
  expect(error).toBeInstanceOf(NacreError);
  expect(error.code).toBe(code);
  expect(error.message).toMatch(/[.]$/);
  expect(error.hint).toMatch(/[.]$/);
  // WebLLM sends its errors between threads as text.
  if (thrown instanceof Error && code !== 'storage-full') expect(webLlmError(`${thrown.name}: ${thrown.message}`, context).code).toBe(code);
});

it('keeps errors that already say what to do', () => {
  const error = new NacreError('offline', 'Offline.', 'Connect.');
  expect(webLlmError(error, context)).toBe(error);
});

it('takes names and messages apart', () => {
  expect(readFailure('DeviceLostError: gone: really')).toEqual({ name: 'DeviceLostError', message: 'gone: really' });
  expect(readFailure('http://x: y')).toEqual({ name: 'Error', message: 'http://x: y' });
  expect(readFailure(new TypeError('no'))).toEqual({ name: 'TypeError', message: 'no' });
});
