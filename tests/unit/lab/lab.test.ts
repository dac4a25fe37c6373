import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Suite, Task } from '../../../src/core/types.ts';
import { parseConfig } from '../../../src/lab/config.ts';
import { RunControl } from '../../../src/lab/control.ts';
import type { TextualResult } from '../../../src/lab/result.ts';
import { formatSkill, parseSkill } from '../../../src/lab/skill.ts';
import { takeTasks } from '../../../src/lab/tasks.ts';

const base = { schema: 'nacre.experiment/1', kind: 'textual', name: 'A study', suite: { id: 'household' } };

function resultWith(context: string): TextualResult {
  const scores = { test: { n: 10, success: 8, rate: 0.8, wilson: [0.49, 0.94] as const } };
  return {
    schema: 'nacre.result/1',
    kind: 'textual',
    config: parseConfig(base),
    seed: 1,
    seconds: 1,
    longestTaskMs: 0,
    model: { id: 'm', parameters: 1, backend: 'cpu', adapter: 'WASM' },
    textual: {
      initial: { step: 0, context: '', scores },
      best: { step: 1, context, scores },
      steps: [],
      tokens: { byRole: {} as TextualResult['textual']['tokens']['byRole'], iteration: 0, inferenceTextVolume: 0 },
    },
  };
}

describe('skill file', () => {
  it('gives the context back byte for byte', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (context) => {
        expect(parseSkill(formatSkill(resultWith(context), new Date(0)))).toBe(context);
      }),
    );
    for (const context of ['', '\n', '---\nx', '- a\n- b\n', '\n\n- a']) {
      expect(parseSkill(formatSkill(resultWith(context), new Date(0)))).toBe(context);
    }
  });

  it('takes plain Markdown as it is and refuses front matter that is never closed', () => {
    expect(parseSkill('- only a rule\n---\nx')).toBe('- only a rule\n---\nx');
    expect(parseSkill('---\r\nname: x\r\n---\r\n\r\n- rule')).toBe('- rule');
    expect(() => parseSkill('---\nname: x\n- rule')).toThrow(/Line 1/);
    expect(parseSkill('---\n---\nrule')).toBe('rule');
    // Two rulers around a text are no front matter, and dropping the text would change the context.
    expect(() => parseSkill('---\nOpen what is closed.\n---\nMore.')).toThrow(/Line 2 .*Open what is closed/);
    expect(parseSkill('\n---\nOpen what is closed.\n---\n')).toBe('\n---\nOpen what is closed.\n---\n');
  });
});

describe('parseConfig', () => {
  it('fills in the defaults of the paper', () => {
    const config = parseConfig(base);
    expect(config.textual).toMatchObject({ epochs: 4, rolloutsPerTask: 4, batchTasks: 40, editBudget: 4, minEditBudget: 2 });
  });

  it.each([
    [{ ...base, seed: -1 }, /seed/],
    [{ ...base, seed: 'one' }, /seed/],
    [{ ...base, suite: { id: 'household', train: 1.5 } }, /suite\.train/],
    [{ ...base, textual: { epochs: 0 } }, /textual\.epochs/],
    [{ ...base, textual: { epoch: 3 } }, /epoch/],
    [{ ...base, textual: { trainTemperature: Number.NaN } }, /textual\.trainTemperature/],
    [{ ...base, kind: 'other' }, /kind/],
    [null, /config: must be an object/],
    [{ ...base, kind: undefined }, /kind: is missing/],
    [{ ...base, suite: { id: 'household', val: '3' } }, /suite\.val: must be a number, but is "3"/],
    [{ ...base, suite: { id: 'household', val: -3 } }, /suite\.val: must be at least 1/],
    [{ ...base, target: { backend: 'gpu' } }, /target\.backend: is "gpu"; it must be one of "auto"/],
    [{ ...base, sead: 1 }, /sead: is no field here/],
    [
      { ...base, initialContext: 'a\n<!-- protected:end X -->\nb\n<!-- protected:start X -->' },
      /initialContext: Line 2 .*never started.* Put <!-- protected:start X -->/,
    ],
  ])('names the field that is wrong: %j', (input, message) => {
    expect(() => parseConfig(input)).toThrow(message);
  });
});

describe('takeTasks', () => {
  const task = (id: string, type: string): Task => ({ id, type, split: 'test', input: id, data: null });
  const test = [task('a1', 'a'), task('a2', 'a'), task('a3', 'a'), task('b1', 'b'), task('c1', 'c'), task('b2', 'b')];
  const suite: Suite = {
    id: 's',
    title: 's',
    maxTurns: 1,
    splits: { train: [], val: [], test, unseen: [] },
    open: () => {
      throw new Error('not opened here');
    },
  };

  it('lets types take turns, and every prefix is a prefix of the longer one', () => {
    const ids = takeTasks(suite, 'test', 6).map(({ id }) => id);
    expect(ids).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    for (let n = 0; n <= 6; n++) expect(takeTasks(suite, 'test', n).map(({ id }) => id)).toEqual(ids.slice(0, n));
  });

  it('says how many there are when too many are asked for', () => {
    expect(() => takeTasks(suite, 'test', 7)).toThrow(/holds 6 tasks; 7/);
  });
});

describe('RunControl', () => {
  it('holds the loop while paused and lets it go on', async () => {
    const control = new RunControl();
    const { signal } = new AbortController();
    expect(await control.checkpoint(signal)).toBe('continue');
    control.pause();
    let passed = false;
    const waiting = control.checkpoint(signal).then((verdict) => {
      passed = true;
      return verdict;
    });
    await Promise.resolve();
    expect(passed).toBe(false);
    control.resume();
    expect(await waiting).toBe('continue');
  });

  it('finishes early when stopped, also while paused', async () => {
    const control = new RunControl();
    control.pause();
    const waiting = control.checkpoint(new AbortController().signal);
    control.stop();
    expect(await waiting).toBe('finish');
  });

  it('rejects when the run is closed while paused', async () => {
    const control = new RunControl();
    const abort = new AbortController();
    control.pause();
    const waiting = control.checkpoint(abort.signal);
    abort.abort();
    await expect(waiting).rejects.toThrow();
  });
});
