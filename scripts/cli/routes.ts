import { readFile } from 'node:fs/promises';
import { NacreError } from '../../src/core/errors.ts';
import { type RecordedRoutes, readRecorded, recordedRoutes } from '../../src/textual/recorded.ts';
import type { ParsedArgs } from './args.ts';
import { userPath } from './node-files.ts';

/** `routes FILE`: how recorded trajectories route and how many are distinct. */
export async function run(args: ParsedArgs): Promise<RecordedRoutes> {
  const path = args.positional[0] as string;
  return recordedRoutes(readRecorded(parse(await read(path), path), path));
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(userPath(path), 'utf8');
  } catch (cause) {
    const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : '';
    if (code === 'ENOENT') throw new NacreError('file-missing', `There is no file "${path}".`, 'Check the path.', { cause });
    if (code === 'EISDIR') throw new NacreError('file-missing', `"${path}" is a folder.`, 'Give a JSON file.', { cause });
    throw cause;
  }
}

function parse(text: string, path: string): unknown {
  try {
    // A byte-order mark is legal in files and not in JSON.
    return JSON.parse(text.replace(/^\ufeff/, '')) as unknown;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new NacreError('trajectories-invalid', `${path} is no JSON: ${reason}.`, 'Give a JSON list of rollouts.', { cause });
  }
}
