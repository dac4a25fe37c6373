import { connectLab } from '../../../src/app/lab-client.ts';
import { type PlainError, toPlainError } from '../../../src/core/errors.ts';
import type { LabService, LocalModelFile, RunUpdate } from '../../../src/lab/service.ts';

export type Answer = { readonly result: unknown } | { readonly error: PlainError };

declare global {
  /** Calls a method of the lab of this page; what it tells of progress and texts is collected in `told`. */
  var callLab: (method: keyof LabService, args: readonly unknown[]) => Promise<Answer>;
  /** Copies the files at addresses into the browser's storage, as if a person had picked them. */
  var addFiles: (name: string, urls: readonly string[]) => Promise<Answer>;
  /** Opens a run and resolves with its last update when it stops working. */
  var playRun: (id: string) => Promise<RunUpdate>;
  var told: unknown[];
}

const lab = connectLab();
const methods = lab as unknown as Readonly<Record<string, (...args: unknown[]) => Promise<unknown>>>;
/** How many functions a method takes at its end. */
const LISTENERS: Partial<Record<keyof LabService, number>> = { downloadModel: 1, chat: 2 };

async function answered(work: () => Promise<unknown>): Promise<Answer> {
  try {
    return { result: await work() };
  } catch (thrown) {
    return { error: toPlainError(thrown) };
  }
}

globalThis.told = [];
globalThis.callLab = (method, args) =>
  answered(() => {
    const listeners = Array.from({ length: LISTENERS[method] ?? 0 }, () => (event: unknown) => void globalThis.told.push(event));
    return methods[method]!(...args, ...listeners);
  });
globalThis.addFiles = (name, urls) =>
  answered(async () => {
    const file = async (url: string): Promise<LocalModelFile> => ({
      path: url.slice(url.lastIndexOf('/') + 1),
      blob: await (await fetch(url)).blob(),
    });
    return lab.addLocalModel(name, await Promise.all(urls.map(file)));
  });
globalThis.playRun = (id) =>
  new Promise((resolve, reject) => {
    lab
      .openRun(id, (update) => {
        globalThis.told.push(update.progress.label);
        if (update.status === 'finished' || update.status === 'failed') resolve({ ...update, events: [] });
      })
      .catch(reject);
  });
