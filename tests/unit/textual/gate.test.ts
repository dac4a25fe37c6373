import { describe, expect, it } from 'vitest';
import { judge, scoreRollouts } from '../../../src/textual/gate.ts';
import type { Score } from '../../../src/textual/types.ts';
import { makeRollout, makeTask } from './builders.ts';

function score(outcomes: readonly (boolean | undefined)[]): Score {
  const tasks = outcomes.map((_, i) => makeTask(`t${i}`, i % 2 ? 'odd' : 'even'));
  const rollouts = outcomes.map((won, i) =>
    makeRollout(`r${i}`, `t${i}`, won ? 1 : 0, won === undefined ? { finish: 'error', error: 'offline' } : {}),
  );
  return scoreRollouts('val', tasks, rollouts, 1);
}

describe('scoreRollouts', () => {
  it('counts by task and type', () => {
    expect(score([true, false, true])).toMatchObject({
      n: 3,
      success: 2,
      rate: 2 / 3,
      outcomes: { t0: true, t1: false, t2: true },
      byType: { even: { n: 2, success: 2 }, odd: { n: 1, success: 0 } },
      errors: 0,
    });
  });

  it('leaves out what could not run', () => {
    expect(score([true, undefined])).toMatchObject({ n: 1, success: 1, rate: 1, errors: 1 });
    expect(score([undefined])).toMatchObject({ n: 0, rate: 0, errors: 1, wilson: [0, 1] });
  });
});

describe('judge', () => {
  it('accepts strict improvement only', () => {
    expect(judge(score([true, false]), score([true, true])).accepted).toBe(true);
    expect(judge(score([true, false]), score([false, true])).accepted).toBe(false);
    expect(judge(score([true, false]), score([true, false])).accepted).toBe(false);
    expect(judge(score([true, true]), score([true, false])).accepted).toBe(false);
  });

  it('names what was gained and lost', () => {
    expect(judge(score([true, false, false]), score([false, true, true]))).toMatchObject({
      accepted: true,
      gained: ['t1', 't2'],
      lost: ['t0'],
      mcnemar: 1,
    });
  });

  it('does not let an error raise or lower a score', () => {
    // 1/2 against 1/1: the task that could not run is no gain.
    expect(judge(score([true, false]), score([true, undefined])).accepted).toBe(false);
  });

  it('warns when so few tasks cannot tell a gain from chance', () => {
    expect(judge(score([false, false]), score([true, false])).warning).toMatch(/p = 1\.00/);
    const large = judge(score(new Array(10).fill(false)), score(new Array(10).fill(true)));
    expect(large.warning).toBeUndefined();
  });
});
