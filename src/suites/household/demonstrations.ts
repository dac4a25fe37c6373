import type { Random } from '../../core/random.ts';
import { act, admissibleCommands, initialObservation, initialState, isSolved, type State } from './engine.ts';
import { type DemonstratedTurn, drawHabits, Expert } from './expert.ts';
import { type GameSpec, generateGame, STEP_LIMIT } from './generate.ts';
import { DISTRACTORS, RULE_IDS, RULES, type RuleId, rule, rulesAtStake } from './rules.ts';
import { type Game, type Hazard, TASK_TYPES } from './world.ts';

/** One episode to learn from: the context it was played under and its turns. */
export interface Lesson {
  readonly context: string;
  readonly stated: ReadonlySet<RuleId>;
  readonly game: Game;
  /** `slip` marks a turn whose action was not the expert's and is not to be imitated. */
  readonly turns: readonly (DemonstratedTurn & { readonly slip: boolean })[];
  readonly success: boolean;
}

/**
 * The `random` stream's lesson. Contexts are counterfactual: the rules at stake in the game are stated with a chance drawn from
 * {½, ½, ½, 0, 1}, the others with one drawn from {0, ¼, 0.6, 1}, independently of each other. So neither the number of rules nor
 * the presence of some says anything about the rest, and only the sentence that matters predicts what the expert does. Contexts
 * that state nothing, and those that state all but one rule at stake, are what the lab compares most: they get a share of their own.
 * @param early in the first third of training contexts state at most three rules.
 */
export function makeLesson(random: Random, early: boolean): Lesson {
  const game = generateGame(drawSpec(random.split('spec')), random.split('game'));
  const stated = drawStated(game, random.split('rules'), early);
  const context = writeContext(stated, random.split('context'));
  const bad = drawHabits(game, stated, random.split('habits'));
  return { context, stated, game, ...play(game, bad, random.split('slips')) };
}

const EXTRA_HAZARDS: readonly Hazard[] = ['closed', 'look-alike', 'look-alike', 'far', 'far'];

/** Pick & place always carries a hazard; the other types, which have one of their own, half of the time. */
function drawSpec(random: Random): GameSpec {
  const type = random.pick(TASK_TYPES);
  const hazards = new Set<Hazard>();
  if (random.chance(type === 'place' ? 0.95 : 0.6)) hazards.add(random.pick(EXTRA_HAZARDS));
  if (random.chance(0.15)) hazards.add(random.pick(EXTRA_HAZARDS));
  if (random.chance(0.2)) hazards.add('appliance');
  if (random.chance(0.2)) hazards.add('place');
  return { type, hazards: [...hazards], heldOutPair: false };
}

const NOTHING_STATED = 0.12;
const ALL_BUT_ONE = 0.12;

function drawStated(game: Game, random: Random, early: boolean): ReadonlySet<RuleId> {
  const relevant = random.pick([0.5, 0.5, 0.5, 0, 1]);
  const other = random.pick([0, 0.25, 0.6, 1]);
  const stakes = rulesAtStake(game);
  const kind = random.next();
  if (kind < NOTHING_STATED) return new Set();
  if (kind > 1 - ALL_BUT_ONE && stakes.length > 0 && !early) {
    const missing = random.pick(stakes);
    return new Set(RULE_IDS.filter((id) => id !== missing));
  }
  const stated = RULE_IDS.filter((id) => random.chance(stakes.includes(id) ? relevant : other));
  return new Set(early ? random.shuffle(stated).slice(0, 3) : stated);
}

const HEADINGS = ['# Household rules', '# Rules', '## Advice', '# Context', '# Skill', '## Rules for the task', '# Notes'];
const OPENINGS = [
  'You are an agent in a house. Follow these rules.',
  'Keep the following in mind.',
  'These rules help with the tasks.',
  'Read this before you act.',
];

/** A context in one of the shapes that people and optimisers give it. */
function writeContext(stated: ReadonlySet<RuleId>, random: Random): string {
  const sentences: string[] = [];
  for (const id of stated) {
    const wordings = random.shuffle(rule(id).training);
    sentences.push(roughen(wordings[0]!, random));
    if (random.chance(0.12)) sentences.push(roughen(wordings[1]!, random));
  }
  if (random.chance(0.5)) for (let n = 1 + random.int(3); n > 0; n--) sentences.push(roughen(random.pick(DISTRACTORS), random));
  if (random.chance(0.25))
    for (let n = 1 + random.int(2); n > 0; n--) sentences.push(roughen(random.pick(random.pick(RULES).wrong), random));
  return layOut(random.shuffle(sentences), random);
}

function layOut(sentences: readonly string[], random: Random): string {
  const parts: string[] = [];
  if (random.chance(0.15)) parts.push(random.pick(HEADINGS));
  if (random.chance(0.1)) parts.push(random.pick(OPENINGS));
  const shape = random.next();
  if (shape < 0.76) parts.push(sentences.map((sentence) => `- ${sentence}`).join('\n'));
  else if (shape < 0.82) parts.push(sentences.map((sentence) => `* ${sentence}`).join('\n'));
  else if (shape < 0.88) parts.push(sentences.map((sentence, i) => `${i + 1}. ${sentence}`).join('\n'));
  else if (shape < 0.94) parts.push(sentences.join(' '));
  else parts.push(sentences.join('\n'));
  const text = parts.filter((part) => part !== '').join('\n\n');
  return random.chance(0.03) ? `<!-- protected:start base -->\n${text}\n<!-- protected:end base -->` : text;
}

const STRANGE = 'bcdfghklmnprstvw';

/**
 * Now and then leaves out words of a sentence or puts a strange one in, so that its meaning is read from all of it and
 * wording the model has never met does not throw it off.
 */
function roughen(sentence: string, random: Random): string {
  if (!random.chance(0.3)) return sentence;
  const strange = random.chance(0.3);
  const words = sentence.split(' ').flatMap((word) => {
    if (random.chance(0.1)) return [];
    return strange && random.chance(0.1) ? [strangeWord(random), word] : [word];
  });
  return words.length > 0 ? words.join(' ') : sentence;
}

function strangeWord(random: Random): string {
  return Array.from({ length: 1 + random.int(3) }, () => random.pick([...STRANGE]) + random.pick([...'aeiou'])).join('');
}

/** Plays the expert; in one episode of sixteen one action is a slip, from which it goes on as if nothing had happened. */
function play(game: Game, bad: ReadonlySet<RuleId>, random: Random): Pick<Lesson, 'turns' | 'success'> {
  const expert = new Expert(game, bad);
  const slipAt = random.chance(1 / 16) ? 1 + random.int(5) : -1;
  const turns: (DemonstratedTurn & { slip: boolean })[] = [];
  let state = initialState(game);
  let observation = initialObservation(game);
  while (turns.length < STEP_LIMIT && !state.stopped && !isSolved(game, state)) {
    const slip = turns.length === slipAt;
    const action = slip ? slipCommand(game, state, random) : expert.next(state);
    turns.push({ observation, action, slip });
    ({ state, observation } = act(game, state, action));
  }
  return { turns, success: isSolved(game, state) };
}

/** Something harmless and pointless: a look around, or a command that the game does not understand here. */
function slipCommand(game: Game, state: State, random: Random): string {
  const harmless = admissibleCommands(game, state).filter((command) => /^(look|inventory|examine )/.test(command));
  if (random.chance(0.5)) return random.pick(harmless);
  const receptacle = random.pick(game.room).name;
  return random.pick([`take ${game.goal.object} 1 from ${receptacle}`, `open ${receptacle}`, `close ${receptacle}`]);
}
