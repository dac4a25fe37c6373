import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import {
  findPair,
  findTrajectory,
  neighbours,
  newerEntries,
  pearlAnnouncement,
  placedPoints,
  tokenMarks,
  treeRows,
} from '../../../src/app/pearl/derive.ts';
import { EMPTY_PEARL, pointKey, reducePearl, release } from '../../../src/app/pearl/pearl-store.ts';
import { formatPearlUrl, parsePearlUrl } from '../../../src/app/pearl/url.ts';
import { PearlSettings } from '../../../src/pearl/settings.ts';
import { fakePearl } from '../../app/fake-pearl.ts';

const settings = v.parse(PearlSettings, {
  updates: 9,
  prompts: 2,
  rollouts: { group: 8, roots: 4 },
  memory: { window: 4, refitEvery: 3 },
  evaluation: { every: 4 },
});
const events = fakePearl({ seed: 3, settings, val: 20, test: 30 });
const whole = reducePearl(EMPTY_PEARL, events);
const last = whole.snapshots.at(-1)!;

describe('folding the events of a PEARL run', () => {
  it('gives the same view whatever the batches', () => {
    for (const size of [1, 7, 100]) {
      let view = EMPTY_PEARL;
      for (let at = 0; at < events.length; at += size) view = reducePearl(view, events.slice(at, at + size));
      expect(view).toEqual(whole);
    }
  });

  it('leaves the view it was given as it was', () => {
    const half = reducePearl(EMPTY_PEARL, events.slice(0, 40));
    const copy = structuredClone(half);
    reducePearl(half, events.slice(40));
    expect(half).toEqual(copy);
  });

  it('starts again when the run is told again', () => {
    expect(reducePearl(whole, events)).toEqual(whole);
  });

  it('keeps the identity of updates a batch does not touch', () => {
    const at = events.findIndex((event) => event.type === 'forest' && event.update === 2);
    const before = reducePearl(EMPTY_PEARL, events.slice(0, at));
    const after = reducePearl(before, events.slice(at, at + 3));
    expect(after.updates.get(1)).toBe(before.updates.get(1));
  });

  it('holds in the banks what the window holds, and every point that ever was in them', () => {
    const record = whole.records.at(-1)!;
    expect(whole.banks.failure.size).toBe(record.banks.failure);
    expect(whole.banks.success.size).toBe(record.banks.success);
    for (const id of whole.banks.failure) {
      expect(whole.points.get(pointKey('failure', id))!.update).toBeGreaterThan(settings.updates - 4);
    }
    const added = [...whole.updates.values()].reduce((sum, update) => sum + update.added.failure.length, 0);
    expect([...whole.points.values()].filter(({ outcome }) => outcome === 'failure')).toHaveLength(added);
  });

  it('keeps the scores of the three moments apart', () => {
    expect(whole.scores.initial.test?.update).toBe(0);
    expect(whole.scores.final.test?.update).toBe(9);
    expect(whole.scores.during.map(({ update }) => update)).toEqual([4, 8]);
    expect(whole.finished?.stopped).toBe(false);
  });

  it('lets the trajectories of the oldest updates go first, and never those of the latest', () => {
    const held = release(whole.updates, 40);
    expect([...held.values()].map(({ released }) => released)).toEqual([true, true, true, true, true, true, true, false, false]);
    expect(held.get(1)!.pairs).toBe(whole.updates.get(1)!.pairs);
    expect(release(whole.updates, 1).get(9)!.released).toBe(false);
    expect(release(whole.updates, 10_000)).toBe(whole.updates);
  });
});

