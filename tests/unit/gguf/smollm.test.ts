import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ggufFileSource } from '../../../scripts/cli/node-files.ts';
import { generateCommand, probeCommand } from '../../../src/models/own/commands.ts';
import { type LoadedModel, loadModel } from '../../../src/models/own/source.ts';
import { createCpuBackend } from '../../../src/tensor/cpu/backend.ts';
import { Decoder } from '../../../src/transformer/decoder.ts';
import { RowBuilder } from '../../../src/transformer/session.ts';
import type { Reference, ReferenceCase } from '../../gguf/reference.ts';
import { sharedPath } from '../../shared.ts';

const FOLDER = 'data/models/smollm2-135m-instruct';
const modelPath = sharedPath(`${FOLDER}/SmolLM2-135M-Instruct.Q4_1.gguf`);
const referencePath = sharedPath(`${FOLDER}/reference.json`);
const tokenizerPath = sharedPath(`${FOLDER}/tokenizer.json`);

/** A generated token is bound to be the reference's where that was ahead of the next by this much. */
const CLEAR = 0.05;

describe.skipIf(!modelPath || !referencePath)('SmolLM2-135M-Instruct in Q4_1', () => {
  const cases = referencePath ? (JSON.parse(readFileSync(referencePath, 'utf8')) as Reference).cases : [];
  let loaded: Promise<LoadedModel> | undefined;
  const model = (): Promise<LoadedModel> => {
    loaded ??= loadModel(ggufFileSource(modelPath!), 'smollm2');
    return loaded;
  };

  it('has the dimensions of its metadata', async () => {
    const { weights, parameters, bytes } = await model();
    expect(weights.config).toMatchObject({
      hidden: 576,
      layers: 30,
      heads: 9,
      kvHeads: 3,
      headDim: 64,
      ffn: 1536,
      vocab: 49152,
      tied: true,
    });
    expect(weights.config.eosIds).toContain(2);
    expect([parameters, bytes]).toEqual([134_515_008, 98_362_432]);
  });

  it.each(cases)('renders and encodes the conversation "$name"', async ({ messages, prompt, ids }) => {
    const { chatTemplate, tokenizer } = await model();
    const text = chatTemplate.render(messages, { addGenerationPrompt: true });
    expect(text).toBe(prompt);
    expect(tokenizer.encode(text, { addSpecial: chatTemplate.addSpecial })).toEqual(ids);
  });

  it('encodes like the tokenizer of its makers', async () => {
    if (!tokenizerPath) return;
    const { Tokenizer } = await import('../../../src/transformer/tokenizer.ts');
    const theirs = Tokenizer.fromJson(readFileSync(tokenizerPath, 'utf8'));
    const { tokenizer } = await model();
    const texts = [
      ' 3,14159 apples — don’t!',
      'def f(x):\n\treturn x**2  # done\n',
      'Ünïcödé 漢字 🦜\r\n\r\n',
      '<|im_start|>user\nhi<|im_end|>',
      '',
    ];
    for (const text of texts) expect(tokenizer.encode(text)).toEqual(theirs.encode(text));
  });

  it.each(cases)('computes the logits of "$name"', async ({ ids, last_logits_top16: top, last_logits_sum: sum }) => {
    const { weights } = await model();
    const backend = await createCpuBackend();
    const decoder = new Decoder(backend, weights);
    const start = decoder.arena.allocate(ids.length).start;
    const rows = new RowBuilder();
    for (const [i, id] of ids.entries()) rows.add(id, i, start + i, [0, 0, start, i + 1]);
    const logits = await decoder.forward(rows.packed([ids.length - 1]));
    for (const [id, value] of top) expect(Math.abs(logits[id]! - value)).toBeLessThan(1e-3);
    // Errors of single logits below 1e-3 that do not lean one way.
    expect(Math.abs(logits.reduce((total, value) => total + value, 0) - sum)).toBeLessThan(1e-3 * Math.sqrt(logits.length) * 10);
    backend.destroy();
  });

  it.each(cases)('computes the layer logits of "$name"', async ({ ids, layer_logits: wanted }) => {
    const backend = await createCpuBackend();
    const results = await probeCommand(backend, await model(), ids, wanted);
    for (const [i, { raw, normed }] of wanted.entries()) {
      expect(worst(results[i]!.raw, raw)).toBeLessThan(1e-3);
      expect(worst(results[i]!.normed, normed)).toBeLessThan(1e-3);
      expect(Math.abs(results[i]!.logit - normed.at(-1)!)).toBeLessThan(1e-3);
    }
    backend.destroy();
  });

  it.each(cases)('says what the reference says of "$name"', async ({ messages, greedy_ids: wanted, greedy_margins: margins }) => {
    const backend = await createCpuBackend();
    const request = { prompt: { messages }, maxTokens: wanted.length, temperature: 0, topP: 1, seed: 0 };
    const { ids } = await generateCommand(backend, await model(), request);
    const unclear = margins.findIndex((margin) => margin <= CLEAR);
    const bound = unclear < 0 ? wanted.length : unclear;
    expect(bound).toBeGreaterThan(0);
    expect(ids.slice(0, bound)).toEqual(wanted.slice(0, bound));
    backend.destroy();
  });
});

function worst(got: ArrayLike<number>, wanted: ReferenceCase['ids']): number {
  expect(got).toHaveLength(wanted.length);
  return wanted.reduce((top, value, i) => Math.max(top, Math.abs(value - got[i]!)), 0);
}
