import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * The path of an optional data set that lies beside the repository (real checkpoints, recorded games, reference results),
 * or undefined where it is absent; tests that need it are then skipped with the reason printed.
 */
export function sharedPath(relative: string): string | undefined {
  const path = fileURLToPath(new URL(`../../shared/${relative}`, import.meta.url));
  if (existsSync(path)) return path;
  console.warn(`skipped: optional test data "${relative}" is not present beside the repository`);
  return undefined;
}
