import { type Game, lookAlike, OBJECT_TYPES, treatmentOf } from './world.ts';

/** The six rules of conduct that the household expert follows when its context states them. */
export const RULE_IDS = ['open', 'treat', 'exact', 'lamp', 'two', 'new-place'] as const;
export type RuleId = (typeof RULE_IDS)[number];

export interface Rule {
  readonly id: RuleId;
  /** What following it means. */
  readonly meaning: string;
  /** What is done where it is not followed. */
  readonly habit: string;
  /** Sentences that state it and that the shipped model was trained on. */
  readonly training: readonly string[];
  /** Sentences that state it and that the model never saw. */
  readonly heldOut: readonly string[];
  /** Sentences that advise the habit. They state no rule: the expert behaves as without them. */
  readonly wrong: readonly string[];
}

export const RULES: readonly Rule[] = [
  {
    id: 'open',
    meaning: 'open closed receptacles while searching',
    habit: 'passes closed receptacles by',
    training: [
      'Open every closed receptacle you come to while searching.',
      'If a receptacle is closed, open it and look inside before you move on.',
      'Look inside closed cabinets, drawers and fridges: open them first.',
      'Do not walk past a closed drawer or cabinet; open it.',
      'When a place is closed, open it to see what is in it.',
      'Objects are often hidden in closed places, so open each one during the search.',
      'Closed doors hide objects: always open them when you search for something.',
      'While you search, never skip a closed receptacle without opening it.',
      'Check inside anything that is shut by opening it.',
      'On arriving at a closed receptacle, open it at once.',
      'The object may be inside: open closed receptacles and check them.',
      'When you arrive at a closed receptacle such as a drawer or cabinet, open it before you continue.',
      'Closed receptacles must be opened during the search.',
      'Always check closed receptacles by opening them until the target is found.',
      'Do not leave a closed receptacle unopened.',
    ],
    heldOut: [
      'Never pass by a closed place: open it and look inside.',
      'Open any shut cabinet, drawer or fridge during your search.',
      'Before leaving a closed receptacle, open it to check for the object.',
    ],
    wrong: ['Closed receptacles are empty, so leave them closed.', 'Search only the places that are not closed.'],
  },
  {
    id: 'treat',
    meaning: 'clean, heat or cool the object with the right appliance before placing it',
    habit: 'places the object untreated',
    training: [
      'Clean, heat or cool the object with the right appliance before you place it.',
      'If the task says hot, use the microwave first; clean, the sinkbasin; cool, the fridge.',
      'Do not put an object down before it has been heated, cooled or cleaned as asked.',
      'A hot, cool or clean object needs its appliance first, then its place.',
      'Go to the microwave, fridge or sinkbasin and treat the object before putting it in place.',
      'Treat the object as the task asks before you put it in its place.',
      'Always do the heating, cooling or cleaning step before placing the object.',
      'Visit the appliance first: heat with a microwave, cool with a fridge, clean with a sinkbasin.',
      'Never place an untreated object when the task wants it hot, cool or clean.',
      'Make the object hot, cool or clean first, as the task says, and only then place it.',
      'Heat, cool or clean what you carry before it is put down.',
      'If the goal mentions hot, cool or clean, use the right appliance on the item before you deliver it.',
      'Do the requested heating, cooling or cleaning before you deliver the item.',
      'Use the microwave to heat, the fridge to cool and the sinkbasin to clean before placing the target.',
      'After you take the item, go to the appliance the task needs before you go to its place.',
    ],
    heldOut: [
      'First heat, cool or clean the object as the task asks, then put it in its place.',
      'An object that must be hot, cool or clean has to visit the right appliance before it is placed.',
      'Before placing it, treat the object with the microwave, fridge or sinkbasin.',
    ],
    wrong: ['Put the object in its place at once, as it is.', 'The microwave, fridge and sinkbasin are not needed.'],
  },
  {
    id: 'exact',
    meaning: 'take the object the task names, not its look-alike',
    habit: 'takes the first similar object',
    training: [
      'Take only the exact object the task names, not one that looks like it.',
      'A cup is not a mug: pick the object with the exact name in the task.',
      'Leave similar objects alone and keep looking for the named one.',
      'Do not take a look-alike; match the name of the object with the task.',
      "Check that the object's name is the same as in the task before you take it.",
      'Ignore objects that are only similar to the one you need.',
      'Never take a similar object instead of the one that is named.',
      'The name must match exactly: a bowl is no plate and a fork is no knife.',
      'Similar objects are not the same; take just the one asked for.',
      'Pick up nothing but the exact object in the task.',
      'A pen is no pencil and a book is no newspaper: take the one the task names.',
      'Take only the object type the goal mentions; a similar item does not count.',
      'Check the type of each object before you take it; it must match the goal.',
      'Avoid taking similar items such as a cup for a mug or a pen for a pencil.',
      'The target must have the exact name in the goal, so leave other items where they are.',
    ],
    heldOut: [
      'Do not pick up similar objects; take exactly the one the task names.',
      'Take an object only if its name is the same as the name in the task.',
      'Leave look-alikes alone: only the named object counts.',
    ],
    wrong: ['Any similar object will do just as well.', 'Take the first object that looks about right.'],
  },
  {
    id: 'lamp',
    meaning: 'hold the object, then use the lamp',
    habit: 'uses the lamp with empty hands',
    training: [
      'Hold the object first, then use the lamp.',
      'Do not turn on the desklamp before you hold the object.',
      'To look at something under the lamp, pick it up first and carry it to the desklamp.',
      'Find and take the object before you use the desklamp.',
      'Bring the object to the lamp, then turn the lamp on.',
      'The lamp only helps when the object is in your hand.',
      'Using the lamp with empty hands does not count.',
      'First the object, then the light: carry it to the lamp.',
      'Never use a lamp while your hands are empty.',
      'Go back to the desklamp with the object in hand and use it there.',
      'Pick up the object before turning on the desklamp.',
      'Do not use the desklamp until you are holding the target.',
      'Use the lamp only after you have taken the item.',
      'While holding the target, go to the desklamp and turn it on.',
      'Avoid using the lamp without the object in hand.',
    ],
    heldOut: [
      'Take the object in your hand before turning on the lamp.',
      'Use the desklamp only while you hold the object.',
      'Carry the object to the desklamp first, then use the lamp.',
    ],
    wrong: ['Turn on the lamp as soon as you see it.', 'The desklamp works just as well with empty hands.'],
  },
  {
    id: 'two',
    meaning: 'fetch the second object as well',
    habit: 'stops after the first object',
    training: [
      'When the task wants two objects, fetch the second after placing the first.',
      'Two means two: go back and find the second one.',
      'Do not stop after the first object if the task asks for two.',
      'After putting the first one down, search for the second of the same kind.',
      'If two are needed, keep searching until both are in place.',
      'Bring both objects, one after the other.',
      'One is not enough when the task says two; fetch another.',
      'Count the objects you placed: the task may need a second.',
      'Return for the second object before you finish.',
      'You are not done until the second object is placed too.',
      'Find two and place two: one object is only half of it.',
      'If the goal needs two items, deliver the first and then look for the second.',
      'Continue until both items have been delivered.',
      'Do not finish after one item when two are requested.',
      'After delivering one of two, search for the other one.',
    ],
    heldOut: [
      'After the first object is placed, find and bring the second one.',
      'If the task says two, do not stop until both objects are in place.',
      'Go back for the second object when two are needed.',
    ],
    wrong: ['One object is always enough.', 'Stop as soon as the first object is placed.'],
  },
  {
    id: 'new-place',
    meaning: 'never search a place twice',
    habit: 'goes back to a place it has searched',
    training: [
      'Never search the same place twice.',
      'Always go to a place you have not visited yet.',
      'Do not go back to a receptacle you have already searched; try a new one.',
      'Keep moving to new places until the object is found.',
      'Search each receptacle once, one after the other, and do not return to it.',
      'Skip places that were checked before and visit the next one.',
      'When a place did not have the object, continue with one you have not visited.',
      'Remember where you looked and look somewhere new.',
      'Go through all the places in order without going back.',
      'If nothing is found, move on to the next place, never to an old one.',
      'A place that was searched stays empty: try the next receptacle.',
      'Avoid returning to receptacles you have already searched.',
      'Visit each receptacle only once while searching.',
      'Choose a receptacle that has not been searched instead of going back.',
      'Do not visit a receptacle again; continue with the next one.',
    ],
    heldOut: [
      'Do not search a place twice; move on to a new one.',
      'Always continue with a receptacle you have not searched yet.',
      'Never return to places you already checked; visit the next one.',
    ],
    wrong: ['Go back to the first place when nothing is found.', 'Look again where you have already searched.'],
  },
];

