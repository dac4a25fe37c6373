import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Random } from '../../../src/core/random.ts';
import { createCpuBackend } from '../../../src/tensor/cpu/backend.ts';
import { Decoder } from '../../../src/transformer/decoder.ts';
import { type Sequence, SequencePool, type TurnRequest } from '../../../src/transformer/session.ts';
import type { DecoderConfig } from '../../../src/transformer/weights.ts';
import { randomTokens, tinyConfig, tinyWeights } from '../../transformer/models.ts';

async function makePool(changes: Partial<DecoderConfig> = {}): Promise<SequencePool> {
  return new SequencePool(new Decoder(await createCpuBackend(), tinyWeights(tinyConfig('qwen3', changes))));
}

function request(sequence: Sequence, tokens: readonly number[], seed: number, changes: Partial<TurnRequest> = {}): TurnRequest {
  return { sequence, tokens, temperature: 1, topP: 1, maxTokens: 8, stopIds: [1], random: new Random(seed), ...changes };
}

describe('generation', () => {
  it('gives every sequence the same tokens whatever the batch, prefix or number of turns before', async () => {
    const pool = await makePool();
    const context = randomTokens(12, 37, 'context');
    const openings = [5, 1, 9, 30].map((n) => randomTokens(n, 37, `opening ${n}`));
    const alone = [];
    for (const [i, opening] of openings.entries()) {
      const sequence = pool.start();
      alone.push((await pool.decodeTurn([request(sequence, [...context, ...opening], i)]))[0]);
      pool.release(sequence);
    }
    const prefix = await pool.createPrefix(context);
    const sequences = openings.map(() => pool.start(prefix));
    pool.releasePrefix(prefix);
    const together = await pool.decodeTurn(sequences.map((sequence, i) => request(sequence, openings[i]!, i)));
    expect(together).toEqual(alone);
    for (const sequence of sequences) pool.release(sequence);
    expect(pool.decoder.arena.used).toBe(0);
  });

  it('continues in a later turn exactly as if everything had been read at once', async () => {
    const pool = await makePool();
    const first = randomTokens(6, 37, 'first');
    const second = randomTokens(7, 37, 'second');
    const sequence = pool.start();
    const [turn] = await pool.decodeTurn([request(sequence, first, 4)]);
    const [next] = await pool.decodeTurn([request(sequence, second, 5)]);
    const fresh = pool.start();
    const [whole] = await pool.decodeTurn([request(fresh, [...first, ...turn!.ids, ...second], 5)]);
    expect(next).toEqual(whole);
    expect(fresh.tokens).toEqual(sequence.tokens);
  });

  it('forks a sequence into one that goes its own way', async () => {
    const pool = await makePool();
    const prefix = await pool.createPrefix(randomTokens(9, 37, 'fork context'));
    const parent = pool.start(prefix);
    await pool.decodeTurn([request(parent, [3, 4, 5], 1)]);
    const children = [pool.fork(parent), pool.fork(parent)];
    const before = parent.tokens.slice();
    const [a, b, c] = await pool.decodeTurn([
      request(children[0]!, [7], 11),
      request(children[1]!, [7], 12, { maxTokens: 20 }),
      request(parent, [7], 11),
    ]);
    expect(c).toEqual(a);
    expect(b!.ids).not.toEqual(a!.ids);
    expect(children[0]!.tokens).toEqual([...before, 7, ...a!.ids]);
    pool.release(parent);
    const [later] = await pool.decodeTurn([request(children[0]!, [8], 3)]);
    expect(later!.ids.length).toBeGreaterThan(0);
    for (const child of children) pool.release(child);
    pool.releasePrefix(prefix);
    expect(pool.decoder.arena.used).toBe(0);
  });

  it('reports log-probabilities of the plain softmax, whatever the sampling', async () => {
    const pool = await makePool();
    const sequence = pool.start();
    const tokens = [2, 3, 4];
    const [turn] = await pool.decodeTurn([request(sequence, tokens, 1, { temperature: 0.3, topP: 0.5, maxTokens: 1 })]);
    const fresh = pool.start();
    const [plain] = await pool.decodeTurn([request(fresh, tokens, 1, { temperature: 0, maxTokens: 1 })]);
    expect(turn!.entropies).toEqual(plain!.entropies);
    expect(turn!.logprobs[0]).toBeLessThanOrEqual(plain!.logprobs[0]!);
    expect(plain!.entropies[0]).toBeGreaterThan(0);
    expect(plain!.entropies[0]).toBeLessThan(Math.log(37));
  });

  it('ends with `context` when the context is full, before or while sampling', async () => {
    const pool = await makePool({ contextLength: 16, eosIds: [] });
    const sequence = pool.start();
    const [turn] = await pool.decodeTurn([request(sequence, randomTokens(10, 37, 'long'), 1, { maxTokens: 50, stopIds: [] })]);
    expect(turn!.finish).toBe('context');
    expect(turn!.ids.length).toBe(6);
    const [next] = await pool.decodeTurn([request(sequence, [3], 1)]);
    expect(next).toEqual({ ids: [], logprobs: [], entropies: [], finish: 'context' });
    await expect(pool.createPrefix(randomTokens(16, 37, 'x'))).rejects.toMatchObject({ code: 'prefix-too-long' });
    const other = pool.start();
    const [tooLong, fine] = await pool.decodeTurn([request(sequence, [3], 1), request(other, [3], 1, { maxTokens: 2, stopIds: [] })]);
    expect([tooLong!.finish, fine!.finish]).toEqual(['context', 'length']);
  });

  it('stops at any token when cancelled and keeps what was sampled', async () => {
    const pool = await makePool();
    const sequence = pool.start();
    const control = new AbortController();
    let seen = 0;
    const [turn] = await pool.decodeTurn([request(sequence, [4], 1, { maxTokens: 40, stopIds: [] })], {
      signal: control.signal,
      onToken: () => {
        if (++seen === 5) control.abort();
      },
    });
    expect(turn!.finish).toBe('cancelled');
    expect(turn!.ids.length).toBe(5);
    const [next] = await pool.decodeTurn([request(sequence, [4], 2)]);
    const fresh = pool.start();
    const [whole] = await pool.decodeTurn([request(fresh, [4, ...turn!.ids, 4], 2)]);
    expect(next).toEqual(whole);
  });

  it('lets an abort from outside in between tokens', async () => {
    const pool = await makePool({ contextLength: 4096 });
    const control = new AbortController();
    setTimeout(() => control.abort(), 1);
    const [turn] = await pool.decodeTurn([request(pool.start(), [4], 1, { maxTokens: 4000, stopIds: [] })], { signal: control.signal });
    expect(turn!.finish).toBe('cancelled');
  });

  it('can be cancelled while a long prompt is read, and reads it again later', async () => {
    const pool = await makePool({ contextLength: 8192 });
    const prompt = randomTokens(3000, 37, 'long prompt');
    const sequence = pool.start();
    const control = new AbortController();
    setTimeout(() => control.abort(), 30);
    const [turn] = await pool.decodeTurn([request(sequence, prompt, 1)], { signal: control.signal });
    expect(turn).toEqual({ ids: [], logprobs: [], entropies: [], finish: 'cancelled' });
    const prefix = pool.createPrefix(prompt, AbortSignal.abort(new Error('no more')));
    await expect(prefix).rejects.toThrow('no more');
    const [again] = await pool.decodeTurn([request(sequence, [5], 1, { maxTokens: 1 })]);
    const fresh = pool.start();
    const [whole] = await pool.decodeTurn([request(fresh, [...prompt, 5], 1, { maxTokens: 1 })]);
    expect(again).toEqual(whole);
    pool.release(sequence);
    pool.release(fresh);
    expect(pool.decoder.arena.used).toBe(0);
  });

  it('refuses misuse by name', async () => {
    const pool = await makePool();
    const sequence = pool.start();
    await expect(pool.decodeTurn([request(sequence, [], 1)])).rejects.toMatchObject({ code: 'empty-turn' });
    await expect(pool.decodeTurn([request(sequence, [1], 1), request(sequence, [1], 1)])).rejects.toMatchObject({ code: 'sequence-twice' });
    pool.release(sequence);
    expect(() => pool.fork(sequence)).toThrow(/after its release/);
  });

  it('is unmoved by any interleaving of starts, forks, turns and releases', async () => {
    const pool = await makePool({ contextLength: 256 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ op: fc.nat(3), pick: fc.nat(20), n: fc.integer({ min: 1, max: 9 }) }), { maxLength: 14 }),
        async (steps) => {
          const prefix = await pool.createPrefix([5, 6, 7]);
          const open: Sequence[] = [];
          for (const [i, { op, pick, n }] of steps.entries()) {
            const chosen = open[pick % Math.max(1, open.length)];
            if (op === 0 || !chosen) open.push(pool.start(prefix));
            else if (op === 1) open.push(pool.fork(chosen));
            else if (op === 2) pool.release(open.splice(open.indexOf(chosen), 1)[0]!);
            else await pool.decodeTurn([request(chosen, randomTokens(n, 37, `step ${n}`), i, { maxTokens: n })]);
          }
          for (const sequence of open) {
            const [turn] = await pool.decodeTurn([request(sequence, [9], 77)]);
            const fresh = pool.start();
            const sampled = turn!.ids.length;
            const [whole] = await pool.decodeTurn([request(fresh, [5, 6, 7, ...sequence.tokens.slice(0, -sampled)], 77)]);
            expect(turn).toEqual(whole);
            pool.release(fresh);
            pool.release(sequence);
          }
          pool.releasePrefix(prefix);
          expect(pool.decoder.arena.used).toBe(0);
        },
      ),
      { numRuns: 25, seed: 3 },
    );
  });
});
