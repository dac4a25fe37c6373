import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NacreError } from '../../../src/core/errors.ts';
import { unpackMatrix } from '../../../src/tensor/cpu/unpack.ts';
import { halfSplit, readLlama2c } from '../../../src/transformer/llama2c/checkpoint.ts';
import { llama2cTokenizer, llama2cTokenizerConfig } from '../../../src/transformer/llama2c/tokenizer.ts';
import { Tokenizer } from '../../../src/transformer/tokenizer.ts';
import { sharedPath } from '../../shared.ts';
import { checkpointFile, pieceList, referenceEncode, SMALL_SHAPE, tokenizerFile } from './llama2c-files.ts';

const WORDS = [' ', 't', 'h', 'e', 'a', 'n', 'd', 'o', ' t', 'he', ' a', 'nd', ' the', ' and', 'on', 'ta', 'tot', 'é', '\n', '.', 'the'];

describe('a llama2.c checkpoint', () => {
  it('is taken apart in the order it was written', () => {
    const { config, embed, layers, finalNorm, unembed } = readLlama2c('x.bin', checkpointFile({ ...SMALL_SHAPE, tied: false }));
    expect(config).toMatchObject({
      architecture: 'llama',
      hidden: 8,
      ffn: 6,
      layers: 2,
      heads: 2,
      kvHeads: 1,
      headDim: 4,
      vocab: 5,
      contextLength: 4,
      tied: false,
    });
    expect(unpackMatrix(embed)[39]).toBe(39);
    expect(layers.map((layer) => layer.inputNorm[0])).toEqual([40, 48]);
    const q0 = 56;
    const k0 = q0 + 2 * 64;
    const v0 = k0 + 2 * 32;
    const qkv = unpackMatrix(layers[1].qkv);
    // Rows of head 0 come as 0, 2, 1, 3; the value rows stay in order.
    expect([0, 1, 2, 3].map((row) => qkv[row * 8] - (q0 + 64))).toEqual([0, 16, 8, 24]);
    expect([8, 9, 10, 11].map((row) => qkv[row * 8] - (k0 + 32))).toEqual([0, 16, 8, 24]);
    expect([12, 13, 14, 15].map((row) => qkv[row * 8] - (v0 + 32))).toEqual([0, 8, 16, 24]);
    const o0 = v0 + 2 * 32;
    expect(unpackMatrix(layers[1].o)[0]).toBe(o0 + 64);
    const norm0 = o0 + 128;
    const gate0 = norm0 + 16;
    const down0 = gate0 + 96;
    const up0 = down0 + 96;
    expect(layers[1].postNorm[0]).toBe(norm0 + 8);
    expect([unpackMatrix(layers[1].gateUp)[0], unpackMatrix(layers[1].gateUp)[48]]).toEqual([gate0 + 48, up0 + 48]);
    expect(unpackMatrix(layers[1].down)[0]).toBe(down0 + 48);
    expect(finalNorm[0]).toBe(up0 + 96);
    expect(unpackMatrix(unembed as NonNullable<typeof unembed>)[0]).toBe(up0 + 96 + 8 + 16);
  });

  it('has no unembedding of its own when the vocabulary size is positive', () => {
    const weights = readLlama2c('x.bin', checkpointFile(SMALL_SHAPE));
    expect([weights.config.tied, weights.unembed]).toEqual([true, undefined]);
  });

  it('may lie anywhere in a larger buffer, as files read by Node do', () => {
    const file = checkpointFile(SMALL_SHAPE);
    const pooled = Buffer.alloc(file.length + 3);
    pooled.set(file, 3);
    expect(readLlama2c('x.bin', pooled.subarray(3))).toEqual(readLlama2c('x.bin', file));
  });

  const edit = (change: (view: DataView) => void): Uint8Array => {
    const bytes = checkpointFile(SMALL_SHAPE);
    change(new DataView(bytes.buffer));
    return bytes;
  };
  it.each([
    ['cut off', checkpointFile(SMALL_SHAPE).slice(0, 400), 'file-size', 'x.bin is cut off'],
    ['cut off in the header', new Uint8Array(10), 'file-size', 'header'],
    ['too long', new Uint8Array([...checkpointFile(SMALL_SHAPE), 0, 0, 0, 0]), 'file-size', 'longer'],
    ['with zero layers', edit((view) => view.setInt32(8, 0, true)), 'bad-header', 'n_layers is 0'],
    ['with absurd sizes', edit((view) => view.setInt32(0, 0x7fffffff, true)), 'bad-header', 'dim is 2147483647'],
    ['with a vocabulary of the least int32', edit((view) => view.setInt32(20, -0x80000000, true)), 'bad-header', 'vocab_size'],
    ['with heads that do not fit', edit((view) => view.setInt32(12, 3, true)), 'bad-header', '3 heads'],
    ['with key heads that do not fit', edit((view) => view.setInt32(16, 4, true)), 'bad-header', 'n_kv_heads'],
    ['of a later version', edit((view) => view.setUint32(0, 0x616b3432, true)), 'bad-header', 'versioned'],
    ['with NaN', edit((view) => view.setFloat32(28 + 4 * 41, Number.NaN, true)), 'not-finite', 'rms_att_weight of layer 0'],
  ])('%s is refused', (_, bytes, code, part) => {
    expect(() => readLlama2c('x.bin', bytes)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(part) }) as NacreError,
    );
  });
});

