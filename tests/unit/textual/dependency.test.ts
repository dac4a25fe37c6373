import { describe, expect, it } from 'vitest';
import { filterDependencies, hiddenDependency } from '../../../src/textual/dependency.ts';
import { append, remove } from './builders.ts';

describe('hiddenDependency', () => {
  it.each([
    'Compare your result with the gold answer.',
    'Match the reference answers exactly.',
    'Check the ground truth before you finish.',
    'Look up the answer key.',
    'Use the evaluator feedback to correct yourself.',
    'Follow the feedback from the grader.',
    'Act so that the reward signal grows.',
    'Maximize the reward.',
    'Make sure the hidden tests pass.',
    'Copy what the sibling rollouts did.',
    'Do not stop until your answer matches the gold answer.',
    'Don’t finish unless it agrees with the reference answer.',
    'Never submit before comparing with the ground-truth label.',
    'Never forget to check the answer key.',
    'Do not answer without checking the reference answer.',
    'You must not ignore the gold label.',
    'Do not guess; check the gold answer.',
    'Never guess, check the gold answer.',
    'Do not guess but compare with the gold answer.',
    'Do not deviate from the reference solution.',
    'Avoid mistakes of every kind in all of your steps and so follow the gold answer.',
    'Do not use hints. Use the gold answer.',
  ])('drops: %s', (text) => {
    expect(hiddenDependency(text)).toBeDefined();
  });

  it.each([
    'Do not use the gold answer.',
    "Don't rely on the reference answer.",
    'Don’t rely on the reference answer.',
    'Never look for an answer key.',
    'Avoid guessing what the evaluator expects.',
    'Answer without looking at the gold answer.',
    'Ignore the reward signal.',
    'You must not read the hidden tests.',
    'You should not copy sibling rollouts.',
    'You cannot see the ground truth.',
    'Never rely on gold answers, answer keys, or evaluator feedback.',
    'Do not use, and never ask for, the gold answer.',
    'Check the reference document first.',
    'Give the correct answer in one word.',
    'Tell members about their reward points.',
    'Run the tests you can see.',
    'Golden rule: open closed drawers.',
  ])('keeps: %s', (text) => {
    expect(hiddenDependency(text)).toBeUndefined();
  });

  it('needs the negation within eight words', () => {
    expect(hiddenDependency('Never one two three four five six seven gold answer')).toBeUndefined();
    expect(hiddenDependency('Never one two three four five six seven eight gold answer')).toBeDefined();
  });

  it('finds a mention behind a harmless one', () => {
    expect(hiddenDependency('Do not use the gold answer. Then read the answer key.')).toBe('answer key');
  });

  it('handles long texts of mentions', () => {
    expect(hiddenDependency('do not use the gold answer. '.repeat(5000))).toBeUndefined();
  });
});

it('filters edits one by one and exempts deletions', () => {
  const edits = [append('Check the answer key.'), append('Open drawers.'), remove('Check the answer key.')];
  const { kept, dropped } = filterDependencies(edits);
  expect(kept).toEqual([edits[1], edits[2]]);
  expect(dropped).toEqual([{ edit: edits[0], reason: 'hidden-dependency' }]);
});
