import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { act, admissibleCommands, initialObservation, initialState, isSolved } from '../../../src/suites/household/engine.ts';
import { createHouseholdSuite, taskGame } from '../../../src/suites/household/suite.ts';
import type { Game } from '../../../src/suites/household/world.ts';

const GAME: Game = {
  kind: 'small',
  room: [
    { name: 'cabinet 1', items: ['mug 1', 'pen 2'] },
    { name: 'microwave 1', items: [] },
    { name: 'fridge 1', items: ['apple 1'] },
    { name: 'desk 1', items: ['desklamp 1', 'book 1', 'cup 1'] },
  ],
  goal: { type: 'heat', object: 'mug', place: 'desk' },
  hazards: ['closed'],
  lampFirst: false,
};

function play(game: Game, commands: readonly string[]): { observations: string[]; solved: boolean } {
  let state = initialState(game);
  const observations = commands.map((command) => {
    const outcome = act(game, state, command);
    state = outcome.state;
    return outcome.observation;
  });
  return { observations, solved: isSolved(game, state) };
}

describe('wording', () => {
  it('opens with the room and the task', () => {
    expect(initialObservation(GAME)).toBe(
      'You are in the middle of a room. Looking quickly around you, you see cabinet 1, microwave 1, fridge 1, and desk 1.\n\nYour task is to: put a hot mug in desk.',
    );
  });

  it("answers a whole game in ALFWorld's words", () => {
    const { observations, solved } = play(GAME, [
      'go to cabinet 1',
      'open cabinet 1',
      'take mug 1 from cabinet 1',
      'inventory',
      'go to microwave 1',
      'heat mug 1 with microwave 1',
      'examine mug 1',
      'go to desk 1',
      'use desklamp 1',
      'put mug 1 in/on desk 1',
    ]);
    expect(observations).toEqual([
      'You arrive at loc 1. cabinet 1 is closed.',
      'You open cabinet 1. In cabinet 1, you see mug 1, and pen 2.',
      'You take mug 1 from cabinet 1.',
      'You are carrying: mug 1.',
      'You arrive at loc 2. microwave 1 is closed.',
      'You heat mug 1 using microwave 1.',
      'This is a hot mug 1.',
      'You arrive at loc 4. On desk 1, you see desklamp 1, book 1, and cup 1.',
      'You turn on desklamp 1.',
      'You put mug 1 in/on desk 1.',
    ]);
    expect(solved).toBe(true);
  });

  it('lets a second treatment undo the first', () => {
    const { observations, solved } = play(GAME, [
      'go to cabinet 1',
      'open cabinet 1',
      'take mug 1 from cabinet 1',
      'go to microwave 1',
      'heat mug 1 with microwave 1',
      'go to fridge 1',
      'cool mug 1 with fridge 1',
      'examine mug 1',
      'go to desk 1',
      'put mug 1 in/on desk 1',
    ]);
    expect(observations[7]).toBe('This is a cold mug 1.');
    expect(solved).toBe(false);
  });

  it.each([
    ['take mug 1 from cabinet 1', 'far away'],
    ['open cabinet 1', 'far away'],
    ['put mug 1 in/on desk 1', 'empty hands'],
    ['heat mug 1 with microwave 1', 'empty hands'],
    ['use desklamp 1', 'lamp not here'],
    ['fly to the moon', 'nonsense'],
    ['', 'empty'],
    ['go to desk 9', 'no such place'],
  ])('answers %j with nothing (%s)', (command) => {
    const state = initialState(GAME);
    const outcome = act(GAME, state, command);
    expect(outcome.observation).toBe('Nothing happens.');
    expect(outcome.state).toBe(state);
  });

  it('keeps what is behind a closed door out of reach', () => {
    expect(play(GAME, ['go to cabinet 1', 'take mug 1 from cabinet 1']).observations[1]).toBe('Nothing happens.');
    expect(play(GAME, ['go to cabinet 1', 'open cabinet 1', 'close cabinet 1', 'take mug 1 from cabinet 1']).observations[3]).toBe(
      'Nothing happens.',
    );
    expect(play(GAME, ['go to desk 1', 'take book 1 from desk 1', 'go to fridge 1', 'put book 1 in/on fridge 1']).observations[3]).toBe(
      'Nothing happens.',
    );
  });

  it('counts the lamp only with the object in hand beside it', () => {
    const game: Game = { ...GAME, goal: { type: 'light', object: 'mug', place: 'desk' } };
    expect(play(game, ['go to desk 1', 'use desklamp 1']).solved).toBe(false);
    expect(play(game, ['go to cabinet 1', 'open cabinet 1', 'take mug 1 from cabinet 1', 'go to desk 1', 'use desklamp 1']).solved).toBe(
      true,
    );
    // The lamp stays on, so bringing the object later counts too.
    const later = ['go to desk 1', 'use desklamp 1', 'go to cabinet 1', 'open cabinet 1', 'take mug 1 from cabinet 1', 'go to desk 1'];
    expect(play(game, later).solved).toBe(true);
  });

  it('needs two objects in one place for a task of two', () => {
    const game: Game = {
      ...GAME,
      room: [
        { name: 'shelf 1', items: ['pen 1'] },
        { name: 'desk 1', items: ['pen 2'] },
        { name: 'dresser 1', items: [] },
      ],
      goal: { type: 'two', object: 'pen', place: 'dresser' },
    };
    const first = ['go to shelf 1', 'take pen 1 from shelf 1', 'go to dresser 1', 'put pen 1 in/on dresser 1'];
    const second = ['go to desk 1', 'take pen 2 from desk 1', 'go to dresser 1', 'put pen 2 in/on dresser 1'];
    expect(play(game, first).solved).toBe(false);
    expect(play(game, [...first, ...second]).solved).toBe(true);
  });
});

