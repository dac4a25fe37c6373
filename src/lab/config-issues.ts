import * as v from 'valibot';
import { NacreError } from '../core/errors.ts';
import { protectedRegions } from '../textual/context.ts';

/** What is wrong with one field, in words: `suite.train: must be a number, but is "24"`. */
export function describeIssue(issue: v.BaseIssue<unknown>): string {
  return `${v.getDotPath(issue) ?? 'config'}: ${problem(issue)}`;
}

function problem({ type, expected, received, message }: v.BaseIssue<unknown>): string {
  if (expected === 'never') return 'is no field here';
  if (received === 'undefined') return 'is missing';
  if (type === 'picklist' || type === 'literal' || type === 'variant') {
    const choices = (expected ?? '').replace(/^\(|\)$/g, '').replaceAll(' | ', ', ');
    return `is ${received}; it must be ${choices.includes(', ') ? `one of ${choices}` : choices}`;
  }
  if (/^Invalid type/.test(message)) return `must be ${withArticle(expected ?? 'something else')}, but is ${received}`;
  if (type === 'integer') return `must be a whole number, but is ${received}`;
  const limit = /^Invalid (?:value|length): Expected (>=|<=)(\S+)/.exec(message);
  if (limit) {
    const [, sign, bound] = limit;
    const unit = message.startsWith('Invalid length') ? ' characters' : '';
    return `must be at ${sign === '>=' ? 'least' : 'most'} ${bound}${unit}, but ${unit === '' ? 'is' : 'has'} ${received}`;
  }
  return message.replace(/\.$/, '');
}

function withArticle(type: string): string {
  const word = type === 'Object' || type === 'Array' ? type.toLowerCase() : type;
  return `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word}`;
}

/** Schema action for contexts: protected-region markers must be whole, in order and named once. */
export const wellMarked = v.rawCheck<string>(({ dataset, addIssue }) => {
  if (!dataset.typed) return;
  try {
    protectedRegions(dataset.value);
  } catch (thrown) {
    if (!(thrown instanceof NacreError)) throw thrown;
    addIssue({ message: `${thrown.message} ${thrown.hint}` });
  }
});
