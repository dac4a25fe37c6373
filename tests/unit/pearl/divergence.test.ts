import { describe, expect, it } from 'vitest';
import { comparePair, comparePairs } from '../../../src/pearl/divergence.ts';
import { END, trajectory } from './builders.ts';

const first = { see: [1, 2], act: [3, 4] };
const branchOf = (id: string, reward: number, turns: Parameters<typeof trajectory>[2]) =>
  trajectory(id, reward, turns, { parentId: 'parent', branchTurn: 1 });

describe('the first divergent token of a parent and its branch', () => {
  it('is found within the action sampled anew, and the higher reward is the success', () => {
    const parent = trajectory('parent', 0, [first, { see: [1], act: [5, 6, 7] }]);
    const branch = branchOf('branch', 1, [first, { see: [1], act: [5, 8] }]);
    const compared = comparePair(parent, branch);
    // Positions: 0 context; 1–2 see; 3–5 act; 6 see; 7 … act. The second token of the action, position 8, differs.
    expect(compared).toEqual({
      pair: {
        id: 'parent~branch',
        taskId: 'task',
        parentId: 'parent',
        branchId: 'branch',
        branchTurn: 1,
        sharedTokens: 1,
        lower: { trajectoryId: 'parent', turn: 1, token: 1, position: 8, end: 11, tokenId: 6, tokenText: '<6>' },
        higher: { trajectoryId: 'branch', turn: 1, token: 1, position: 8, end: 10, tokenId: 8, tokenText: '<8>' },
      },
    });
    const failing = comparePair(trajectory('parent', 1, [first, { see: [1], act: [5, 6, 7] }]), { ...branch, reward: 0 });
    expect(failing).toMatchObject({ pair: { lower: { trajectoryId: 'branch' }, higher: { trajectoryId: 'parent' } } });
  });

  it('may be the first token of the action', () => {
    const compared = comparePair(
      trajectory('parent', 0, [first, { see: [1], act: [5] }]),
      branchOf('branch', 1, [first, { see: [1], act: [6] }]),
    );
    expect(compared).toMatchObject({ pair: { sharedTokens: 0, lower: { token: 0, position: 7, end: 9 } } });
  });

  it('may be the end of the action, when one action is a prefix of the other', () => {
    const compared = comparePair(
      trajectory('parent', 0, [first, { see: [1], act: [5] }]),
      branchOf('branch', 1, [first, { see: [1], act: [5, 6] }]),
    );
    expect(compared).toMatchObject({
      pair: { lower: { token: 1, tokenId: END, position: 8, end: 9 }, higher: { token: 1, tokenId: 6, position: 8, end: 10 } },
    });
  });

  it('may come in a later turn, when the branch repeats the action', () => {
    const same = { see: [1], act: [5] };
    const compared = comparePair(
      trajectory('parent', 0, [first, same, { see: [2], act: [3] }]),
      branchOf('branch', 1, [first, same, { see: [2], act: [4] }]),
    );
    expect(compared).toMatchObject({ pair: { sharedTokens: 3, lower: { turn: 2, token: 0 }, higher: { turn: 2, token: 0 } } });
  });

  it('is looked for behind the branch point only', () => {
    // A parent whose earlier tokens differ cannot happen; were it so, the shared prefix would still not be compared.
    const parent = trajectory('parent', 0, [
      { see: [1, 2], act: [3, 8] },
      { see: [1], act: [5] },
    ]);
    expect(comparePair(parent, branchOf('branch', 1, [first, { see: [1], act: [6] }]))).toMatchObject({ pair: { lower: { turn: 1 } } });
  });
});

describe('pairs that give no entry', () => {
  const parent = trajectory('parent', 0, [first, { see: [1], act: [5] }]);

  it('have equal rewards', () => {
    expect(comparePair(parent, branchOf('branch', 0, [first, { see: [1], act: [6] }]))).toEqual({ skipped: 'equal-reward' });
  });

  it('have no difference, also when one text is the beginning of the other', () => {
    expect(comparePair(parent, branchOf('branch', 1, [first, { see: [1], act: [5] }]))).toEqual({ skipped: 'no-difference' });
    const longer = branchOf('branch', 1, [first, { see: [1], act: [5] }, { see: [1], act: [6] }]);
    expect(comparePair(parent, longer)).toEqual({ skipped: 'no-difference' });
  });

  it('differ in an observation', () => {
    const seen = (token: number) => [first, { see: [1], act: [5] }, { see: [token], act: [6] }];
    expect(comparePair(trajectory('parent', 0, seen(1)), branchOf('branch', 1, seen(2)))).toEqual({ skipped: 'outside-action' });
  });

  it('differ where one action was cut off and the other text goes on with an observation', () => {
    const cut = trajectory('parent', 0, [first, { see: [1], act: [5], open: true }, { see: [2], act: [3] }]);
    expect(comparePair(cut, branchOf('branch', 1, [first, { see: [1], act: [5, 6] }]))).toEqual({ skipped: 'outside-action' });
  });

  it('are counted by reason, and roots are no pairs', () => {
    const group = [
      parent,
      branchOf('equal', 0, [first, { see: [1], act: [6] }]),
      branchOf('same', 1, [first, { see: [1], act: [5] }]),
      branchOf('good', 1, [first, { see: [1], act: [6] }]),
      trajectory('root', 1, [first, { see: [1], act: [6] }]),
    ];
    const { pairs, skipped } = comparePairs(group);
    expect(pairs.map(({ id }) => id)).toEqual(['parent~good']);
    expect(skipped).toEqual({ 'equal-reward': 1, 'no-difference': 1, 'outside-action': 0 });
  });
});
