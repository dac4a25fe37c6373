import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { parseArgs } from '../../scripts/cli/args.ts';
import { run as generate } from '../../scripts/cli/generate.ts';
import { run as probe } from '../../scripts/cli/probe.ts';

const STORIES = fileURLToPath(new URL('../fixtures/stories260K', import.meta.url));

it('generates on WebGPU in headless Chromium what the CPU generates', async () => {
  const words = ['generate', '--model', STORIES, '--prompt', 'Lily', '--max-tokens', '8'];
  const [cpu, gpu] = [await generate(parseArgs(words)), await generate(parseArgs([...words, '--backend', 'webgpu']))];
  expect(gpu.ids).toEqual(cpu.ids);
  expect(gpu.text).toBe(cpu.text);
});

it('brings errors back with their code', async () => {
  const words = ['probe', '--model', STORIES, '--ids', '1,2', '--at', '7:1', '--backend', 'webgpu'];
  await expect(probe(parseArgs(words))).rejects.toMatchObject({ code: 'bad-probe-point' });
});

it('stops when asked to', async () => {
  const words = ['generate', '--model', STORIES, '--ids', '1', '--max-tokens', '500', '--backend', 'webgpu'];
  await expect(generate(parseArgs(words), AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
});