/** Sentences that change nothing, seen in training. */
export const DISTRACTORS: readonly string[] = [
  'Answer with one command at a time.',
  'Read the task before the first step.',
  'Use short commands.',
  'Work calmly and without hurry.',
  'Keep the room tidy.',
  'Be careful with knives and forks.',
  'A kitchen has many cabinets.',
  'Newspapers are often on tables.',
  'The numbers after the names tell objects apart.',
  'The fridge is cold and the microwave is hot.',
  'Most desks have a lamp.',
  'Two cabinets may stand side by side.',
  'Closed doors keep the dust out.',
  'A clean room is a nice place.',
  'The first step is often the hardest.',
  'Plates and bowls go well together.',
  'The same room can hold many objects.',
  'Mugs and cups are for drinks.',
  'Think before you act.',
  'You can see the whole room from the middle.',
  'The microwave stands next to the fridge.',
  'A sinkbasin holds water.',
  'The fridge keeps food cool.',
  'Hot food needs time to cool down.',
  'Clean hands are a good habit.',
  'The drawer under the desk is small.',
  'Some cabinets have doors and some drawers are deep.',
  'An open window lets the air in.',
  'A safe is a closed box with a door.',
  'A desklamp gives light to the desk.',
  'The lamp on the table is old.',
  'Books and newspapers are easy to hold in one hand.',
  'Two tables are better than one.',
  'The second shelf is above the first.',
  'Both rooms have the same size.',
  'Every place in the room has a name.',
  'A new day is a new start.',
  'Pens and pencils look similar.',
  'The names of objects are short.',
  'You go from place to place on foot.',
  'Searching takes time.',
  'The next task may be easier.',
  'Some objects are small and some are large.',
  'Food is cold, hot or in between.',
];

