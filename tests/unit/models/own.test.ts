import { describe, expect, it } from 'vitest';
import type { Rollout } from '../../../src/core/types.ts';
import { OwnEngine } from '../../../src/models/own/engine.ts';
import { PooledPolicy, type RolloutJob, type RolloutOptions } from '../../../src/models/own/policy.ts';
import { createCpuBackend } from '../../../src/tensor/cpu/backend.ts';
import { randomBatch } from '../../transformer/models.ts';
import { FORGETFUL_TEMPLATE, toyEpisode, toyModel, toyTask } from '../../transformer/toy-model.ts';

async function engines(count: number, template?: string, trainable = false): Promise<OwnEngine[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const engine = new OwnEngine();
      await engine.use(await createCpuBackend(), toyModel(template), trainable);
      return engine;
    }),
  );
}

function jobs(count: number): RolloutJob[] {
  return Array.from({ length: count }, (_, i) => ({
    id: `r${i}`,
    task: toyTask(i),
    episode: toyEpisode(i),
    index: i % 3,
    seed: 100 + i,
  }));
}

const options: RolloutOptions = {
  context: ' red red blue',
  contextHash: 'c',
  temperature: 1,
  topP: 1,
  maxTurns: 5,
  maxTokensPerTurn: 30,
};

/** Wall time is the only part of a rollout that may differ. */
const timeless = (rollouts: readonly Rollout[]) => rollouts.map((rollout) => ({ ...rollout, usage: { ...rollout.usage, ms: 0 } }));

describe('rollouts on a pool of engines', () => {
  it('are the same for any number of engines and any batch size', async () => {
    const one = await (await PooledPolicy.connect(await engines(1))).rollouts(jobs(11), options);
    const three = await (await PooledPolicy.connect(await engines(3))).rollouts(jobs(11), options);
    const narrow = await (await PooledPolicy.connect(await engines(1), 2)).rollouts(jobs(11), options);
    expect(timeless(three)).toEqual(timeless(one));
    expect(timeless(narrow)).toEqual(timeless(one));
    expect(one.map((rollout) => rollout.id)).toEqual(jobs(11).map((job) => job.id));
    expect(new Set(one.map((rollout) => rollout.finish))).toEqual(new Set(['done', 'turn-limit', 'token-limit']));
    expect(one.some((rollout) => rollout.success)).toBe(true);
    expect(one.some((rollout) => rollout.finish === 'done' && !rollout.success)).toBe(true);
  });

  it('record every turn with its tokens and count them', async () => {
    const policy = await PooledPolicy.connect(await engines(1));
    const seen: Rollout[] = [];
    const rollouts = await policy.rollouts(jobs(6), { ...options, onRollout: (rollout) => seen.push(rollout) });
    expect(seen.map((rollout) => rollout.id).sort()).toEqual(rollouts.map((rollout) => rollout.id).sort());
    for (const { turns, usage, finish } of rollouts) {
      const sampled = turns.map((turn) => turn.tokens!.ids.length);
      expect(usage.calls).toBe(turns.length);
      expect(usage.outputTokens).toBe(sampled.reduce((a, b) => a + b, 0));
      // <|ctx|> and three words once; per turn <|obs|>, two words, <|act|>.
      expect(usage.inputTokens).toBe(4 + 4 * turns.length);
      let held = 4;
      let volume = 0;
      for (const n of sampled) {
        held += 4;
        volume += held + n;
        held += n;
      }
      expect(usage.textVolume).toBe(volume);
      if (finish !== 'token-limit') for (const turn of turns) expect(turn.tokens!.ids.at(-1)).toBe(4);
    }
  });

  it('read the whole conversation again where the template rewrites it', async () => {
    const played = await (await PooledPolicy.connect(await engines(1, FORGETFUL_TEMPLATE))).rollouts(jobs(8), options);
    const again = await (await PooledPolicy.connect(await engines(2, FORGETFUL_TEMPLATE))).rollouts(jobs(8), options);
    expect(timeless(again)).toEqual(timeless(played));
    const long = played.find((rollout) => rollout.turns.length >= 3)!;
    const [engine] = (await engines(1, FORGETFUL_TEMPLATE)) as [OwnEngine];
    const said = long.turns.slice(0, 3).flatMap(({ observation, action, tokens }) => [
      { role: 'user' as const, content: observation },
      { role: 'assistant' as const, content: toyModel().tokenizer.decode(tokens!.ids) || action },
    ]);
    const messages = [{ role: 'system' as const, content: options.context }, ...said.slice(0, 5)];
    const { prefix } = await engine.openPrefix([]);
    const [sequence] = (await engine.start(prefix, 1)) as [number];
    const [direct] = await engine.turns([{ sequence, messages, temperature: 1, topP: 1, maxTokens: 30, seed: long.seed, key: 'turn 2' }]);
    expect(direct!.tokens).toEqual(long.turns[2]!.tokens);
  });

  it('reject with the reason of the abort, after reporting what had finished', async () => {
    const policy = await PooledPolicy.connect(await engines(2));
    const control = new AbortController();
    const seen: Rollout[] = [];
    const running = policy.rollouts(jobs(40), {
      ...options,
      signal: control.signal,
      onRollout: (rollout) => {
        seen.push(rollout);
        control.abort(new Error('enough'));
      },
    });
    await expect(running).rejects.toThrow('enough');
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.every((rollout) => rollout.finish !== 'cancelled')).toBe(true);
    expect(await policy.rollouts(jobs(2), options)).toHaveLength(2);
  });

  it('survive an environment that throws', async () => {
    const policy = await PooledPolicy.connect(await engines(1));
    const [first, ...rest] = jobs(3) as [RolloutJob, ...RolloutJob[]];
    const broken = {
      ...first,
      episode: {
        observation: ' go',
        act: () => {
          throw new Error('no such room');
        },
      },
    };
    const rollouts = await policy.rollouts([broken, ...rest], { ...options, maxTokensPerTurn: 300 });
    expect(rollouts[0]).toMatchObject({ finish: 'error', error: 'no such room', success: false });
    expect(rollouts[1]!.finish).not.toBe('error');
  });
});

