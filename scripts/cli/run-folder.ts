import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NacreError } from '../../src/core/errors.ts';

/** What of a run must be the same when a folder is used again. */
export interface RunHead<C> {
  readonly config: C;
  readonly createdAt: number;
}

/** Takes a folder for a run, or opens the one it holds. @throws {NacreError} `run-folder-taken` when that is another's. */
export function openRunFolder<C>(out: string, config: C): RunHead<C> {
  const path = join(out, 'run.json');
  if (!existsSync(path)) {
    const head: RunHead<C> = { config, createdAt: Date.now() };
    writeFileSync(path, `${JSON.stringify(head, null, 2)}\n`);
    return head;
  }
  const head = JSON.parse(readFileSync(path, 'utf8')) as RunHead<C>;
  if (JSON.stringify(head.config) === JSON.stringify(config)) return head;
  throw new NacreError(
    'run-folder-taken',
    `--out: ${out} holds a run of another configuration or seed.`,
    'Choose another folder, or delete that one.',
  );
}
