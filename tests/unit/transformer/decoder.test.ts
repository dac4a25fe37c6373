import { describe, expect, it } from 'vitest';
import { createCpuBackend } from '../../../src/tensor/cpu/backend.ts';
import { Decoder } from '../../../src/transformer/decoder.ts';
import { RowBuilder } from '../../../src/transformer/session.ts';
import type { Architecture, DecoderConfig } from '../../../src/transformer/weights.ts';
import { randomTokens, tinyConfig, tinyWeights } from '../../transformer/models.ts';
import { referenceForward, referenceWeights } from '../../transformer/reference.ts';

const variants: [Architecture, Partial<DecoderConfig>][] = [
  ['qwen3', {}],
  ['qwen3', { tied: false, kvHeads: 1, heads: 3, headDim: 16, hidden: 48, embedScale: 3.5 }],
  ['qwen2', {}],
  ['llama', {}],
  ['llama', { tied: true, hidden: 33, ffn: 65, heads: 4, kvHeads: 4, layers: 1 }],
];

/** All positions of one sequence whose keys and values start at `start`. */
function rowsOf(tokens: readonly number[], start: number, first = 0, into = new RowBuilder()): RowBuilder {
  for (let i = first; i < tokens.length; i++) into.add(tokens[i]!, i, start + i, [0, 0, start, i + 1]);
  return into;
}

const all = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

describe('decoder', () => {
  it.each(variants)('%s %j agrees with a float64 computation', async (architecture, changes) => {
    const config = tinyConfig(architecture, changes);
    const weights = tinyWeights(config);
    const tokens = randomTokens(41, config.vocab, `${architecture} tokens`);
    const decoder = new Decoder(await createCpuBackend(), weights);
    const region = decoder.arena.allocate(64);
    const logits = await decoder.forward(rowsOf(tokens, region.start).packed(all(tokens.length)));
    const wanted = referenceForward(config, referenceWeights(weights), tokens).logits.flat();
    const worst = wanted.reduce((top, value, i) => Math.max(top, Math.abs(value - logits[i]!)), 0);
    expect(worst).toBeLessThan(3e-5);
    expect(Math.max(...wanted.map(Math.abs))).toBeGreaterThan(1);
  });

  it('gives the same bits alone, in a batch, behind a prefix, and read in pieces', async () => {
    const config = tinyConfig('qwen3', { contextLength: 2048 });
    const decoder = new Decoder(await createCpuBackend(), tinyWeights(config));
    const tokens = randomTokens(45, config.vocab, 'invariance');
    const last = [tokens.length - 1];
    const alone = await decoder.forward(rowsOf(tokens, decoder.arena.allocate(64).start).packed(last));

    const batch = rowsOf(randomTokens(700, config.vocab, 'neighbour'), decoder.arena.allocate(700).start);
    rowsOf(tokens, decoder.arena.allocate(64).start, 0, batch);
    expect(await decoder.forward(batch.packed([batch.count - 1]))).toEqual(alone);

    const pieces = decoder.arena.allocate(64).start;
    await decoder.forward(rowsOf(tokens.slice(0, 17), pieces).packed([]));
    expect(await decoder.forward(rowsOf(tokens, pieces, 17).packed([tokens.length - 18]))).toEqual(alone);

    const prefix = decoder.arena.allocate(20).start;
    const own = decoder.arena.allocate(64).start;
    const rows = rowsOf(tokens.slice(0, 20), prefix);
    for (let i = 20; i < tokens.length; i++) rows.add(tokens[i]!, i, own + i - 20, [prefix, 20, own, i - 19]);
    expect(await decoder.forward(rows.packed(last))).toEqual(alone);
  });

  it('returns the logits of the wanted rows only, in order, over several chunks', async () => {
    const config = tinyConfig('llama', { contextLength: 2048 });
    const decoder = new Decoder(await createCpuBackend(), tinyWeights(config));
    const tokens = randomTokens(1100, config.vocab, 'chunks');
    const start = decoder.arena.allocate(1100).start;
    const some = [0, 511, 512, 700, 1023, 1024, 1099];
    const logits = await decoder.forward(rowsOf(tokens, start).packed(some));
    const everything = await decoder.forward(rowsOf(tokens, start).packed(all(1100)));
    some.forEach((row, i) => {
      expect(logits.slice(i * config.vocab, (i + 1) * config.vocab)).toEqual(
        everything.slice(row * config.vocab, (row + 1) * config.vocab),
      );
    });
  });

  it('names a token outside the vocabulary', async () => {
    const decoder = new Decoder(await createCpuBackend(), tinyWeights(tinyConfig('llama')));
    const start = decoder.arena.allocate(4).start;
    await expect(decoder.forward(rowsOf([1, 37], start).packed([1]))).rejects.toMatchObject({ code: 'token-out-of-range' });
  });
});
