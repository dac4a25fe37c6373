import { describe, expect, it } from 'vitest';
import { consolidateCards, verifyCards } from '../../../src/textual/cards.ts';
import { deduplicate, type TaskBlock } from '../../../src/textual/dedupe.ts';
import { type RoutedGroup, routeGroups } from '../../../src/textual/routing.ts';
import { locateQuote } from '../../../src/textual/transcript.ts';
import type { CardRejection } from '../../../src/textual/types.ts';
import { makeCard, makeRollout, makeTask, turn } from './builders.ts';

const rollout = makeRollout('r1', 'a', 1, {
  turns: [turn('You’re at shelf 1 —  nothing here.\r\nTurn around.', 'go to drawer 2'), turn('drawer 2 is closed.', 'open drawer 2')],
  finalObservation: 'You open drawer 2. In drawer 2, you see nothing.',
});
const block: TaskBlock = deduplicate(
  routeGroups([{ task: makeTask('a'), rollouts: [rollout, makeRollout('r2', 'a', 0)] }], 1).routed[0] as RoutedGroup,
  1,
);
const card = (change: object = {}) => ({
  task_id: 'a',
  rollout_id: 'r1',
  quote: 'drawer 2 is closed.',
  condition: 'at a closed drawer',
  behavior: 'opened it',
  observed_effect: 'saw inside',
  ...change,
});
const reasonOf = (entry: unknown): CardRejection | 'kept' => verifyCards([entry], [block], 'c').rejected[0]?.reason ?? 'kept';

describe('verifyCards', () => {
  it.each<[string, unknown, CardRejection | 'kept']>([
    ['a true quote', card(), 'kept'],
    ['no object', 'hello', 'malformed'],
    ['a missing id', { quote: 'drawer 2 is closed.' }, 'malformed'],
    ['a task that was not shown', card({ task_id: 'b' }), 'unknown-task'],
    ['a rollout that was not shown', card({ rollout_id: 'r9' }), 'unknown-trajectory'],
    ['no quote', card({ quote: '  ' }), 'quote-missing'],
    ['a quote that is only an ellipsis', card({ quote: '…' }), 'quote-missing'],
    ['seven characters', card({ quote: 'drawer2' }), 'quote-too-short'],
    ['eight characters', card({ quote: 'drawer 2' }), 'kept'],
    ['a long quote', card({ quote: 'x'.repeat(801) }), 'quote-too-long'],
    ['an invented quote', card({ quote: 'drawer 3 is closed.' }), 'quote-not-found'],
    ['the words of another rollout', card({ quote: 'seen by r2' }), 'quote-not-found'],
    ['an empty field', card({ behavior: ' ' }), 'field-empty'],
    ['a missing field', card({ condition: undefined }), 'field-empty'],
    ['a long field', card({ observed_effect: 'x'.repeat(301) }), 'field-too-long'],
    ['straight for curly quotes, one space for two', card({ quote: "You're at shelf 1 - nothing here. Turn around." }), 'kept'],
    ['an ellipsis in order', card({ quote: 'go to drawer … is closed' }), 'kept'],
    ['an ellipsis out of order', card({ quote: 'drawer 2 is closed ... Turn around' }), 'quote-not-found'],
    ['an ellipsis with one invented side', card({ quote: 'drawer 2 is closed ... and locked' }), 'quote-not-found'],
    ['dots that hide how short it is', card({ quote: 'dr...........ed' }), 'quote-too-short'],
  ])('%s', (_, entry, reason) => {
    expect(reasonOf(entry)).toBe(reason);
  });

  it('keeps one card a trajectory; a refused one does not use up its place', () => {
    const { cards, rejected } = verifyCards([card({ quote: 'never said at all' }), card(), card({ quote: 'open drawer 2' })], [block], 'c');
    expect(cards.map(({ quote }) => quote)).toEqual(['drawer 2 is closed.']);
    expect(rejected.map(({ reason }) => reason)).toEqual(['quote-not-found', 'second-card-for-trajectory']);
  });

  it('says where the quote stands and carries the route', () => {
    const [kept] = verifyCards([card()], [block], 'call').cards;
    expect(kept).toMatchObject({ route: 'mixed', callId: 'call', location: { turn: 1, field: 'observation', start: 0, end: 19 } });
  });
});

describe('locateQuote', () => {
  it('shows the elided span', () => {
    const found = locateQuote(rollout, 'You open drawer 2 ... you see nothing');
    expect(found?.elided).toBe('. In drawer 2,');
    expect(found?.location).toEqual({ turn: 2, field: 'observation', start: 0, end: 47 });
  });

  it('follows a quote into the next field', () => {
    expect(locateQuote(rollout, 'drawer 2 is closed. open drawer 2')?.location).toEqual({
      turn: 1,
      field: 'observation',
      start: 0,
      end: 19,
      through: { turn: 1, field: 'action', end: 13 },
    });
  });

  it('prefers literal dots to an ellipsis', () => {
    const dots = makeRollout('d', 'a', 1, { turns: [turn('wait... then go', 'x')] });
    expect(locateQuote(dots, 'wait... then go')?.elided).toBeUndefined();
  });
});

it('consolidates repeated cards', () => {
  const same = consolidateCards([makeCard('a', 'opened it'), makeCard('a', 'Opened  it', { callId: 'other' }), makeCard('b', 'opened it')]);
  expect(same.map(({ taskId, multiplicity }) => [taskId, multiplicity])).toEqual([
    ['a', 2],
    ['b', 1],
  ]);
});
