import { describe, expect, it } from 'vitest';
import { editBudget, roundHalfEven } from '../../../src/textual/budget.ts';
import { epochBatches, totalSteps } from '../../../src/textual/schedule.ts';
import { makeTask } from './builders.ts';

describe('editBudget', () => {
  it('decays from 4 to 2 on a cosine that starts at t = 1/total', () => {
    // round(2 + 1 + cos(πt)), t = 1/8 … 8/8: 3.92 3.71 3.38 3 2.62 2.29 2.08 2
    expect([1, 2, 3, 4, 5, 6, 7, 8].map((step) => editBudget(step, 8, 4, 2))).toEqual([4, 4, 3, 3, 3, 2, 2, 2]);
  });

  it('is at its least in a run of one step', () => {
    expect(editBudget(1, 1, 4, 2)).toBe(2);
  });

  it('never exceeds the largest budget', () => {
    expect(editBudget(1, 10, 1, 2)).toBe(1);
  });

  it('rounds halves to even', () => {
    expect([0.5, 1.5, 2.5, 3.5, 2.4, 2.6].map(roundHalfEven)).toEqual([0, 2, 2, 4, 2, 3]);
    // 2 + ½·3·(1 + cos(π/2)) = 3.5
    expect(editBudget(1, 2, 5, 2)).toBe(4);
  });
});

describe('epochBatches', () => {
  const tasks = Array.from({ length: 10 }, (_, i) => makeTask(`t${i}`));

  it('covers every task once an epoch', () => {
    const batches = epochBatches(tasks, 4, 1, 1);
    expect(batches.map(({ length }) => length)).toEqual([4, 4, 2]);
    expect(new Set(batches.flat())).toEqual(new Set(tasks));
  });

  it('depends on seed + epoch alone', () => {
    expect(epochBatches(tasks, 4, 1, 2)).toEqual(epochBatches(tasks, 4, 1, 2));
    expect(epochBatches(tasks, 4, 1, 2)).not.toEqual(epochBatches(tasks, 4, 1, 1));
    expect(epochBatches(tasks, 4, 1, 2)).toEqual(epochBatches(tasks, 4, 2, 1));
  });

  it('takes the whole split where it is smaller than a batch', () => {
    expect(epochBatches(tasks, 40, 1, 1)).toHaveLength(1);
    expect(totalSteps(10, 40, 4)).toBe(4);
    expect(totalSteps(10, 4, 2)).toBe(6);
  });
});