describe('what the page reads off a PEARL run', () => {
  it('orders a forest as a tree: every branch below its parent, every trajectory once', () => {
    for (const update of whole.updates.values()) {
      for (const forest of update.forests.values()) {
        const rows = treeRows(forest);
        expect(rows.map(({ trajectory }) => trajectory.id).sort()).toEqual(forest.trajectories.map(({ id }) => id).sort());
        rows.forEach(({ trajectory, level, parentRow }, i) => {
          if (trajectory.parentId === undefined) expect([level, parentRow]).toEqual([0, -1]);
          else {
            expect(rows[parentRow]!.trajectory.id).toBe(trajectory.parentId);
            expect(parentRow).toBeLessThan(i);
            expect(level).toBe(rows[parentRow]!.level + 1);
          }
        });
      }
    }
  });

  it('takes a branch whose parent is not there for a root', () => {
    const forest = [...whole.updates.get(1)!.forests.values()][0]!;
    const branch = forest.trajectories.find(({ parentId }) => parentId)!;
    expect(treeRows({ ...forest, trajectories: [branch] })).toEqual([{ trajectory: branch, level: 0, parentRow: -1 }]);
  });

  it('marks the divergent token, its region and the multiplier, and nothing else', () => {
    const { pair, update } = [...whole.updates.values()].flatMap((one) => one.pairs.map((entry) => ({ pair: entry, update: one })))[0]!;
    const { trajectory } = findTrajectory(whole, pair.lower.trajectoryId)!;
    const shaped = [
      {
        trajectoryId: trajectory.id,
        pairId: pair.id,
        outcome: 'failure' as const,
        cluster: 0,
        multiplier: 2.5,
        tokens: [{ turn: pair.lower.turn, token: pair.lower.token }],
      },
    ];
    const marks = tokenMarks(trajectory, pair.lower.turn, [pair.lower, pair.higher], shaped);
    expect(marks.map(({ divergent }) => divergent)).toEqual(marks.map((_, i) => i === pair.lower.token));
    expect(marks.map(({ inRegion }) => inRegion)).toEqual(marks.map((_, i) => i >= pair.lower.token));
    expect(marks.map(({ multiplier }) => multiplier)).toEqual(marks.map((_, i) => (i === pair.lower.token ? 2.5 : 1)));
    expect(tokenMarks(trajectory, 99, [], update.shaped)).toEqual([]);
  });

  it('finds pairs by id, and says so when there is none', () => {
    const { pair } = findPair(whole, [...whole.updates.values()].flatMap(({ pairs }) => pairs)[0]!.id)!;
    expect(findPair(whole, pair.id)!.pair).toBe(pair);
    expect(findPair(whole, 'nothing')).toBeUndefined();
    expect(findTrajectory(whole, 'nothing')).toBeUndefined();
  });

  it('places every point of a snapshot, those that have left the banks included', () => {
    for (const snapshot of whole.snapshots) {
      expect(placedPoints(whole, snapshot)).toHaveLength(snapshot.failure.pointIds.length + snapshot.success.pointIds.length);
    }
  });

  it('counts the entries that came after a fit', () => {
    expect(newerEntries(whole, last)).toBe(0);
    const seen = new Set(whole.snapshots[0]!.failure.pointIds);
    const unseen = [...whole.banks.failure].filter((id) => !seen.has(id)).length;
    expect(newerEntries(whole, whole.snapshots[0]!)).toBeGreaterThanOrEqual(unseen);
  });

  it('ranks neighbours by cosine and leaves the point itself out', () => {
    const placed = placedPoints(whole, last);
    const near = neighbours(placed, placed[0]!.point, 5);
    expect(near).toHaveLength(5);
    expect(near.some(({ placed: { point } }) => point === placed[0]!.point)).toBe(false);
    expect(near.map(({ cosine }) => cosine)).toEqual([...near.map(({ cosine }) => cosine)].sort((a, b) => b - a));
  });

  it('speaks at the end of an update and of the run', () => {
    const spoken = events.map(pearlAnnouncement).filter((text) => text !== undefined);
    expect(spoken).toHaveLength(10);
    expect(spoken.at(-1)).toMatch(/^The run has finished\. Success 0\.\d\d to 0\.\d\d\.$/);
  });
});

describe('the address of a PEARL run page', () => {
  it('survives a round trip', () => {
    const url = parsePearlUrl({
      view: 'memory',
      update: '7',
      point: 'failure/u1/a@3',
      fit: '6',
      cluster: '2',
      pair: 'x',
      rollout: 'y',
      task: 'z',
    });
    expect(parsePearlUrl(formatPearlUrl(url) as Record<string, string>)).toEqual(url);
    expect(url.update).toBe(7);
  });

  it('falls back to the overview where the link is damaged', () => {
    expect(parsePearlUrl({ view: 'nonsense', update: '-3', fit: 'x' })).toMatchObject({ tab: 'overview', update: 'live', fit: undefined });
    expect(Object.values(formatPearlUrl(parsePearlUrl({}))).every((value) => value === undefined)).toBe(true);
  });
});
