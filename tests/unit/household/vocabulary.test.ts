import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Random } from '../../../src/core/random.ts';
import type { Message } from '../../../src/core/types.ts';
import { makeLesson } from '../../../src/suites/household/demonstrations.ts';
import { LessonEncoder } from '../../../src/suites/household/encode.ts';
import { act, admissibleCommands, initialState } from '../../../src/suites/household/engine.ts';
import { solve } from '../../../src/suites/household/expert.ts';
import { RULE_IDS, ruleContext } from '../../../src/suites/household/rules.ts';
import { createHouseholdSuite, taskGame } from '../../../src/suites/household/suite.ts';
import { tokenizerConfig, tokenizerJson, VOCABULARY_SIZE } from '../../../src/suites/household/vocabulary.ts';
import { jinjaTemplate, nextText } from '../../../src/transformer/chat-template.ts';
import { Tokenizer } from '../../../src/transformer/tokenizer.ts';

const tokenizer = Tokenizer.fromJson(tokenizerJson(), tokenizerConfig());
const template = jinjaTemplate(tokenizerConfig().chat_template as string);
const encode = (text: string): number[] => tokenizer.encode(text, { addSpecial: false });
const pieces = (text: string): string[] => encode(text).map((id) => tokenizer.tokenText(id));
const suite = createHouseholdSuite({ sizes: { train: 48, val: 0, test: 0, unseen: 0 } });

/** A whole conversation: context, then the expert's turns. */
function conversation(index: number, context: string): Message[] {
  const task = suite.splits.train[index]!;
  const game = taskGame(task);
  const messages: Message[] = [{ role: 'system', content: context }];
  const episode = suite.open(task, 0);
  for (const command of solve(game)) {
    messages.push({ role: 'user', content: episode.observation }, { role: 'assistant', content: command });
    void episode.act(command);
  }
  return messages;
}

describe('vocabulary', () => {
  it('fits the embedding table and holds no token twice', () => {
    const entries = (tokenizerJson().model as { vocab: [string, number][] }).vocab;
    expect(entries.length).toBeLessThanOrEqual(VOCABULARY_SIZE);
    expect(VOCABULARY_SIZE).toBeLessThanOrEqual(512);
    expect(new Set(entries.map(([token]) => token)).size).toBe(entries.length);
    expect(tokenizer.eosId).toBe(tokenizer.idOf('<|end|>'));
  });

  it('has single tokens for entities and phrases', () => {
    expect(pieces('take mug 1 from cabinet 2')).toEqual(['take ', 'mug 1', ' from ', 'cabinet 2']);
    expect(pieces('put pencil 2 in/on shelf 1')).toEqual(['put ', 'pencil 2', ' in/on ', 'shelf 1']);
    expect(pieces('You arrive at loc 3. On desk 1, you see nothing.')).toEqual([
      'you arrive at loc 3',
      '. on ',
      'desk 1',
      ', you see nothing.',
    ]);
    expect(pieces('Nothing happens.')).toEqual(['nothing happens.']);
    expect(pieces('\n- Open every closed receptacle.')).toEqual(['\n -', ' open', ' every', ' closed', ' receptacle', '.']);
  });

  it('gives every command back exactly', () => {
    for (const task of suite.splits.train) {
      const game = taskGame(task);
      let state = initialState(game);
      for (const step of solve(game)) {
        for (const command of [...admissibleCommands(game, state), 'go to the moon 7'])
          expect(tokenizer.decode(encode(command))).toBe(command);
        state = act(game, state, step).state;
      }
    }
  });

  it('gives any text back as it stands after normalisation', () => {
    const known = fc.stringMatching(/^[a-zA-Z0-9 .,:;!?'"()\-/*#_`&\n]*$/);
    fc.assert(
      fc.property(known, (text) => {
        expect(tokenizer.decode(encode(text))).toBe(text.toLowerCase().replace(/\s*\n\s*/g, '\n '));
      }),
    );
  });

  it('reads text of any kind', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        for (const id of encode(text)) expect(id).toBeLessThan(VOCABULARY_SIZE);
      }),
    );
    expect(tokenizer.decode(encode('“Café” — it’s'))).toBe('"cafe" - it\'s');
  });
});

