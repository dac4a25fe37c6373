import { NacreError } from '../../core/errors.ts';

/** The bytes contradict themselves or the format. */
export function damaged(file: string, problem: string, cause?: unknown): NacreError {
  return new NacreError('gguf-damaged', `${file} is damaged: ${problem}.`, `Download ${file} again.`, { cause });
}

export function cutOff(file: string, problem: string): NacreError {
  return new NacreError('gguf-cut-off', `${file} is cut off: ${problem}.`, `Download ${file} again; the download may not have finished.`);
}

/** Metadata that is missing or cannot be used. */
export function badMetadata(file: string, key: string, problem: string): NacreError {
  return new NacreError('gguf-metadata', `${file}: metadata ${key} ${problem}.`, 'Use a file written by a current converter of llama.cpp.');
}

export function unsupported(file: string, problem: string, hint: string): NacreError {
  return new NacreError('gguf-unsupported', `${file}: ${problem}.`, hint);
}
