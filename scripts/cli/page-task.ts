import { type PlainError, toPlainError } from '../../src/core/errors.ts';
import { type ModelTask, runTask } from '../../src/models/own/commands.ts';
import { loadModel } from '../../src/models/own/source.ts';
import { createBackend } from '../../src/tensor/index.ts';
import { urlSource } from '../../src/transformer/file-source.ts';

export type PageAnswer = { readonly result: unknown } | { readonly error: PlainError };

declare global {
  /** What the command line calls in the page that `chromium-task.ts` serves. */
  var nacreTask: (id: string, task: ModelTask) => Promise<PageAnswer>;
}

globalThis.nacreTask = async (id, task) => {
  try {
    const model = await loadModel(urlSource(new URL('model/', location.href)), id);
    const { backend } = await createBackend('webgpu');
    return { result: await runTask(backend, model, task) };
  } catch (thrown) {
    return { error: toPlainError(thrown) };
  }
};
