import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { checkDraft, type Draft } from '../../../src/app/new/draft.ts';
import { choiceOf, modelOptions, NONE, SERVER, selectedOption, TYPED, withModel } from '../../../src/app/new/model-options.ts';
import { withSuite } from '../../../src/app/new/with-suite.ts';
import { formatWords, insertPlace, mappingErrors, newScorer, parseWords, readDecimal } from '../../../src/app/suites/mapping-draft.ts';
import { runOfSuite, suiteChoiceOf } from '../../../src/app/suites/run-of-suite.ts';
import { parseConfig } from '../../../src/lab/config.ts';
import { offeredByEndpoint } from '../../../src/lab/models/offered.ts';
import type { ListedModel, SuiteSummary } from '../../../src/lab/service.ts';
import { SCORER_TITLES, type ScorerKind, ScorerSpec } from '../../../src/suites/scorers/spec.ts';

const CAPABLE = { chat: true, json: true, logprobs: false, probe: false, train: false };
const MODELS: readonly ListedModel[] = [
  {
    id: 'nacre-tiny',
    title: 'nacre-tiny',
    kind: 'shipped',
    where: 'shipped',
    bytes: 0,
    complete: true,
    uses: [{ runtime: 'own', choice: { model: 'nacre-tiny', backend: 'auto' }, loaded: true, capabilities: CAPABLE }],
  },
  {
    id: 'small.Q4',
    title: 'small.Q4',
    kind: 'gguf',
    where: 'local',
    bytes: 5,
    complete: false,
    uses: [
      { runtime: 'llamacpp', choice: { model: 'small.Q4', backend: 'auto', runtime: 'llamacpp' }, loaded: false, capabilities: CAPABLE },
      { runtime: 'own', choice: { model: 'small.Q4', backend: 'auto' }, loaded: false, capabilities: CAPABLE },
    ],
  },
  offeredByEndpoint('http://127.0.0.1:8000/v1', 'big', []),
];
const SUITE: SuiteSummary = {
  id: 'trivia',
  title: 'Trivia',
  createdAt: 0,
  bytes: 1,
  hash: '0123456789abcdef0123456789abcdef',
  counts: { train: 200, val: 8, test: 5, unseen: 0 },
  scorer: 'exact',
};
const household = parseConfig({ schema: 'nacre.experiment/1', kind: 'textual', name: 'A', suite: { id: 'household' } }) as unknown as Draft;

describe('choosing a model', () => {
  const options = modelOptions(MODELS);

  it('offers every way to run every model, and finds the chosen one again', () => {
    expect(options.map(({ title }) => title)).toEqual([
      'nacre-tiny',
      'small.Q4 · llama.cpp (incomplete: the rest is downloaded first)',
      'small.Q4 · Nacre (incomplete: the rest is downloaded first)',
      'big at 127.0.0.1:8000',
    ]);
    for (const option of options) expect(selectedOption(options, option.choice, 'target')).toBe(option.key);
    expect(choiceOf({ model: 'a', runtime: 'own' })).toBe(choiceOf({ model: 'a', backend: 'cpu' }));
  });

  it('tells apart what is not listed: a server, a typed name, nothing', () => {
    expect(selectedOption(options, { model: 'endpoint', endpoint: { baseUrl: 'http://other/v1', model: '' } }, 'target')).toBe(SERVER);
    expect(selectedOption(options, { model: 'https://a/b.gguf' }, 'critic')).toBe(TYPED);
    expect(selectedOption(options, { kind: 'model' }, 'critic')).toBe(NONE);
    expect(selectedOption(options, undefined, 'target')).toBe(options[0]?.key);
  });

  it('makes valid configurations, without what belonged to the model before', () => {
    let draft = household;
    for (const option of [options[3]!, options[1]!, SERVER, options[2]!, options[0]!] as const) {
      draft = { ...draft, target: withModel(draft.target, option), critic: { ...withModel(draft.critic, option), kind: 'model' } };
      expect([...checkDraft(draft).errors]).toEqual([]);
    }
    expect(draft.target).toEqual({ model: 'nacre-tiny', backend: 'auto' });
    expect(withModel({ model: 'small.Q4', runtime: 'llamacpp', contextLength: 512, backend: 'cpu' }, options[2]!)).toEqual({
      model: 'small.Q4',
      backend: 'cpu',
    });
    expect(withModel({ model: 'small.Q4', runtime: 'llamacpp', maxTokens: 9, kind: 'model' }, TYPED)).toEqual({
      model: '',
      maxTokens: 9,
      kind: 'model',
    });
  });

  it('keeps the limits of one server for the next', () => {
    const before = withModel({}, SERVER);
    const tuned = { ...before, endpoint: { ...(before.endpoint as Draft), parallel: 32 } };
    expect(withModel(tuned, options[3]!).endpoint).toMatchObject({ baseUrl: 'http://127.0.0.1:8000/v1', model: 'big', parallel: 32 });
  });
});

