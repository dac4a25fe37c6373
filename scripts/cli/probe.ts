import type { ProbeResult } from '../../src/models/own/commands.ts';
import type { ProbePoint } from '../../src/transformer/probe.ts';
import { idList, type ParsedArgs, requiredOption, usage, wholeNumber } from './args.ts';
import { runModelTask } from './model-task.ts';

export interface ProbeRequest {
  readonly ids: readonly number[];
  readonly points: readonly ProbePoint[];
}

/** `probe`: layer logits of chosen tokens at chosen positions. @throws {NacreError} for bad input. */
export async function run(args: ParsedArgs, signal?: AbortSignal): Promise<ProbeResult[]> {
  return (await runModelTask(args, { command: 'probe', ...probeRequest(args) }, signal)) as ProbeResult[];
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
