import { describe, expect, it } from 'vitest';
import { NacreError } from '../../../src/core/errors.ts';
import type { Episode, Message, Rollout, Task } from '../../../src/core/types.ts';
import { type EpisodeOptions, playEpisodes } from '../../../src/models/chat-rollouts.ts';
import type { RolloutJob } from '../../../src/models/own/rollout-loop.ts';
import type { ChatModel, GenerateOptions, Generation } from '../../../src/models/types.ts';

const INFO = {
  id: 'scripted',
  title: 'scripted',
  parameters: 0,
  backend: 'endpoint',
  adapter: 'none',
  contextLength: 0,
  capabilities: { chat: true, json: false, logprobs: false, probe: false, train: false },
};
const USAGE = { calls: 1, inputTokens: 10, outputTokens: 3, textVolume: 12, ms: 1 };

function model(
  answer: (messages: readonly Message[], options: GenerateOptions) => Partial<Generation> | Promise<Partial<Generation>>,
): ChatModel {
  return {
    info: INFO,
    async generate(messages, options) {
      return { text: 'go', finish: 'stop', usage: USAGE, ...(await answer(messages.slice(), options)) };
    },
    close: async () => undefined,
  };
}

/** Succeeds with the word `win`, ends with `end`, breaks with `break`. */
class Steps implements Episode {
  observation = 'start';
  private count = 0;

  act(text: string) {
    if (text === 'break') throw new Error('the world broke');
    this.observation = `saw ${text} ${++this.count}`;
    const success = text === 'win';
    return { observation: this.observation, reward: success ? 1 : 0, done: success || text === 'end', success };
  }
}

function jobs(count: number): RolloutJob[] {
  return Array.from({ length: count }, (_, i) => {
    const task: Task = { id: `t${i}`, split: 'train', type: 'a', input: '', data: null };
    return { id: `r${i}`, task, index: 0, seed: 1000 * i, episode: new Steps() };
  });
}

const OPTIONS: EpisodeOptions & { parallel: number } = {
  context: 'Be good.',
  contextHash: 'hash',
  temperature: 0.5,
  topP: 1,
  maxTurns: 3,
  maxTokensPerTurn: 8,
  parallel: 4,
};

