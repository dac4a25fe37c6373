import { foldKey } from '../../core/fold.ts';
import type { Random } from '../../core/random.ts';
import { DISTRACTORS, RULE_IDS, RULES, type RuleId } from '../../suites/household/rules.ts';
import { words } from '../similarity.ts';

/** How a card says that a rule was kept or broken. */
export const CARD_TEXTS: Readonly<Record<RuleId, { readonly condition: string; readonly kept: string; readonly broken: string }>> = {
  open: {
    condition: 'Searching, at a closed receptacle',
    kept: 'Opened the closed receptacle and looked inside',
    broken: 'Moved on from the closed receptacle without opening it',
  },
  treat: {
    condition: 'The task wants the object clean, hot or cool',
    kept: 'Treated the object with its appliance before placing it',
    broken: 'Placed the object without cleaning, heating or cooling it',
  },
  exact: {
    condition: 'Several similar objects are in the room',
    kept: 'Took the object with the exact name in the task',
    broken: 'Took a similar object instead of the named one',
  },
  lamp: {
    condition: 'The task is to look at an object under the desklamp',
    kept: 'Used the desklamp while holding the object',
    broken: 'Used the desklamp with empty hands',
  },
  two: {
    condition: 'The task asks for two objects',
    kept: 'Went on to fetch and place the second object',
    broken: 'Stopped after placing the first object',
  },
  'new-place': {
    condition: 'The object has not been found yet',
    kept: 'Went on to a place not searched before',
    broken: 'Went back to a place already searched',
  },
};

/** Wordings of the analyst's own. */
const FREE: Readonly<Record<RuleId, readonly string[]>> = {
  open: ['Open closed receptacles when you search for something.', 'Closed does not mean empty: open it and look.'],
  treat: [
    'Use the appliance the task calls for before you put the object down.',
    'No hot, cool or clean object without a stop at its appliance.',
  ],
  exact: ['Match the object name in the task exactly before taking anything.', 'Pass similar objects by until you see the named one.'],
  lamp: ['Have the object in hand before you use the lamp.', 'Fetch the object, go to the lamp, and only then turn it on.'],
  two: ['For tasks with two objects, go on until the second is placed.', 'After the first of two objects, search on for the other.'],
  'new-place': ['Move on to places you have not searched yet.', 'Each place needs only one look: go on to the next.'],
};

/** Conditional wordings, for narrowing. */
export const NARROW: Readonly<Partial<Record<RuleId, string>>> = {
  treat: 'If the task says hot, use the microwave first; clean, the sinkbasin; cool, the fridge.',
  two: 'When the task wants two objects, fetch the second after placing the first.',
  open: 'If a receptacle is closed, open it and look inside before you move on.',
};

/** What a sentence advises, as far as the analyst can tell: a rule, for or against it; undefined when it is about neither. */
export interface Advice {
  readonly rule: RuleId;
  readonly follows: boolean;
}

const KNOWN = new Map<string, Advice>();
for (const { id, training, heldOut, wrong } of RULES) {
  for (const sentence of [...training, ...heldOut, ...FREE[id]]) KNOWN.set(sentenceKey(sentence), { rule: id, follows: true });
  for (const sentence of wrong) KNOWN.set(sentenceKey(sentence), { rule: id, follows: false });
}
const IDLE = new Set(DISTRACTORS.map(sentenceKey));

const SIGNS: Readonly<Record<RuleId, readonly string[]>> = {
  open: ['closed', 'open', 'opened', 'opening', 'shut', 'inside', 'unopened'],
  treat: ['clean', 'heat', 'cool', 'hot', 'appliance', 'microwave', 'sinkbasin', 'fridge', 'treat', 'treated', 'untreated'],
  exact: ['exact', 'exactly', 'similar', 'named', 'name', 'alike', 'alikes', 'same'],
  lamp: ['lamp', 'desklamp', 'light'],
  two: ['two', 'second', 'both', 'another', 'pair'],
  'new-place': ['twice', 'visited', 'new', 'again', 'already', 'searched', 'once', 'next'],
};

/** What a sentence of the context or of an edit is about. */
export function adviceOf(sentence: string): Advice | undefined {
  const key = sentenceKey(sentence);
  const known = KNOWN.get(key);
  if (known || IDLE.has(key)) return known;
  const said = words(sentence);
  let best: { rule: RuleId; signs: number } | undefined;
  for (const rule of RULE_IDS) {
    const signs = said.filter((word) => SIGNS[rule].includes(word)).length;
    if (signs >= 2 && (!best || signs > best.signs)) best = { rule, signs };
  }
  return best && { rule: best.rule, follows: true };
}

/** The rules that a context states, each with its line. */
export function statedRules(context: string): Map<RuleId, string> {
  const stated = new Map<RuleId, string>();
  for (const line of context.split('\n')) {
    const advice = line.startsWith('<!--') ? undefined : adviceOf(line);
    if (advice?.follows && !stated.has(advice.rule)) stated.set(advice.rule, line);
  }
  return stated;
}

/** How the analyst words its proposals. It is no oracle: one in eight is beside the point or plainly wrong. */
const WRONG = 0.06;
const IDLE_CHANCE = 0.06;
const FREE_CHANCE = 0.15;
const HELD_OUT_CHANCE = 0.15;

/** A sentence for a rule, none of `avoid`; sometimes one that does not help. */
export function wordingFor(rule: RuleId, avoid: ReadonlySet<string>, random: Random): string {
  const kind = random.next();
  const { training, heldOut, wrong } = RULES.find(({ id }) => id === rule) as (typeof RULES)[number];
  if (kind < WRONG) return random.pick(wrong);
  if (kind < WRONG + IDLE_CHANCE) return random.pick(DISTRACTORS);
  const style = random.next();
  const pool = style < FREE_CHANCE ? FREE[rule] : style < FREE_CHANCE + HELD_OUT_CHANCE ? heldOut : training;
  const fresh = [pool, training, heldOut, FREE[rule]].map((list) => list.filter((sentence) => !avoid.has(sentenceKey(sentence))));
  return random.pick(fresh.find((list) => list.length > 0) ?? pool);
}

/** A sentence without its list mark, for comparison. */
export function sentenceKey(text: string): string {
  return foldKey(text)
    .replace(/^[-*] /, '')
    .toLowerCase();
}
