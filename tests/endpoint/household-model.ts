import { Random } from '../../src/core/random.ts';
import type { Message } from '../../src/core/types.ts';
import { act, initialObservation, initialState } from '../../src/suites/household/engine.ts';
import { drawHabits, Expert } from '../../src/suites/household/expert.ts';
import { habitChance, RULE_IDS, type RuleId } from '../../src/suites/household/rules.ts';
import { createHouseholdSuite, taskGame } from '../../src/suites/household/suite.ts';
import type { Game } from '../../src/suites/household/world.ts';
import { statedRules } from '../../src/textual/analyst/wordings.ts';

interface Asked {
  readonly messages: readonly Message[];
  readonly temperature: number;
  readonly seed: number;
}

/**
 * A "language model" that knows every game of the household suite and plays it as the scripted expert: rules that the system
 * text states are followed, the others are broken by habit. The habits of an episode are drawn from the seed of its first turn
 * (turn t is asked with that seed plus t); at temperature 0 the likelier behaviour is taken.
 */
export function householdModel(): (asked: Asked) => string {
  const games = new Map<string, Game[]>();
  for (const tasks of Object.values(createHouseholdSuite().splits)) {
    for (const task of tasks) {
      const game = taskGame(task);
      const opening = initialObservation(game);
      games.set(opening, [...(games.get(opening) ?? []), game]);
    }
  }
  return ({ messages, temperature, seed }) => {
    const system = messages.find(({ role }) => role === 'system')?.content ?? '';
    const talk = messages.filter(({ role }) => role !== 'system');
    const stated = new Set(statedRules(system).keys());
    const turn = talk.filter(({ role }) => role === 'assistant').length;
    const first = (seed - turn + 2 ** 31) % 2 ** 31;
    for (const game of games.get(talk[0]?.content ?? '') ?? []) {
      const bad = temperature === 0 ? likelyHabits(game, stated) : drawHabits(game, stated, new Random(first, 'habits'));
      const command = nextCommand(game, bad, talk);
      if (command !== undefined) return command;
    }
    return 'done';
  };
}

/** What the expert says next, or undefined when the conversation is not one about this game. */
function nextCommand(game: Game, bad: ReadonlySet<RuleId>, talk: readonly Message[]): string | undefined {
  const expert = new Expert(game, bad);
  let state = initialState(game);
  let observation = initialObservation(game);
  for (let i = 0; ; i += 2) {
    if (talk[i]?.content !== observation) return undefined;
    const command = expert.next(state);
    const said = talk[i + 1]?.content;
    if (said === undefined) return command;
    ({ state, observation } = act(game, state, said));
  }
}

function likelyHabits(game: Game, stated: ReadonlySet<RuleId>): ReadonlySet<RuleId> {
  return new Set(RULE_IDS.filter((id) => !stated.has(id) && habitChance(id, game.goal.object) > 0.5));
}