describe('engine', () => {
  it('forks a conversation as it is, and as it was before an earlier turn', async () => {
    const [engine] = (await engines(1)) as [OwnEngine];
    const { prefix } = await engine.openPrefix([{ role: 'system', content: ' red' }]);
    const [a, b] = (await engine.start(prefix, 2)) as [number, number];
    const turn = (sequence: number, content: string, key: string) => ({
      sequence,
      messages: [{ role: 'user' as const, content }],
      temperature: 1,
      topP: 1,
      maxTokens: 12,
      seed: 5,
      key,
    });
    const play = async (sequence: number, ...said: string[]) => {
      const answers = [];
      for (const [i, content] of said.entries()) answers.push((await engine.turns([turn(sequence, content, `turn ${i}`)]))[0]!);
      return answers;
    };
    const whole = await play(a, ' go', ' left', ' x');
    const branch = await engine.fork(a, 1);
    const [again] = await engine.turns([turn(branch, ' left', 'turn 1')]);
    expect(again).toEqual(whole[1]);
    await play(b, ' go', ' left');
    const copy = await engine.fork(b);
    expect((await engine.turns([turn(copy, ' x', 'turn 2')]))[0]).toEqual(whole[2]);
    expect((await engine.turns([turn(b, ' x', 'turn 2')]))[0]).toEqual(whole[2]);
    await engine.release([a, b, branch, copy]);
    await engine.closePrefix(prefix);
    await expect(engine.fork(a)).rejects.toMatchObject({ code: 'unknown-sequence' });
  });

  it('answers a conversation, streams it, and ends at a stop text', async () => {
    const policy = await PooledPolicy.connect(await engines(1));
    const messages = [{ role: 'user' as const, content: ' go left' }];
    const streamed: string[] = [];
    const plain = { temperature: 1, topP: 1, maxTokens: 60, seed: 8 };
    const free = await policy.generate(messages, { ...plain, onText: (text) => streamed.push(text) });
    expect(streamed.at(-1)).toBe(free.text);
    expect(free.finish).toBe('stop');
    expect(free.tokens!.ids.length).toBe(free.usage.outputTokens);
    const word = free.text.split(' ').at(2)!;
    const cut = await policy.generate(messages, { ...plain, stop: [` ${word}`, ' nothing'] });
    expect(cut.text).toBe(free.text.slice(0, free.text.indexOf(` ${word}`)));
    expect(cut.finish).toBe('stop');
    const short = await policy.generate(messages, { ...plain, maxTokens: 1 });
    expect(short.finish).toBe('length');
    await expect(policy.generate(messages, { ...plain, schema: {} })).rejects.toMatchObject({ code: 'schema-unsupported' });
  });

  it('trains, and forgets what the old weights have read', async () => {
    const policy = await PooledPolicy.connect(await engines(2, undefined, true));
    const [engine] = (await engines(1, undefined, true)) as [OwnEngine];
    expect(policy.info.capabilities.train).toBe(true);
    const batch = randomBatch([9, 12, 5], 12, 'engine');
    const alone = await PooledPolicy.connect([engine]);
    const { prefix } = await engine.openPrefix([{ role: 'system', content: ' red' }]);
    const pooled = await policy.trainer(3).step(batch, { lr: 0.01 });
    expect(await alone.trainer(3).step(batch, { lr: 0.01 })).toEqual(pooled);
    await expect(engine.start(prefix, 1)).rejects.toMatchObject({ code: 'unknown-prefix' });
    expect(timeless(await policy.rollouts(jobs(4), options))).toEqual(timeless(await alone.rollouts(jobs(4), options)));
    const [frozen] = (await engines(1)) as [OwnEngine];
    await expect(frozen.parameters()).rejects.toMatchObject({ code: 'model-not-trainable' });
  });

  it('says so when it holds no model', async () => {
    await expect(PooledPolicy.connect([new OwnEngine()])).rejects.toMatchObject({ code: 'model-not-loaded' });
    await expect(PooledPolicy.connect([])).rejects.toMatchObject({ code: 'no-engines' });
  });
});

describe('reading', () => {
  it('probes ids and reads texts and conversations with the words of all ids named', async () => {
    const [engine] = (await engines(1)) as [OwnEngine];
    const ids = toyModel().tokenizer.encode('<|ctx|> red<|obs|> go', { addSpecial: false });
    const { normed, logits, layers } = await engine.probe(ids, [{ position: 1, token: ids[2]! }]);
    expect(normed[layers - 1]).toBeCloseTo(logits[0]!, 4);
    const reading = await engine.read('<|ctx|> red<|obs|> go', 3);
    expect(reading.tokens.map(({ id }) => reading.texts.get(id))).toEqual(['<|ctx|>', ' red', '<|obs|>', ' go']);
    expect(reading.tokens[2]!.normed.at(-1)).toBeCloseTo(logits[0]!, 4);
    for (const { id } of reading.next) expect(reading.texts.has(id)).toBe(true);
    const chat = await engine.read([{ role: 'user', content: ' go' }], 1);
    expect(chat.tokens.map(({ id }) => chat.texts.get(id))).toEqual(['<|ctx|>', '<|obs|>', ' go', '<|act|>']);
  });
});