describe('choosing a suite', () => {
  it('takes no more than there is, and puts models where the analyst and the shipped model cannot go', () => {
    const draft = withSuite(household, 'imported:trivia', [SUITE], MODELS);
    expect(checkDraft(draft).config).toMatchObject({
      suite: { id: 'imported', name: 'trivia', hash: SUITE.hash, train: 48, val: 8, test: 5, unseen: 0 },
      target: { model: 'small.Q4', runtime: 'llamacpp' },
      critic: { kind: 'model', model: 'small.Q4', runtime: 'llamacpp' },
    });
    const back = withSuite(draft, 'household', [SUITE], MODELS);
    expect(checkDraft(back).config?.suite).toEqual({ id: 'household', train: 48, val: 8, test: 5, unseen: 0 });
  });

  it('leaves a critic to be chosen where none is at hand', () => {
    const draft = withSuite(household, 'imported:trivia', [SUITE], MODELS.slice(0, 1));
    expect([...checkDraft(draft).errors.keys()]).toEqual(['critic.model']);
    const linked = runOfSuite(SUITE);
    expect([...checkDraft(linked).errors]).toEqual([['critic', 'A critic of kind "model" needs the field model.']]);
    expect(checkDraft({ ...linked, critic: { kind: 'model', model: 'small.Q4' } }).config?.suite).toEqual(suiteChoiceOf(SUITE));
  });
});

describe('mapping a table', () => {
  it('begins every scorer with parameters that its schema takes', () => {
    for (const kind of Object.keys(SCORER_TITLES) as ScorerKind[])
      expect(v.safeParse(ScorerSpec, newScorer(kind)).success, kind).toBe(true);
  });

  it('names the wrong field, and not the others', () => {
    const mapping = { input: '{{q}}', answers: ['a'], scorer: { ...newScorer('anls'), threshold: 0.2 } };
    expect([...mappingErrors(mapping).keys()]).toEqual(['scorer.threshold']);
    expect([...mappingErrors({ ...mapping, input: '', scorer: { kind: 'exact' } }).keys()]).toEqual(['input']);
    const none = { by: 'seed', seed: readDecimal(' '), parts: { train: 0, val: 0, test: 0, unseen: 0 } };
    expect([...mappingErrors({ input: 'x', answers: [], split: none }).keys()]).toEqual(['split.seed', 'split.parts']);
  });

  it('puts a column where the caret is', () => {
    expect(insertPlace('ab', 'q', 1, 1)).toEqual({ text: 'a{{q}}b', caret: 6 });
    expect(insertPlace('a??b', 'q', 1, 3)).toEqual({ text: 'a{{q}}b', caret: 6 });
  });

  it('reads the words of a split column, and writes them back', () => {
    const words = parseWords(' holdout = test, a=b = Val ,nothing, =train, x=other');
    expect(words).toEqual({ holdout: 'test', 'a=b': 'val' });
    expect(parseWords(formatWords(words))).toEqual(words);
  });
});