describe('chat template', () => {
  it('renders context, observations and actions', () => {
    const messages: Message[] = [
      { role: 'system', content: '- Be quick.\n' },
      { role: 'user', content: 'You see nothing.' },
      { role: 'assistant', content: 'look' },
    ];
    expect(template.render(messages, { addGenerationPrompt: false })).toBe('<|ctx|>\n- Be quick.<|obs|>You see nothing.<|act|>look<|end|>');
  });

  it('treats a missing, an empty and a blank context alike', () => {
    const user: Message = { role: 'user', content: 'x' };
    const texts = [[user], [{ role: 'system', content: '' } as const, user], [{ role: 'system', content: ' \n' } as const, user]].map(
      (messages) => template.render(messages, { addGenerationPrompt: true }),
    );
    expect(new Set(texts)).toEqual(new Set(['<|ctx|><|obs|>x<|act|>']));
  });

  it('grows by prefixes, in text and in tokens', () => {
    for (const [index, context] of [
      [0, ''],
      [1, ruleContext(RULE_IDS)],
      [5, '# Rules\n\nBe careful.'],
    ] as const) {
      const messages = conversation(index, context);
      let consumed = '';
      let ids: number[] = [];
      for (let n = 2; n <= messages.length; n += 2) {
        const next = nextText(template, messages.slice(0, n), consumed);
        expect(next.incremental || n === 2).toBe(true);
        ids = [...ids, ...encode(next.text)];
        consumed += next.text;
        expect(ids).toEqual(encode(template.render(messages.slice(0, n), { addGenerationPrompt: true })));
        const reply = `${messages[n]?.content ?? ''}<|end|>`;
        consumed += reply;
        ids = [...ids, ...encode(reply)];
      }
    }
  });
});

describe('lessons', () => {
  const encoder = new LessonEncoder(tokenizer);

  it('are encoded as the chat template renders them, with loss on actions', () => {
    for (let n = 0; n < 60; n++) {
      const lesson = makeLesson(new Random(n), n % 2 === 0);
      const { tokens, targets, weights } = encoder.encode(lesson, { action: 1, observation: 0.15 });
      const messages: Message[] = [
        { role: 'system', content: lesson.context },
        ...lesson.turns.flatMap(({ observation, action }): Message[] => [
          { role: 'user', content: observation },
          { role: 'assistant', content: action },
        ]),
      ];
      expect([...tokens, targets.at(-1)]).toEqual(encode(template.render(messages, { addGenerationPrompt: false })));
      const learned = targets.filter((_, i) => weights[i] === 1);
      const imitated = lesson.turns.filter((turn) => !turn.slip).flatMap(({ action }) => encode(`${action}<|end|>`));
      expect(learned).toEqual(imitated);
    }
  });

  it('state each rule by its sentences and play it accordingly', () => {
    let full = 0;
    for (let n = 0; n < 400; n++) {
      const lesson = makeLesson(new Random(n, 'full'), false);
      if (RULE_IDS.every((id) => lesson.stated.has(id))) {
        full++;
        expect(lesson.success || lesson.turns.length === 20, `lesson ${n}`).toBe(true);
      }
    }
    expect(full).toBeGreaterThan(10);
  });

  it('repeat themselves for one seed', () => {
    expect(makeLesson(new Random(9), false)).toEqual(makeLesson(new Random(9), false));
  });

  it('state at most three rules early on', () => {
    for (let n = 0; n < 100; n++) expect(makeLesson(new Random(n), true).stated.size).toBeLessThanOrEqual(3);
  });
});
