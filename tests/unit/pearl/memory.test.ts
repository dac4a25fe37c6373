import { describe, expect, it } from 'vitest';
import { bankEntries, EMPTY_BANKS, pushEntries } from '../../../src/pearl/bank.ts';
import { fitMemory, judge, matchDecisions } from '../../../src/pearl/clusters.ts';
import type { BankPoint } from '../../../src/pearl/types.ts';
import { bankPoint, bunch, pair, settings, task, trajectory } from './builders.ts';

const ids = (points: readonly BankPoint[]) => points.map(({ id }) => id);
const at = (update: number) => bankPoint(`u${update}`, [1, 0], { update });

describe('banks', () => {
  it('keep entries of up to W updates of age and drop older ones', () => {
    const banks = { failure: [at(1), at(2), at(3)], success: [at(1)] };
    const { banks: after, dropped } = pushEntries(banks, { failure: [at(4)], success: [] }, 4, 2);
    expect(ids(after.failure)).toEqual(['u2', 'u3', 'u4']);
    expect(ids(after.success)).toEqual([]);
    expect(dropped).toEqual({ failure: ['u1'], success: ['u1'] });
    expect(ids(pushEntries(banks, EMPTY_BANKS, 1000, 'unlimited').banks.failure)).toEqual(['u1', 'u2', 'u3']);
  });

  it('store a decision once, however many branches it was compared with', () => {
    const parent = trajectory('parent', 0, [{ see: [1], act: [2] }]);
    const branches = ['a', 'b'].map((id) => trajectory(id, 1, [{ see: [1], act: [3] }]));
    const decision = (trajectoryId: string) => ({
      trajectoryId,
      turn: 0,
      token: 0,
      position: 2,
      end: 4,
      tokenId: 2,
      tokenText: '<2>',
    });
    const pairs = branches.map(({ id }) => ({
      pair: pair({ id, lower: decision('parent'), higher: decision(id) }),
      lower: Float64Array.of(1, 0),
      higher: Float64Array.of(0, 1),
    }));
    const added = bankEntries(7, [{ task: task(), trajectories: [parent, ...branches] }], pairs);
    expect(ids(added.failure)).toEqual(['parent@2']);
    expect(ids(added.success)).toEqual(['a@2', 'b@2']);
    expect(added.success[0]).toEqual({
      id: 'a@2',
      outcome: 'success',
      update: 7,
      taskId: 'task',
      trajectoryId: 'a',
      pairId: 'a',
      turn: 0,
      token: 0,
      tokenText: '<2>',
      feature: [0, 1],
      taskInput: 'do task',
      observation: 'see 1',
      action: 'act 3',
      reply: 'the end',
      finish: 'done',
      reward: 1,
    });
    const { banks } = pushEntries(EMPTY_BANKS, added, 7, 25);
    expect(ids(pushEntries(banks, added, 8, 25).banks.success)).toEqual(['a@2', 'b@2']);
  });
});

const { memory } = settings({ memory: { minClusterSize: 4, minSamples: 2 } });
const north = [0, 1, 0];
const east = [1, 0, 0];
const up = [0, 0, 1];

describe('clusters, veto and shares', () => {
  const failure = [...bunch('n', north, 6), ...bunch('e', east, 4), ...bunch('u', up, 10)];

  it('keep the failure clusters whose centroid falls into no success cluster (eq. 4), weighed by size (eq. 5)', () => {
    const success = [
      ...bunch('sn', north, 5, 'success'),
      ...bunch(
        'sx',
        [1, 1, 1].map((x) => x / Math.sqrt(3)),
        5,
        'success',
      ),
    ];
    const { snapshot, verdicts } = fitMemory({ failure, success }, 3, memory);
    const clusterOf = (id: string) => snapshot.failure.labels[snapshot.failure.pointIds.indexOf(id)]!;
    const byName = (id: string) => snapshot.failure.clusters[clusterOf(id)]!;
    expect(snapshot.failure.clusters).toHaveLength(3);
    expect(byName('n0')).toMatchObject({ size: 6, kept: false, share: 0 });
    expect(byName('n0').vetoedBy).toBe(snapshot.success.labels[0]);
    expect(byName('e0')).toMatchObject({ size: 4, kept: true });
    expect(byName('e0').share).toBeCloseTo(4 / 14, 12);
    expect(byName('u0').share).toBeCloseTo(10 / 14, 12);
    expect(verdicts.filter(({ kept }) => kept)).toHaveLength(2);
    expect(snapshot.keptEntries).toBe(14);
    expect(snapshot.largestShare).toBeCloseTo(10 / 20, 12);
    expect(snapshot.failure.noise).toBe(0);
    expect(snapshot.failure.plane).toHaveLength(20);
  });

  it('keep every cluster without the veto, whatever the success bank holds', () => {
    const success = bunch('sn', north, 8, 'success');
    const { verdicts } = fitMemory({ failure, success }, 3, { ...memory, veto: false });
    expect(verdicts.every(({ kept }) => kept)).toBe(true);
    expect(verdicts.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 12);
  });

  it('keep all when the success bank is empty, too small, or has no cluster', () => {
    for (const success of [[], bunch('s', north, 2, 'success'), bunch('s', north, 3, 'success')]) {
      expect(fitMemory({ failure, success }, 3, memory).verdicts.map(({ kept }) => kept)).toEqual([true, true, true]);
    }
  });

  it('may all be vetoed: then nothing is kept and no share is left', () => {
    const success = failure.map((point) => ({ ...point, id: `s${point.id}`, outcome: 'success' as const }));
    const { verdicts, snapshot } = fitMemory({ failure, success }, 3, memory);
    expect(verdicts.every(({ kept, share }) => !kept && share === 0)).toBe(true);
    expect(snapshot.keptEntries).toBe(0);
  });

  it('are none for an empty bank, and all is noise in a scattered one', () => {
    const empty = fitMemory(EMPTY_BANKS, 3, memory).snapshot;
    expect(empty.failure).toMatchObject({ pointIds: [], clusters: [], noise: 0, plane: [] });
    expect(empty.largestShare).toBe(0);
    const scattered = [bunch('a', north, 1), bunch('b', east, 1), bunch('c', up, 1)].flat();
    const { snapshot } = fitMemory({ failure: scattered, success: [] }, 3, memory);
    expect(snapshot.failure.clusters).toEqual([]);
    expect(snapshot.failure.noise).toBe(1);
  });

  it('give a lone kept cluster the share 1', () => {
    const success = [...bunch('sn', north, 6, 'success'), ...bunch('se', east, 6, 'success')];
    const { failure: fitted, success: other } = fitMemory({ failure, success }, 3, memory);
    const shares = judge(fitted, other, true).map(({ share }) => share);
    expect(shares.filter((share) => share > 0)).toEqual([1]);
  });

  it('take decisions by approximate prediction, and leave strangers out', () => {
    const fitted = fitMemory({ failure, success: [] }, 3, memory);
    const [near, far] = matchDecisions(fitted.failure, [bunch('q', up, 1)[0]!.feature, [-1, -1, -1].map((x) => x / Math.sqrt(3))]);
    expect(near!.cluster).toBe(fitted.snapshot.failure.labels[19]);
    expect(near!.strength).toBeGreaterThan(0);
    expect(far!.cluster).toBe(-1);
    expect(matchDecisions(fitted.failure, [])).toEqual([]);
  });
});