it('halfSplit keeps the products of queries with keys under rotation', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 12, maxLength: 12 }),
      fc.integer({ min: 0, max: 7 }),
      (values, position) => {
        const x = Float64Array.from(values.slice(0, 6));
        const interleaved = Array.from({ length: 3 }, (_, pair) => rotate(x[2 * pair], x[2 * pair + 1], position / 100 ** (pair / 3)));
        const split = halfSplit(Float32Array.from(x), 1, 6, 1);
        const halves = Array.from({ length: 3 }, (_, pair) => rotate(split[pair], split[pair + 3], position / 100 ** (pair / 3)));
        expect(halves).toEqual(interleaved);
      },
    ),
  );
});

function rotate(a: number, b: number, angle: number): [number, number] {
  return [a * Math.cos(angle) - b * Math.sin(angle), a * Math.sin(angle) + b * Math.cos(angle)];
}

describe("llama2.c's tokenizer", () => {
  const pieces = pieceList(WORDS);
  const tokenizer = Tokenizer.fromJson(llama2cTokenizer('tok.bin', tokenizerFile(pieces), pieces.length), llama2cTokenizerConfig(64));

  it('begins with BOS when asked, and knows its special tokens', () => {
    expect(tokenizer.encode('the')).toEqual([1, ...referenceEncode(pieces, 'the')]);
    expect([tokenizer.bosId, tokenizer.eosId]).toEqual([1, 2]);
    expect(tokenizer.decode([1, ...referenceEncode(pieces, 'the')])).toBe('the');
  });

  it('encodes any text as llama2.c does, and decodes it back', () => {
    const text = fc.string({
      unit: fc.constantFrom('t', 'h', 'e', ' ', 'a', 'n', 'd', 'o', 'é', 'x', '😀', '\n', '.', '▁'),
      maxLength: 30,
    });
    fc.assert(
      fc.property(text, (value) => {
        fc.pre(!value.includes('▁'));
        const ids = tokenizer.encode(value, { addSpecial: false });
        expect(ids).toEqual(referenceEncode(pieces, value));
        expect(tokenizer.decode(ids)).toBe(value);
      }),
      { numRuns: 500 },
    );
  });

  it('shows the space that a continuation begins with', () => {
    const [first, ...rest] = referenceEncode(pieces, 'the and');
    expect(tokenizer.decode(rest)).toBe('and');
    expect(tokenizer.decodeAfter([1, first], rest)).toBe(' and');
    expect(tokenizer.decodeAfter([1], [first, ...rest])).toBe('the and');
  });

  it.each([
    ['cut off', tokenizerFile(pieces).slice(0, -3), 'piece 279 is cut off'],
    ['short of pieces', tokenizerFile(pieces.slice(0, -1)), '279 pieces, but the checkpoint'],
    ['with a repeated piece', tokenizerFile([...pieces.slice(0, -1), [' t', -50]]), 'pieces 267 and 279 are the same'],
    ['with text that is not UTF-8', tokenizerFile([...pieces.slice(0, -1), [Uint8Array.of(0xc3), -50]]), 'piece 279 is not UTF-8'],
    ['with a broken score', tokenizerFile([...pieces.slice(0, -1), ['zz', Number.NaN]]), 'piece 279 has the score NaN'],
  ])('%s is refused', (_, bytes, part) => {
    expect(() => llama2cTokenizer('tok.bin', bytes, pieces.length)).toThrow(
      expect.objectContaining({ code: 'bad-tokenizer', message: expect.stringContaining(part) }) as NacreError,
    );
  });
});

const story = sharedPath('data/models/stories260K/greedy.txt');

describe.skipIf(story === undefined)('the published story', () => {
  it('encodes to the published ids', () => {
    const [, ...lines] = readFileSync(story as string, 'utf8')
      .trimEnd()
      .split('\n');
    const note = lines.pop() as string;
    const text = lines.join('\n');
    const bytes = readFileSync(sharedPath('data/models/stories260K/tok512.bin') as string);
    const tokenizer = Tokenizer.fromJson(llama2cTokenizer('tok512.bin', bytes, 512), llama2cTokenizerConfig(512));
    const ids = tokenizer.encode(text, { addSpecial: false });
    expect(ids.join(',').startsWith((/first ids ([\d,]+)/.exec(note) as RegExpExecArray)[1])).toBe(true);
    expect(createHash('sha256').update(ids.join(',')).digest('hex')).toBe((/sha256 (\w+)/.exec(note) as RegExpExecArray)[1]);
    expect(tokenizer.decode(ids)).toBe(text);
  });
});
