import { type ProbeResult, probeCommand } from '../../src/models/own/commands.ts';
import { loadModel } from '../../src/models/own/source.ts';
import { createBackend } from '../../src/tensor/index.ts';
import type { ProbePoint } from '../../src/transformer/probe.ts';
import { idList, type ParsedArgs, requiredOption, textOption, usage, wholeNumber } from './args.ts';
import { findModel } from './node-files.ts';
import { loadProgress } from './progress.ts';

export interface ProbeRequest {
  readonly ids: readonly number[];
  readonly points: readonly ProbePoint[];
}

/** `probe`: layer logits of chosen tokens at chosen positions, on the CPU. @throws {NacreError} for bad input. */
export async function run(args: ParsedArgs, signal?: AbortSignal): Promise<ProbeResult[]> {
  const { ids, points } = probeRequest(args);
  const { source, id } = findModel('model', textOption(args, 'model') ?? 'nacre-tiny');
  const model = await loadModel(source, id, { onProgress: loadProgress(), ...(signal === undefined ? {} : { signal }) });
  const { backend } = await createBackend('cpu');
  try {
    return await probeCommand(backend, model, ids, points);
  } finally {
    backend.destroy();
  }
}

/** What the options ask for. @throws {NacreError} `bad-usage`. */
export function probeRequest(args: ParsedArgs): ProbeRequest {
  const ids = idList('ids', requiredOption(args, 'ids'));
  const points = requiredOption(args, 'at')
    .split(',')
    .map((pair): ProbePoint => {
      const parts = pair.split(':');
      if (parts.length !== 2) throw usage(`--at holds "${pair}".`, 'Give POSITION:TOKEN pairs, e.g. 5:504,6:60.');
      const [position, token] = parts.map((part) => wholeNumber('at', part, 'POSITION:TOKEN pairs, e.g. 5:504,6:60'));
      return { position, token };
    });
  return { ids, points };
}
