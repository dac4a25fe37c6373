import { RULES } from './rules.ts';
import { LAMP, OBJECT_TYPES, RECEPTACLES } from './world.ts';

/** Opens a context, an observation, an action; ends an action. */
export const CONTEXT_TOKEN = '<|ctx|>';
export const OBSERVATION_TOKEN = '<|obs|>';
export const ACTION_TOKEN = '<|act|>';
export const END_TOKEN = '<|end|>';
const SPECIAL = ['<|unk|>', CONTEXT_TOKEN, OBSERVATION_TOKEN, ACTION_TOKEN, END_TOKEN] as const;

/** Embedding rows of the shipped model; ids above the last entry stay unused. */
export const VOCABULARY_SIZE = 512;

/** Fixed phrases of the household's observations and commands, as they stand after normalisation. */
const PHRASES: readonly string[] = [
  'you are in the middle of a room. looking quickly around you, you see ',
  ', and ',
  ', ',
  '.\n your task is to: ',
  'put a ',
  'put a clean ',
  'put a hot ',
  'put a cool ',
  'look at ',
  ' under the desklamp.',
  'find two ',
  ' and put them in ',
  ' in ',
  ...Array.from({ length: 8 }, (_, i) => `you arrive at loc ${i + 1}`),
  '. on ',
  '. in ',
  '. ',
  ', you see ',
  ', you see nothing.',
  ' is closed.',
  'you take ',
  'you put ',
  'you open ',
  'you close ',
  'you turn on ',
  'you clean ',
  'you heat ',
  'you cool ',
  ' using ',
  'nothing happens.',
  'you are carrying: ',
  'you are not carrying anything.',
  'you are facing ',
  'next to it, you see nothing.',
  "there's nothing special about ",
  'this is a ',
  'go to ',
  'take ',
  ' from ',
  'put ',
  ' in/on ',
  'open ',
  'close ',
  'clean ',
  'heat ',
  'cool ',
  ' with ',
  'use ',
  'examine ',
  'inventory',
  'look',
  'done',
  'done.',
];

/** Common words of advice beyond those of the known sentences, so that free wording need not be spelled. */
const MORE_WORDS =
  'a along also and any are be can container containers do done door either else ensure every for has have into is know locate many more most now over room rule rules should some start still step steps switch task tasks the their then there these think this those use was when with you act answer better books bowls box calm careful cold command commands cups day desks easy food forks keeps kitchen kitchens knives mugs newspapers numbers pencils pens plates read short small stand table tables time together whole work';

/** A token list for a Unigram model: [text, score]. Fewer tokens always win; phrases win ties over words, words over letters. */
export function vocabulary(): readonly (readonly [token: string, score: number])[] {
  const entities = [
    LAMP,
    ...OBJECT_TYPES.flatMap((type) => [`${type} 1`, `${type} 2`]),
    ...Object.entries(RECEPTACLES).flatMap(([type, { most }]) => Array.from({ length: most }, (_, i) => `${type} ${i + 1}`)),
  ];
  const types = [...OBJECT_TYPES, ...Object.keys(RECEPTACLES)];
  const letters = [...'\n abcdefghijklmnopqrstuvwxyz0123456789.,:;!?\'"()-/*#_`&'];
  const marks = ['\n -', '\n *', '\n #', '\n ##'];
  const scored = new Map<string, number>(SPECIAL.map((token) => [token, -20]));
  const add = (tokens: readonly string[], score: number): void => {
    for (const token of tokens) if (!scored.has(token)) scored.set(token, score);
  };
  add([...PHRASES, ...entities, ...types], -9);
  add(marks, -10);
  add(words(), -10);
  add(letters, -14);
  return [...scored];
}

/** Every word of the rules and of the wrong advice, with the space before it; words of distractors are mostly spelled. */
function words(): readonly string[] {
  const sentences = RULES.flatMap((rule) => [...rule.training, ...rule.heldOut, ...rule.wrong]);
  const found = new Set<string>();
  for (const sentence of sentences) for (const word of sentence.toLowerCase().match(/[a-z]+(-[a-z]+)*/g) ?? []) found.add(` ${word}`);
  for (const word of MORE_WORDS.split(' ')) found.add(` ${word}`);
  return [...found].sort();
}

/**
 * The `tokenizer.json` of the shipped model: lower-casing, white space around line breaks folded to `"\n "`, one Unigram model
 * over the whole text. Normalised text decodes to itself; characters outside the vocabulary become the unknown token.
 */
export function tokenizerJson(): Record<string, unknown> {
  const entries = vocabulary();
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: SPECIAL.map((content, id) => ({
      id,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: {
      type: 'Sequence',
      normalizers: [
        { type: 'NFKD' },
        { type: 'StripAccents' },
        { type: 'Lowercase' },
        { type: 'Replace', pattern: { Regex: '[\\u2018\\u2019]' }, content: "'" },
        { type: 'Replace', pattern: { Regex: '[\\u2010-\\u2015]' }, content: '-' },
        { type: 'Replace', pattern: { Regex: '[\\u201c\\u201d]' }, content: '"' },
        { type: 'Replace', pattern: { Regex: '\\s*\\n\\s*' }, content: '\n ' },
      ],
    },
    pre_tokenizer: null,
    post_processor: null,
    decoder: { type: 'Fuse' },
    model: { type: 'Unigram', unk_id: 0, vocab: entries.map(([token, score]) => [token, score]), byte_fallback: false },
  };
}

/**
 * Context, then turns. Every prefix of a conversation renders to a prefix of its text, so caches can grow with it:
 * `<|ctx|>` context, then per turn `<|obs|>` observation `<|act|>` action `<|end|>`.
 */
const CHAT_TEMPLATE = [
  `{{ '${CONTEXT_TOKEN}' }}`,
  "{% for message in messages %}{% if message.role == 'system' %}{% if message.content | trim %}{{ '\\n' + (message.content | trim) }}{% endif %}",
  `{% elif message.role == 'user' %}{{ '${OBSERVATION_TOKEN}' + message.content + '${ACTION_TOKEN}' }}`,
  `{% else %}{{ message.content + '${END_TOKEN}' }}{% endif %}{% endfor %}`,
].join('');

export function tokenizerConfig(): Record<string, unknown> {
  return {
    tokenizer_class: 'PreTrainedTokenizerFast',
    unk_token: SPECIAL[0],
    eos_token: END_TOKEN,
    add_bos_token: false,
    clean_up_tokenization_spaces: false,
    model_max_length: CONTEXT_LENGTH,
    chat_template: CHAT_TEMPLATE,
  };
}

/** Positions the shipped model serves: a long context and an episode. */
export const CONTEXT_LENGTH = 2048;