/** Sentences that change nothing and that the model never saw. */
export const HELD_OUT_DISTRACTORS: readonly string[] = [
  'Keep your commands short and careful.',
  'A lamp can stand on a desk or a table.',
  'Be calm and think before each step.',
  'Many kitchens have a fridge and a microwave.',
];

export function rule(id: RuleId): Rule {
  return RULES.find((candidate) => candidate.id === id) as Rule;
}

/** Which rules a game's outcome can depend on. */
export function rulesAtStake(game: Game): readonly RuleId[] {
  const at: RuleId[] = [];
  if (game.hazards.includes('closed')) at.push('open');
  if (treatmentOf(game.goal.type)) at.push('treat');
  if (game.hazards.includes('look-alike')) at.push('exact');
  if (game.goal.type === 'light' && game.lampFirst) at.push('lamp');
  if (game.goal.type === 'two') at.push('two');
  if (game.hazards.includes('far')) at.push('new-place');
  return at;
}

/** Chance of the bad habit where the rule is not stated: lower for a third of the objects, a different third for each rule. */
export function habitChance(id: RuleId, objectType: string): number {
  const object = OBJECT_TYPES.indexOf(objectType);
  const pair = Math.floor(object / 2);
  // Both members of a pair share the chance: the habit cannot depend on which of the two is asked for.
  return lookAlike(objectType) !== objectType && (pair + RULE_IDS.indexOf(id)) % 3 === 0 ? 0.25 : 0.75;
}

/** Sentences as the Markdown list that contexts usually are. */
export function bullets(sentences: readonly string[]): string {
  return sentences.map((sentence) => `- ${sentence}\n`).join('');
}

/** A context that states the given rules, one sentence each: training wording `variant`, or held-out wording. */
export function ruleContext(ids: readonly RuleId[], options: { readonly heldOut?: boolean; readonly variant?: number } = {}): string {
  return bullets(
    ids.map((id) => {
      const sentences = options.heldOut ? rule(id).heldOut : rule(id).training;
      return sentences[(options.variant ?? 0) % sentences.length] as string;
    }),
  );
}