describe('playEpisodes', () => {
  it('plays turns with the whole conversation, a seed each, and adds up usage', async () => {
    const seen: { messages: readonly Message[]; seed: number }[] = [];
    const scripted = model((messages, { seed }) => {
      seen.push({ messages, seed });
      return { text: messages.length > 3 ? ' win ' : 'go' };
    });
    const [rollout] = await playEpisodes(scripted, jobs(2).slice(1), { ...OPTIONS, instructions: 'Play.' });
    expect(rollout).toEqual({
      id: 'r1',
      taskId: 't1',
      index: 0,
      contextHash: 'hash',
      turns: [
        { observation: 'start', action: 'go', reward: 0 },
        { observation: 'saw go 1', action: 'win', reward: 1 },
      ],
      finalObservation: 'saw win 2',
      answer: 'win',
      reward: 1,
      success: true,
      finish: 'done',
      usage: { calls: 2, inputTokens: 20, outputTokens: 6, textVolume: 24, ms: 2 },
      seed: 1000,
    });
    expect(seen.map(({ seed }) => seed)).toEqual([1000, 1001]);
    expect(seen[1]?.messages).toEqual([
      { role: 'system', content: 'Play.\n\nBe good.' },
      { role: 'user', content: 'start' },
      { role: 'assistant', content: 'go' },
      { role: 'user', content: 'saw go 1' },
    ]);
  });

  it('sends no empty system text, and plays what readAction finds in an answer', async () => {
    let first: readonly Message[] = [];
    const scripted = model((messages) => {
      first = messages;
      return { text: 'I think\nwin' };
    });
    const [rollout] = await playEpisodes(scripted, jobs(1), { ...OPTIONS, context: '', readAction: (text) => text.split('\n').at(-1)! });
    expect(first).toEqual([{ role: 'user', content: 'start' }]);
    expect(rollout).toMatchObject({ success: true, answer: 'I think\nwin' });
  });

  it.each([
    [{ text: 'go' }, { finish: 'turn-limit' }, 3],
    [{ text: 'end' }, { finish: 'done', success: false }, 1],
    [{ text: 'wi', finish: 'length' as const }, { finish: 'token-limit', answer: 'wi' }, 1],
    [{ text: '', finish: 'length' as const }, { finish: 'token-limit' }, 0],
    [{ text: '', finish: 'context' as const }, { finish: 'context-limit' }, 0],
    [{ text: 'break' }, { finish: 'error', error: 'the world broke' }, 1],
  ])('ends after %j as %j', async (answer, expected, turns) => {
    const [rollout] = await playEpisodes(
      model(() => answer),
      jobs(1),
      OPTIONS,
    );
    expect(rollout).toMatchObject({ ...expected, reward: 0 });
    expect(rollout?.turns).toHaveLength(turns);
  });

  it('turns failures of a call into rollouts that can be played again, and a full context into its limit', async () => {
    const failing = (code: string) =>
      model((_, { seed }) => {
        if (seed >= 1000 && seed < 2000) throw new NacreError(code, 'it failed', 'mend it');
        return { text: 'win' };
      });
    const rollouts = await playEpisodes(failing('endpoint-server'), jobs(3), OPTIONS);
    expect(rollouts.map(({ finish }) => finish)).toEqual(['done', 'error', 'done']);
    expect(rollouts[1]?.error).toBe('it failed');
    expect((await playEpisodes(failing('context-length'), jobs(3), OPTIONS))[1]?.finish).toBe('context-limit');
  });

  it.each(['endpoint-auth', 'endpoint-model-unknown', 'endpoint-unreachable', 'endpoint-rate-limited'])(
    'stops the batch on %s and has reported what was finished',
    async (code) => {
      const done: string[] = [];
      const scripted = model((_, { seed }) => {
        if (seed >= 5000) throw new NacreError(code, 'no', 'mend');
        return { text: 'win' };
      });
      const options = { ...OPTIONS, parallel: 2, onRollout: ({ id }: Rollout) => done.push(id) };
      await expect(playEpisodes(scripted, jobs(50), options)).rejects.toMatchObject({ code });
      expect(done).toEqual(['r0', 'r1', 'r2', 'r3', 'r4']);
    },
  );

  it('stops when many rollouts in a row could not run, whatever the reason', async () => {
    let calls = 0;
    const scripted = model(() => {
      calls++;
      throw new NacreError('endpoint-server', 'HTTP 500', 'mend');
    });
    await expect(playEpisodes(scripted, jobs(200), OPTIONS)).rejects.toMatchObject({
      code: 'model-down',
      message: expect.stringContaining('HTTP 500'),
    });
    expect(calls).toBeLessThan(30);
  });

  it('keeps the order of the jobs, the limit, and reports each rollout once', async () => {
    let open = 0;
    let most = 0;
    const reported: string[] = [];
    const scripted = model(async (_, { seed }) => {
      most = Math.max(most, ++open);
      await new Promise((resolve) => setTimeout(resolve, seed % 7));
      open--;
      return { text: 'win' };
    });
    const rollouts = await playEpisodes(scripted, jobs(40), { ...OPTIONS, onRollout: ({ id }) => reported.push(id) });
    expect(rollouts.map(({ id }) => id)).toEqual(jobs(40).map(({ id }) => id));
    expect(reported.sort()).toEqual(
      jobs(40)
        .map(({ id }) => id)
        .sort(),
    );
    expect(most).toBe(4);
  });

  it('stops with the reason of the signal', async () => {
    const abort = new AbortController();
    const scripted = model(
      (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason));
          abort.abort(new Error('enough'));
        }),
    );
    await expect(playEpisodes(scripted, jobs(9), { ...OPTIONS, signal: abort.signal })).rejects.toThrow('enough');
  });
});
