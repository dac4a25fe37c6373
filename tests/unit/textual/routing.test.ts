import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, deduplicate } from '../../../src/textual/dedupe.ts';
import { type RoutedGroup, route, routeGroups } from '../../../src/textual/routing.ts';
import { makeGroup, makeRollout, makeTask, turn } from './builders.ts';

describe('route', () => {
  it('follows 0 < s < n, s = n, s = 0 for every group', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 16 }), fc.nat(16), (n, raw) => {
        const s = Math.min(raw, n);
        expect(route(s, n)).toBe(s === n ? 'all-success' : s === 0 ? 'all-failure' : 'mixed');
      }),
    );
  });
});

describe('routeGroups', () => {
  it('uses the success threshold', () => {
    expect(routeGroups([makeGroup('a', [0.6, 0.4])], 0.5).routed[0]?.route).toBe('mixed');
    expect(routeGroups([makeGroup('a', [0.6, 0.4])], 1).routed[0]?.route).toBe('all-failure');
  });

  it('excludes and counts rollouts that could not run', () => {
    const rollouts = [
      makeRollout('a/0', 'a', 1),
      makeRollout('a/1', 'a', 0, { finish: 'error', error: 'offline' }),
      makeRollout('a/2', 'a', 0, { finish: 'cancelled' }),
    ];
    const { routed, errors } = routeGroups([{ task: makeTask('a'), rollouts }], 1);
    expect(errors).toBe(2);
    expect(routed[0]).toMatchObject({ route: 'all-success', successes: 1, errors: 2 });
    expect(routed[0]?.rollouts).toHaveLength(1);
  });

  it('leaves a task without any outcome unrouted', () => {
    const rollouts = [makeRollout('a/0', 'a', 0, { finish: 'error' })];
    const { routed, unrouted } = routeGroups([{ task: makeTask('a'), rollouts }], 1);
    expect(routed).toEqual([]);
    expect(unrouted.map(({ id }) => id)).toEqual(['a']);
  });

  it('counts a turn limit as a failure of the task, not of the run', () => {
    const { routed, errors } = routeGroups([{ task: makeTask('a'), rollouts: [makeRollout('x', 'a', 0, { finish: 'turn-limit' })] }], 1);
    expect(errors).toBe(0);
    expect(routed[0]?.route).toBe('all-failure');
  });
});

describe('deduplicate', () => {
  const same = { turns: [turn('You see  a cup.', 'take cup')], finalObservation: 'Done.' };
  const group = (rollouts: ReturnType<typeof makeRollout>[]): RoutedGroup =>
    routeGroups([{ task: makeTask('a'), rollouts }], 1).routed[0] as RoutedGroup;

  it('consolidates equal transcripts of one outcome and keeps multiplicity and ids', () => {
    const block = deduplicate(
      group([
        makeRollout('r0', 'a', 0, { ...same, usage: { calls: 1, inputTokens: 1, outputTokens: 1, textVolume: 1, ms: 5 } }),
        makeRollout('r1', 'a', 0, { ...same, turns: [turn('You see a\ncup. ', 'take cup')], seed: 9 }),
        makeRollout('r2', 'a', 0, { ...same, finalObservation: 'Other.' }),
      ]),
      1,
    );
    expect(block.trajectories.map(({ multiplicity, sourceIds }) => [multiplicity, sourceIds])).toEqual([
      [2, ['r0', 'r1']],
      [1, ['r2']],
    ]);
  });

  it('keeps equal transcripts of different outcomes apart, and route and K as they were', () => {
    const block = deduplicate(
      group([makeRollout('r0', 'a', 0, same), makeRollout('r1', 'a', 1, same), makeRollout('r2', 'a', 1, same)]),
      1,
    );
    expect(block).toMatchObject({ route: 'mixed', successes: 2, outcomes: 3 });
    expect(block.trajectories).toHaveLength(2);
  });
});

describe('canonicalJson', () => {
  it('sorts keys, drops bookkeeping and nulls, collapses white space', () => {
    expect(canonicalJson({ role: 'tool', tool_call_id: 'x1', content: 'a  b', name: null })).toBe(
      canonicalJson({ content: 'a b', role: 'tool' }),
    );
    expect(canonicalJson({ usage: { tokens: 3 }, content: 'a', timestamp: 5 })).toBe('{"content":"a"}');
  });

  it('reads JSON inside strings, and keeps ids that are content', () => {
    expect(canonicalJson({ arguments: '{"b":1,"a":2}' })).toBe(canonicalJson({ arguments: '{"a": 2, "b": 1}' }));
    expect(canonicalJson({ arguments: '{"id":1}' })).not.toBe(canonicalJson({ arguments: '{"id":2}' }));
    expect(canonicalJson({ arguments: { id: 1 } })).not.toBe(canonicalJson({ arguments: { id: 2 } }));
  });
});