describe('admissible commands', () => {
  const tasks = createHouseholdSuite({ sizes: { train: 60, val: 0, test: 0, unseen: 0 } }).splits.train;

  it('always do something, wherever a random walk leads', () => {
    fc.assert(
      fc.property(fc.nat(tasks.length - 1), fc.array(fc.nat(1000), { minLength: 1, maxLength: 25 }), (index, choices) => {
        const game = taskGame(tasks[index]!);
        let state = initialState(game);
        for (const choice of choices) {
          const commands = admissibleCommands(game, state);
          expect(new Set(commands).size).toBe(commands.length);
          for (const command of commands) expect(act(game, state, command).observation, command).not.toBe('Nothing happens.');
          const chosen = commands[choice % commands.length]!;
          if (chosen === 'done') return;
          state = act(game, state, chosen).state;
        }
      }),
      { numRuns: 60 },
    );
  });

  it('hold every command that does something', () => {
    const game = taskGame(tasks[0]!);
    const names = game.room.flatMap(({ name, items }) => [name, ...items]);
    const everything = names.flatMap((a) => [
      ...['go to', 'open', 'close', 'examine', 'use'].map((verb) => `${verb} ${a}`),
      ...names.flatMap((b) => [
        `take ${a} from ${b}`,
        `put ${a} in/on ${b}`,
        `heat ${a} with ${b}`,
        `cool ${a} with ${b}`,
        `clean ${a} with ${b}`,
      ]),
    ]);
    let state = initialState(game);
    for (const step of [...game.room.map(({ name }) => `go to ${name}`)]) {
      state = act(game, state, step).state;
      const working = everything.filter((command) => act(game, state, command).observation !== 'Nothing happens.');
      const listed = admissibleCommands(game, state).filter((command) => !['done', 'look', 'inventory'].includes(command));
      expect(listed.toSorted()).toEqual(working.toSorted());
    }
  });
});

describe('clones', () => {
  it('go their own way', async () => {
    const suite = createHouseholdSuite({ sizes: { train: 1, val: 0, test: 0, unseen: 0 } });
    const task = suite.splits.train[0]!;
    const room = taskGame(task).room;
    const episode = suite.open(task, 1);
    await episode.act(`go to ${room[0]!.name}`);
    const copy = episode.clone!();
    const before = episode.observation;
    await copy.act(`go to ${room[1]!.name}`);
    expect(episode.observation).toBe(before);
    expect(copy.observation).not.toBe(before);
    expect(episode.admissible).toContain(`go to ${room[1]!.name}`);
  });

  it('share what did not change', () => {
    const state = initialState(GAME);
    const after = act(GAME, state, 'go to desk 1').state;
    expect(after.contents).toBe(state.contents);
    const taken = act(GAME, after, 'take book 1 from desk 1').state;
    expect(taken.contents[0]).toBe(state.contents[0]);
    expect(state.contents[3]).toEqual(['desklamp 1', 'book 1', 'cup 1']);
  });
});
