import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseArgs } from '../../../scripts/cli/args.ts';
import { run as convert } from '../../../scripts/cli/convert.ts';
import { run as generate } from '../../../scripts/cli/generate.ts';
import { checkpointFile, pieceList, SMALL_SHAPE, tokenizerFile } from '../weights/llama2c-files.ts';

const STORIES = fileURLToPath(new URL('../../fixtures/stories260K', import.meta.url));
let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'nacre-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const at = (name: string): string => join(folder, name);

describe('convert and generate', () => {
  it('turn a llama2.c checkpoint with its tokenizer into a model that generates', async () => {
    const pieces = pieceList([' ', 'a', ' a']);
    const weights = checkpointFile({ ...SMALL_SHAPE, vocab: pieces.length });
    // Indices as weights would overflow float16.
    const view = new DataView(weights.buffer);
    for (let byte = 28; byte < weights.length; byte += 4) view.setFloat32(byte, Math.sin(byte), true);
    writeFileSync(at('small.bin'), weights);
    writeFileSync(at('tok262.bin'), tokenizerFile(pieces));
    const result = await convert(parseArgs(['convert', '--from', at('small.bin'), '--to', at('out'), '--quantization', 'q4f16_1']));
    expect(result.files).toContain('tensor-cache.json');
    expect(result.bytes).toBe(result.files.reduce((sum, path) => sum + readFileSync(join(at('out'), path)).length, 0));
    const text = await generate(
      parseArgs(['generate', '--model', at('out'), '--prompt', 'a', '--max-tokens', '2', '--temperature', '1', '--seed', '4']),
    );
    expect(text.promptIds).toEqual([1, 261]);
    expect(text.ids.length).toBe(2);
    const again = await generate(
      parseArgs(['generate', '--model', at('out'), '--prompt', 'a', '--max-tokens', '2', '--temperature', '1', '--seed', '4']),
    );
    expect(again.ids).toEqual(text.ids);
  });

  it('turn an MLC folder into safetensors', async () => {
    const result = await convert(parseArgs(['convert', '--from', STORIES, '--to', at('hub'), '--quantization', 'safetensors']));
    expect(result).toMatchObject({
      files: ['model.safetensors', 'tokenizer.json', 'tokenizer_config.json', 'config.json'],
      parameters: 260032,
    });
  });

  it('read messages and use every kind of prompt', async () => {
    writeFileSync(at('messages.json'), JSON.stringify([{ role: 'user', content: 'Once' }]));
    const model = ['generate', '--model', STORIES, '--max-tokens', '1'];
    expect((await generate(parseArgs([...model, '--messages', at('messages.json')]))).promptIds).toEqual([1, 403, 13]);
    expect((await generate(parseArgs([...model, '--prompt', 'Once']))).promptIds).toEqual([1, 403]);
    expect((await generate(parseArgs([...model, '--ids', '403']))).promptIds).toEqual([403]);
  });

  it.each<[string, string[], string, string]>([
    ['no --from', ['convert', '--to', 'x'], 'bad-usage', 'convert needs --from'],
    ['an absent checkpoint', ['convert', '--from', 'absent.bin', '--to', 'x'], 'file-missing', 'absent.bin'],
    ['an absent folder', ['convert', '--from', 'absent', '--to', 'x'], 'unknown-model', 'absent'],
    ['an absent GGUF file', ['convert', '--from', 'm.gguf', '--to', 'x'], 'unknown-model', 'm.gguf'],
    ['another file', ['convert', '--from', 'package.json', '--to', 'x'], 'unsupported-file', 'package.json'],
    ['the same folder twice', ['convert', '--from', STORIES, '--to', STORIES], 'bad-usage', 'same folder'],
    ['no prompt', ['generate', '--model', STORIES], 'bad-usage', '--prompt, --messages and --ids'],
    ['two prompts', ['generate', '--model', STORIES, '--ids', '1', '--prompt', 'x'], 'bad-usage', '--prompt and --ids'],
    ['an id outside the vocabulary', ['generate', '--model', STORIES, '--ids', '512'], 'token-out-of-range', '512'],
    [
      'a prompt that fills the context',
      ['generate', '--model', STORIES, '--ids', Array(512).fill(1).join()],
      'prompt-too-long',
      '512 tokens',
    ],
    ['absent messages', ['generate', '--model', STORIES, '--messages', 'absent.json'], 'file-missing', 'absent.json'],
  ])('refuse %s', async (_, argv, code, part) => {
    const args = parseArgs(argv);
    await expect((args.command === 'convert' ? convert : generate)(args)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(part),
    });
    expect(existsSync('x')).toBe(false);
  });

  it.each([
    ['{"role": "user"}', 'messages.json must be a list'],
    ['[]', 'at least one message'],
    ['[{"role": "robot", "content": "x"}]', 'field 0.role'],
    ['[{"role": "user"}]', 'field 0.content is missing'],
  ])('refuse the messages %s', async (text, part) => {
    writeFileSync(at('messages.json'), text);
    await expect(generate(parseArgs(['generate', '--model', STORIES, '--messages', at('messages.json')]))).rejects.toMatchObject({
      code: 'bad-field',
      message: expect.stringContaining(part),
    });
  });

  it('name a checkpoint without its tokenizer, and what is wanted', async () => {
    writeFileSync(at('lonely.bin'), checkpointFile(SMALL_SHAPE));
    await expect(convert(parseArgs(['convert', '--from', at('lonely.bin'), '--to', at('never')]))).rejects.toMatchObject({
      code: 'tokenizer-missing',
      message: expect.stringContaining('tok5.bin'),
    });
  });
});
