import { describe, expect, it } from 'vitest';
import { loadModel, openSource } from '../../../src/models/own/source.ts';
import { memorySource } from '../../../src/transformer/file-source.ts';
import { mlcFiles, type WriteOptions } from '../../../src/transformer/mlc/write.ts';
import { randomWeights } from './random-weights.ts';

const VOCAB = { '<s>': 0, '</s>': 1, '<|user|>': 2, a: 3, b: 4 };
const tokenizerJson = JSON.stringify({
  added_tokens: ['<s>', '</s>', '<|user|>'].map((content, id) => ({ id, content, special: true })),
  model: { type: 'BPE', vocab: VOCAB, merges: [] },
});
const TOKENS = { bos_token: '<s>', eos_token: { content: '</s>' } };
const JINJA = "{{ bos_token }}{% for m in messages %}{{ '<|user|>' + m.content }}{% endfor %}";

const CONV = {
  name: 'toy',
  system_template: '{system_message}',
  system_message: '',
  add_role_after_system_message: true,
  roles: { user: '<|user|>', assistant: 'b' },
  role_templates: {},
  seps: ['</s>'],
  role_content_sep: '',
  role_empty_sep: '',
  stop_str: [],
  stop_token_ids: [1],
  system_prefix_token_ids: [0],
};

function files(options: Partial<WriteOptions>, extra: Readonly<Record<string, string>> = {}): Map<string, Uint8Array> {
  const { bosId: _, ...config } = randomWeights('qwen3').config;
  const weights = { ...randomWeights('qwen3'), config: { ...config, eosIds: [] } };
  const all = mlcFiles(weights, { quantisation: 'q0f16', tokenizerJson, ...options });
  for (const [path, text] of Object.entries(extra)) all.set(path, new TextEncoder().encode(text));
  return all;
}

const load = (all: Map<string, Uint8Array>) => loadModel(memorySource('memory', all), 'toy');
const hello = [{ role: 'user' as const, content: 'ab' }];

describe('loadModel', () => {
  it('takes a Jinja template before a conv_template', async () => {
    const model = await load(files({ tokenizerConfig: JSON.stringify({ ...TOKENS, chat_template: JINJA }), conv: CONV }));
    expect(model.chatTemplate.source).toBe('jinja');
    expect(model.chatTemplate.render(hello, { addGenerationPrompt: true })).toBe('<s><|user|>ab');
  });

  it('takes the default of several Jinja templates, or one in a file of its own', async () => {
    const named = [
      { name: 'tool_use', template: 'no' },
      { name: 'default', template: JINJA },
    ];
    const model = await load(files({ tokenizerConfig: JSON.stringify({ ...TOKENS, chat_template: named }) }));
    expect(model.chatTemplate.render(hello, { addGenerationPrompt: true })).toBe('<s><|user|>ab');
    const apart = await load(files({ tokenizerConfig: JSON.stringify(TOKENS) }, { 'chat_template.jinja': JINJA }));
    expect(apart.chatTemplate.render(hello, { addGenerationPrompt: true })).toBe('<s><|user|>ab');
    expect(JSON.parse(apart.tokenizerConfig as string)).toEqual({ ...TOKENS, chat_template: JINJA });
  });

  it('begins a conv_template with its prefix tokens', async () => {
    const model = await load(files({ conv: CONV }));
    expect(model.chatTemplate.source).toBe('conv_template');
    expect(model.chatTemplate.render(hello, { addGenerationPrompt: true })).toBe('<s><|user|>ab</s>b');
    expect(model.weights.config.eosIds).toEqual([1]);
  });

  it('lists contents when there is no template, and takes ends and BOS from the tokenizer', async () => {
    const model = await load(files({ tokenizerConfig: JSON.stringify(TOKENS) }));
    expect(model.chatTemplate).toMatchObject({ source: 'plain', addSpecial: true });
    expect(model.weights.config).toMatchObject({ eosIds: [1], bosId: 0 });
    expect(model.parameters).toBeGreaterThan(1000);
  });

  it('refuses a tokenizer with more tokens than the model, or none', async () => {
    const large = JSON.stringify({ model: { type: 'BPE', vocab: { a: 0, b: 19 }, merges: [] } });
    await expect(load(files({ tokenizerJson: large }))).rejects.toMatchObject({
      code: 'tokenizer-mismatch',
      message: expect.stringContaining('19'),
    });
    const without = files({});
    without.delete('tokenizer.json');
    await expect(load(without)).rejects.toMatchObject({ code: 'file-missing', message: expect.stringContaining('tokenizer.json') });
  });

  it('names a template that is none', async () => {
    const config = JSON.stringify({ ...TOKENS, chat_template: 7 });
    await expect(load(files({ tokenizerConfig: config }))).rejects.toMatchObject({
      code: 'bad-field',
      message: expect.stringContaining('chat_template'),
    });
  });
});

it('names sources after their model', () => {
  const base = 'https://example.org/nacre/';
  const name = (url: string): string => openSource({ kind: 'url', url }, base).id;
  expect(name('https://huggingface.co/mlc-ai/Qwen3-0.6B-q4f16_1-MLC/resolve/main/')).toBe('Qwen3-0.6B-q4f16_1-MLC');
  expect(name('my-models/x/')).toBe('x');
  expect(openSource({ kind: 'url', url: 'https://huggingface.co/mlc-ai/M-MLC' }, base).source.name).toBe(
    'https://huggingface.co/mlc-ai/M-MLC/resolve/main/',
  );
  expect(openSource({ kind: 'url', url: 'my-models/x' }, base).source.name).toBe(`${base}my-models/x/`);
  expect(openSource({ kind: 'shipped', id: 'nacre-tiny' }, base)).toMatchObject({
    id: 'nacre-tiny',
    source: { name: `${base}models/nacre-tiny/` },
  });
  expect(openSource({ kind: 'memory', id: 'm', files: new Map() }, base).id).toBe('m');
  expect(openSource({ kind: 'files', id: 'f', files: [] }, base).id).toBe('f');
});
