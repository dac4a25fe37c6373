import { connectLab } from '../../../src/app/lab-client.ts';
import { type PlainError, toPlainError } from '../../../src/core/errors.ts';
import type { LabService, LocalModelFile, RunUpdate } from '../../../src/lab/service.ts';

export type Answer = { readonly result: unknown } | { readonly error: PlainError };

declare global {
  /** Calls a method of the lab of this page; what it tells of progress and texts is collected in `told`. */
  var callLab: (method: keyof LabService, args: readonly unknown[]) => Promise<Answer>;
  /** Copies a file at an address into the browser's storage, as if a person had picked it. */
  var addFile: (url: string) => Promise<Answer>;
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
globalThis.addFile = (url) =>
  answered(async () => {
    const path = url.slice(url.lastIndexOf('/') + 1);
    const files: LocalModelFile[] = [{ path, blob: await (await fetch(url)).blob() }];
    return lab.addLocalModel(path, files);
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
