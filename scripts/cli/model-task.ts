import type { ModelTask } from '../../src/models/own/commands.ts';
import { runTask } from '../../src/models/own/commands.ts';
import { loadModel } from '../../src/models/own/source.ts';
import { createBackend } from '../../src/tensor/index.ts';
import { type ParsedArgs, textOption } from './args.ts';
import { findModel } from './node-files.ts';
import { nodeGpu } from './node-gpu.ts';
import { loadProgress } from './progress.ts';

/**
 * Runs a command on the model that `--model` names and the backend that `--backend` names: `cpu` in this process; `webgpu`
 * on a GPU that Node itself can reach, if there is one, and else in headless Chromium.
 */
export async function runModelTask(args: ParsedArgs, task: ModelTask, signal: AbortSignal | undefined): Promise<unknown> {
  const found = findModel('model', textOption(args, 'model') ?? 'nacre-tiny');
  const kind = textOption(args, 'backend') === 'webgpu' ? 'webgpu' : 'cpu';
  const gpu = kind === 'webgpu' ? await nodeGpu() : undefined;
  if (kind === 'webgpu' && gpu === undefined) {
    const { runInChromium } = await import('./chromium-task.ts');
    return runInChromium(found, task, signal);
  }
  const model = await loadModel(found.source, found.id, { onProgress: loadProgress(), ...(signal === undefined ? {} : { signal }) });
  const { backend } = await createBackend(kind, gpu === undefined ? {} : { gpu });
  try {
    return await runTask(backend, model, task, signal);
  } finally {
    backend.destroy();
  }
}
