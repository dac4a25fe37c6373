import { type PlainError, toPlainError } from '../../src/core/errors.ts';
import { type ModelTask, runTask } from '../../src/models/own/commands.ts';
import { OwnEngine } from '../../src/models/own/engine.ts';
import { loadModel, openSource } from '../../src/models/own/source.ts';
import { createBackend } from '../../src/tensor/index.ts';

export type PageAnswer = { readonly result: unknown } | { readonly error: PlainError };

declare global {
  /** What the command line calls in the page that `chromium-task.ts` serves. */
  var nacreTask: (id: string, path: string, task: ModelTask) => Promise<PageAnswer>;
  /** Calls a method of the page's engine. */
  var nacreEngine: (method: string, args: readonly unknown[]) => Promise<PageAnswer>;
}

async function answered(work: () => Promise<unknown>): Promise<PageAnswer> {
  try {
    return { result: await work() };
  } catch (thrown) {
    return { error: toPlainError(thrown) };
  }
}

globalThis.nacreTask = (id, path, task) =>
  answered(async () => {
    const model = await loadModel(openSource({ kind: 'url', url: path }, location.href).source, id);
    const { backend } = await createBackend('webgpu');
    return runTask(backend, model, task);
  });

const engine = new OwnEngine() as unknown as Readonly<Record<string, (...args: unknown[]) => Promise<unknown>>>;
globalThis.nacreEngine = (method, args) => answered(() => engine[method](...args));
