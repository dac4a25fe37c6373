import { type PlainError, toPlainError } from '../../../src/core/errors.ts';
import { connectService } from '../../../src/core/rpc.ts';
import type { ModelService } from './worker.ts';

export type Answer = { readonly result: unknown } | { readonly error: PlainError };

declare global {
  /** Calls a method of the worker; progress and texts are collected in `seen`. */
  var callModels: (method: string, args: readonly unknown[]) => Promise<Answer>;
  var seen: unknown[];
}

const { remote } = connectService<ModelService>(new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' }));
const methods = remote as unknown as Readonly<Record<string, (...args: unknown[]) => Promise<unknown>>>;

globalThis.seen = [];
globalThis.callModels = async (method, args) => {
  try {
    return { result: await methods[method]!(...args, (event: unknown) => void globalThis.seen.push(event)) };
  } catch (thrown) {
    return { error: toPlainError(thrown) };
  }
};
