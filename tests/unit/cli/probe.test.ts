import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseArgs } from '../../../scripts/cli/args.ts';
import { run as generate } from '../../../scripts/cli/generate.ts';
import { run as probe, probeRequest } from '../../../scripts/cli/probe.ts';

const STORIES = fileURLToPath(new URL('../../fixtures/stories260K', import.meta.url));

describe('the command probe', () => {
  it('gives layer logits whose last normed value is the model’s own logit', async () => {
    const results = await probe(parseArgs(['probe', '--model', STORIES, '--ids', '1,403,407,261', '--at', '3:378,0:403,3:5']));
    expect(results.map(({ position, token }) => [position, token])).toEqual([
      [3, 378],
      [0, 403],
      [3, 5],
    ]);
    for (const { raw, normed, logit } of results) {
      expect([raw.length, normed.length]).toEqual([5, 5]);
      expect(normed[4]).toBeCloseTo(logit, 4);
    }
    // 378 goes on with the published story, a byte token does not.
    expect(results[0].logit).toBeGreaterThan(results[2].logit);
  });

  it('agrees with generation about the likeliest token', async () => {
    const model = ['--model', STORIES, '--ids', '1,403,407,261'];
    const { ids, logprobs } = await generate(parseArgs(['generate', ...model, '--max-tokens', '1']));
    expect(ids).toEqual([378]);
    const all = Array.from({ length: 512 }, (_, token) => `3:${token}`).join(',');
    const logits = (await probe(parseArgs(['probe', ...model, '--at', all]))).map(({ logit }) => logit);
    const logSum = Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit), 0));
    expect(logits[378] - logSum).toBeCloseTo(logprobs[0], 4);
    expect(Math.max(...logits)).toBe(logits[378]);
  });

  it.each([
    [['probe', '--ids', '1'], 'probe needs --at'],
    [['probe', '--at', '0:1'], 'probe needs --ids'],
    [['probe', '--ids', '1', '--at', '0'], '--at holds "0"'],
    [['probe', '--ids', '1', '--at', '0:1:2'], '--at holds "0:1:2"'],
    [['probe', '--ids', '1', '--at', '0:x'], '--at holds "x"'],
    [['probe', '--ids', '1', '--at', '-1:2'], '--at holds "-1"'],
  ])('refuses %j', (argv, part) => {
    expect(() => probeRequest(parseArgs(argv))).toThrow(
      expect.objectContaining({ code: 'bad-usage', message: expect.stringContaining(part) }) as Error,
    );
  });

  it.each([
    ['3:1', 'position 3'],
    ['0:512', 'token 512'],
  ])('refuses a point outside the text or vocabulary: %s', async (at, part) => {
    await expect(probe(parseArgs(['probe', '--model', STORIES, '--ids', '1,2,3', '--at', at]))).rejects.toMatchObject({
      code: 'bad-probe-point',
      message: expect.stringContaining(part),
    });
  });
});
