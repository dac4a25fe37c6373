import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { parseArgs } from '../../scripts/cli/args.ts';
import { run as generate } from '../../scripts/cli/generate.ts';
import { run as probe } from '../../scripts/cli/probe.ts';
import type { Reference } from '../gguf/reference.ts';
import { sharedPath } from '../shared.ts';

const STORIES = fileURLToPath(new URL('../fixtures/stories260K', import.meta.url));

it('generates on WebGPU in headless Chromium what the CPU generates', async () => {
  const words = ['generate', '--model', STORIES, '--prompt', 'Lily', '--max-tokens', '8'];
  const [cpu, gpu] = [await generate(parseArgs(words)), await generate(parseArgs([...words, '--backend', 'webgpu']))];
  expect(gpu.ids).toEqual(cpu.ids);
  expect(gpu.text).toBe(cpu.text);
});

const SMOLLM = 'data/models/smollm2-135m-instruct';
const gguf = sharedPath(`${SMOLLM}/SmolLM2-135M-Instruct.Q4_1.gguf`);
const reference = sharedPath(`${SMOLLM}/reference.json`);

it.skipIf(!gguf || !reference)('reads a published GGUF model in the page and finds the layer logits of a float64 computation', async () => {
  const { cases } = JSON.parse(readFileSync(reference!, 'utf8')) as Reference;
  const { ids, layer_logits: all } = cases.reduce((least, one) => (one.ids.length < least.ids.length ? one : least));
  // The software adapter takes its time: the first positions only.
  const wanted = all.toSorted((a, b) => a.position - b.position).slice(0, 2);
  const length = wanted.at(-1)!.position + 1;
  const at = wanted.map(({ position, token }) => `${position}:${token}`).join();
  const words = ['probe', '--model', gguf!, '--ids', ids.slice(0, length).join(), '--at', at, '--backend', 'webgpu'];
  const results = await probe(parseArgs(words));
  for (const [i, { raw, normed }] of wanted.entries()) {
    for (const [layer, value] of raw.entries()) expect(Math.abs(results[i]!.raw[layer]! - value)).toBeLessThan(1e-3);
    for (const [layer, value] of normed.entries()) expect(Math.abs(results[i]!.normed[layer]! - value)).toBeLessThan(1e-3);
  }
});

it('brings errors back with their code', async () => {
  const words = ['probe', '--model', STORIES, '--ids', '1,2', '--at', '7:1', '--backend', 'webgpu'];
  await expect(probe(parseArgs(words))).rejects.toMatchObject({ code: 'bad-probe-point' });
});

it('stops when asked to', async () => {
  const words = ['generate', '--model', STORIES, '--ids', '1', '--max-tokens', '500', '--backend', 'webgpu'];
  await expect(generate(parseArgs(words), AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
});
