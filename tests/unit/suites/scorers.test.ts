import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Task } from '../../../src/core/types.ts';
import { extractAnswer, stripThinking } from '../../../src/suites/scorers/answer.ts';
import { cellsMatch, equalCells, excelSerial } from '../../../src/suites/scorers/cells.ts';
import { readLabel } from '../../../src/suites/scorers/choice.ts';
import { scoreStep } from '../../../src/suites/scorers/environment.ts';
import { jsonMatch, readJsonAnswer } from '../../../src/suites/scorers/json.ts';
import { numericMatch, readFinalNumber, readNumbers } from '../../../src/suites/scorers/numeric.ts';
import { createScorer, goldFault } from '../../../src/suites/scorers/scorer.ts';
import { DEFAULT_LABELS } from '../../../src/suites/scorers/spec.ts';
import { anls, editDistance, exactMatch, normalizeAnswer } from '../../../src/suites/scorers/text.ts';

describe('the answer in an output', () => {
  it.each([
    ['<answer>Paris</answer>', 'Paris'],
    ['<answer>Rome</answer> no: <ANSWER>\n Paris \n</Answer> there', 'Paris'],
    ['so\n\nthe answer is Paris\n\n  \n', 'the answer is Paris'],
    ['<answer>Rome</answer>\n<answer>Par', 'Rome'],
    ['<answer>unclosed\nlast', 'last'],
    ['</answer>Paris', '</answer>Paris'],
    ['<answer>a<answer>b</answer>', 'b'],
    ['<answer></answer>', ''],
    ['', ''],
    ['one\r\ntwo\r\n', 'two'],
    ['<think><answer>no</answer></think>\nyes', 'yes'],
    ['thinking from the template</think><answer>yes</answer>', 'yes'],
    ['<think>never closed <answer>no</answer>', ''],
    ['İİİ<answer>İ</answer>', 'İ'],
  ])('%j → %j', (output, answer) => {
    expect(extractAnswer(output)).toBe(answer);
  });

  it('takes any text back out of its tags', () => {
    const plain = fc.string({ unit: 'grapheme' }).filter((s) => !/<\/?(answer|think)>/i.test(s));
    fc.assert(
      fc.property(plain, plain, (before, answer) => {
        expect(extractAnswer(`${before}<answer>${answer}</answer>`)).toBe(answer.trim());
        expect(stripThinking(`${before}<think>${answer}</think>`)).toBe(before);
      }),
    );
  });

  it('stays linear on thousands of unmatched tags', () => {
    expect(extractAnswer('<answer>'.repeat(100_000))).toMatch(/^<answer>/);
    expect(extractAnswer(`${'</think>'.repeat(100_000)}x`)).toBe('x');
  });
});

describe('exact match', () => {
  it.each([
    ['The Beatles!', 'beatles', true],
    ['“Jonny” Craig', 'Jonny" Craig', true],
    ['Read It and Weep', '"Read It and Weep" (2006)', false],
    ['U.S.A.', 'usa', true],
    ['rock’n’roll', "rock'n'roll", true],
    ['an   apple a day', 'apple day', true],
    ['éa', 'e\u0301a', true],
    ['théa', 'th', false],
    ['$5', '5', true],
    ['—', '—', false],
    ['the', 'the', false],
    ['', '', false],
    ['Rome', 'Paris', false],
  ])('%j and %j: %s', (answer, gold, expected) => {
    expect(exactMatch(answer, [gold])).toBe(expected);
  });

  it('has an idempotent normal form without case, punctuation or articles', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const normal = normalizeAnswer(text);
        expect(normalizeAnswer(normal)).toBe(normal);
        expect(normal).not.toMatch(/[\p{P}]|^\s|\s$|\s\s/u);
        expect(exactMatch(text, [text])).toBe(normal !== '');
        expect(exactMatch(` The ${text}.`, [text])).toBe(normal !== '');
      }),
    );
  });
});

describe('ANLS', () => {
  it('follows the definition by hand', () => {
    // kitten → sitting: 3 edits over 7 letters.
    expect(anls('kitten', ['sitting'])).toBeCloseTo(1 - 3 / 7, 12);
    expect(anls('Kitten ', ['kitten'])).toBe(1);
    // 2 edits over 4 letters: NL is 0.5, which no longer counts.
    expect(anls('abcd', ['abxy'])).toBe(0);
    expect(anls('abcd', ['zzzz', 'abcx'])).toBeCloseTo(0.75, 12);
    expect(anls('', ['x'])).toBe(0);
    expect(anls('', [''])).toBe(0);
    expect(anls('x', [])).toBe(0);
  });

  it('is symmetric, bounded, and 1 for equal texts', () => {
    const word = fc.string({ maxLength: 12 });
    fc.assert(
      fc.property(word, word, (a, b) => {
        expect(anls(a, [b])).toBe(anls(b, [a]));
        expect(anls(a, [b])).toBeGreaterThanOrEqual(0);
        expect(anls(a, [b])).toBeLessThanOrEqual(1);
        expect(anls(a, [a])).toBe(a.trim() === '' ? 0 : 1);
      }),
    );
  });

  it('measures edits: a metric that agrees with single edits', () => {
    const word = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 8 });
    fc.assert(
      fc.property(word, word, word, (a, b, c) => {
        expect(editDistance(a, a)).toBe(0);
        expect(editDistance([...a, 'x'], a)).toBe(1);
        expect(editDistance(a, c)).toBeLessThanOrEqual(editDistance(a, b) + editDistance(b, c));
        expect(editDistance(a, b)).toBeGreaterThanOrEqual(Math.abs(a.length - b.length));
      }),
    );
  });
});

describe('numbers', () => {
  it.each([
    ['It costs $1,234.50 in all.', [1234.5]],
    ['-5, −6 and +7', [-5, -6, 7]],
    ['-$5 or $-5', [-5, -5]],
    ['5-3=2', [5, 3, 2]],
    ['(16 - 3) * 2', [16, 3, 2]],
    ['1,234,567', [1234567]],
    ['1,2,3', [1, 2, 3]],
    ['12 345', [12, 345]],
    ['12\u202f345\u00a0678 km', [12345678]],
    ['H2O x1 3rd', [3]],
    ['50% of .5', [50, 0.5]],
    ['2.5e3 1e400', [2500]],
    ['answer:18.', [18]],
    ['version 1.2.3', [1.2]],
    ['€3 £4', [3, 4]],
    ['none', []],
  ])('%j → %j', (text, numbers) => {
    expect(readNumbers(text)).toEqual(numbers);
  });

  it.each([
    ['He has 3 apples and 4 pears, 7 in all.', 7],
    ['9 * 2 = 18\n#### 18', 18],
    ['#### 18\nThat is for 7 days.', 18],
    ['#### none\n12', 12],
    ['<answer>42 dollars</answer> of 100', 42],
    ['<think>99</think> 7', 7],
    ['no number', undefined],
  ])('the final number of %j is %s', (output, number) => {
    expect(readFinalNumber(output)).toBe(number);
  });

  it('matches within the wider tolerance', () => {
    const exact = { absolute: 1e-6, relative: 0 };
    expect(numericMatch('70000', ['70,000'], exact)).toBe(true);
    expect(numericMatch('70000.1', ['70,000'], exact)).toBe(false);
    expect(numericMatch('3.1', ['3.14159'], { absolute: 0.1, relative: 0 })).toBe(true);
    expect(numericMatch('101', ['100'], { absolute: 0, relative: 0.01 })).toBe(true);
    expect(numericMatch('102', ['100'], { absolute: 0, relative: 0.01 })).toBe(false);
    expect(numericMatch('', ['0'], exact)).toBe(false);
    expect(numericMatch('0', ['none'], exact)).toBe(false);
  });

  it('reads back any number however it is written', () => {
    const value = fc.oneof(
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e12, max: 1e12 }).map((x) => Number(x.toFixed(3))),
    );
    fc.assert(
      fc.property(value, fc.constantFrom('', '$', '€'), fc.constantFrom('', ' km', '%', '.'), (x, currency, unit) => {
        const digits = Math.abs(x).toLocaleString('en-US', { maximumFractionDigits: 3 });
        const text = `The result is ${x < 0 ? '-' : ''}${currency}${digits}${unit}`;
        expect(readFinalNumber(text)! - x).toBeCloseTo(0, 9);
        expect(readFinalNumber(`${x}`)).toBe(x === 0 ? 0 : x);
      }),
    );
  });

  it('stays linear on long runs of digits and separators', () => {
    expect(readNumbers('1'.repeat(200_000))).toEqual([]);
    expect(readNumbers(`${'1,'.repeat(100_000)}7`).at(-1)).toBe(7);
    expect(readNumbers(`1${',111'.repeat(50_000)}1`).length).toBeGreaterThan(0);
  });
});

describe('multiple choice', () => {
  it.each([
    ['B', 'B'],
    ['(b)', 'B'],
    ['**C**', 'C'],
    ['B) Paris', 'B'],
    ['D. The sun', 'D'],
    ['The answer is (C).', 'C'],
    ['Answer: A', 'A'],
    ['I think A is tempting, but the right option is D', 'D'],
    ['<answer>b.</answer> or C', 'B'],
    ['A dog would choose C', 'C'],
    ['The answer is a dog', undefined],
    ['either B or C', undefined],
    ['', undefined],
    ['Apple', undefined],
    ['Because', undefined],
  ])('%j → %s', (output, label) => {
    expect(readLabel(output, DEFAULT_LABELS)).toBe(label);
  });

  it('stays linear on long runs of spaces', () => {
    expect(readLabel(`the answer${' '.repeat(100_000)}is${' '.repeat(100_000)}unclear`, DEFAULT_LABELS)).toBeUndefined();
  });

  it('knows labels of any kind, longest first', () => {
    expect(readLabel('10', ['1', '10'])).toBe('10');
    expect(readLabel('the answer is 10.', ['1', '10'])).toBe('10');
    expect(readLabel('ENTAILMENT', ['entailment', 'neutral'])).toBe('entailment');
    expect(readLabel('(a.b)', ['a.b', 'a+b'])).toBe('a.b');
  });

  it('finds every label in the usual dress', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...DEFAULT_LABELS),
        fc.constantFrom('%', '(%)', '%.', '%)', 'Answer: %', 'the answer is **%**', '<answer>%</answer>'),
        (label, dress) => {
          expect(readLabel(`Let me see.\n${dress.replace('%', label)}`, DEFAULT_LABELS)).toBe(label);
        },
      ),
    );
  });
});

describe('JSON', () => {
  it('takes the last value from tags, fences or the text', () => {
    expect(readJsonAnswer('<answer>{"a": 1}</answer>')).toEqual({ a: 1 });
    expect(readJsonAnswer('<answer>```json\n[1]\n```</answer>')).toEqual([1]);
    expect(readJsonAnswer('```json\n{"a": 1}\n```\nor\n```\n{"a": 2}\n```\n')).toEqual({ a: 2 });
    expect(readJsonAnswer('It is:\n{"a": 3}')).toEqual({ a: 3 });
    expect(readJsonAnswer('{"a":\n 3}')).toEqual({ a: 3 });
    expect(readJsonAnswer('nothing')).toBeUndefined();
    expect(readJsonAnswer('{"__proto__": 1}')).toBeUndefined();
    expect(readJsonAnswer('1e999')).toBeUndefined();
    expect(readJsonAnswer('{'.repeat(50_000))).toBeUndefined();
    expect(readJsonAnswer('['.repeat(5000) + ']'.repeat(5000))).toBeUndefined();
  });

  it('compares values, not texts', () => {
    expect(jsonMatch('{"b": [1, 2.0], "a": null}', ['{"a":null,"b":[1,2]}'])).toBe(true);
    expect(jsonMatch('[2, 1]', ['[1, 2]'])).toBe(false);
    expect(jsonMatch('{"a": 1, "b": 1}', ['{"a": 1}'])).toBe(false);
    expect(jsonMatch('[]', ['{}'])).toBe(false);
    expect(jsonMatch('"1"', ['1'])).toBe(false);
    expect(jsonMatch('9007199254740993', ['9007199254740992'])).toBe(false);
  });

  it('equals itself with its keys in another order', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
        const text = JSON.stringify(value);
        fc.pre(readJsonAnswer(text) !== undefined);
        const reversed = JSON.stringify(value, (_, v) =>
          typeof v === 'object' && v !== null && !Array.isArray(v) ? Object.fromEntries(Object.entries(v).reverse()) : v,
        );
        expect(jsonMatch(`<answer>${reversed.replaceAll('<', '\\u003c')}</answer>`, [text])).toBe(true);
        expect(jsonMatch(JSON.stringify([value, 1]), [text])).toBe(false);
      }),
    );
  });
});

describe('spreadsheet cells', () => {
  it('rounds numbers to two decimals, takes "" for empty, keeps types apart', () => {
    expect(equalCells(1.234, 1.229)).toBe(true);
    expect(equalCells(1.234, 1.24)).toBe(false);
    expect(equalCells('', null)).toBe(true);
    expect(equalCells(0, null)).toBe(false);
    expect(equalCells(1, '1')).toBe(false);
    expect(equalCells(1, true)).toBe(false);
    expect(equalCells('a', 'A')).toBe(false);
    expect(equalCells(1e300, 1.1e300)).toBe(false);
  });

  it('counts days as spreadsheets do', () => {
    expect(excelSerial('1900-03-01')).toBe(61);
    expect(excelSerial('2024-01-31')).toBe(45322);
    expect(excelSerial('2024-01-31T12:00')).toBe(45322.5);
    expect(excelSerial('2024-02-30')).toBeUndefined();
    expect(excelSerial('soon')).toBeUndefined();
    expect(equalCells({ date: '2024-01-31' }, 45322)).toBe(true);
  });

  it('compares grids, empty at the edges', () => {
    expect(cellsMatch('[[1, "a"], [2.001, ""]]', ['[[1, "a", null], [2, null], []]'])).toBe(true);
    expect(cellsMatch('[[1], [3]]', ['[[1], [2]]'])).toBe(false);
    expect(cellsMatch('[1]', ['[[1]]'])).toBe(false);
    expect(cellsMatch('[[{"x": 1}]]', ['[[1]]'])).toBe(false);
  });
});

describe('scorers from their description', () => {
  const task = (...answers: string[]): Task => ({ id: 't', split: 'test', type: 'q', input: '?', data: { answers, fields: {} } });

  it('are binary', async () => {
    expect(await createScorer({ kind: 'exact' }).score('<answer>the Paris</answer>', task('Rome', 'paris'))).toEqual({
      success: true,
      reward: 1,
    });
    expect(await createScorer({ kind: 'exact' }).score('London', task('paris'))).toEqual({ success: false, reward: 0 });
    expect(await createScorer({ kind: 'anls', threshold: 0.999 }).score('Pariss', task('paris'))).toEqual({ success: false, reward: 0 });
    expect(await createScorer({ kind: 'anls', threshold: 0.8 }).score('Pariss', task('paris'))).toEqual({ success: true, reward: 1 });
    expect(await createScorer({ kind: 'choice', labels: ['A', 'B'] }).score('(b)', task('B'))).toEqual({ success: true, reward: 1 });
  });

  it('refuse tasks of other suites and missing sandboxes by name', () => {
    const scorer = createScorer({ kind: 'exact' });
    expect(() => scorer.score('x', { ...task(), data: { goal: 1 } })).toThrow(expect.objectContaining({ code: 'not-a-question' }));
    expect(() => createScorer({ kind: 'regex', flags: '', whole: true })).toThrow(expect.objectContaining({ code: 'sandbox-missing' }));
  });

  it('say which accepted answers could never be met', () => {
    expect(goldFault({ kind: 'exact' }, '—')).toMatch(/no word/);
    expect(goldFault({ kind: 'numeric', absolute: 0, relative: 0 }, 'seven')).toMatch(/no number/);
    expect(goldFault({ kind: 'choice', labels: ['A', 'B'] }, 'C')).toMatch(/A, B/);
    expect(goldFault({ kind: 'regex', flags: '', whole: true }, '(')).toMatch(/regular expression/);
    expect(goldFault({ kind: 'regex', flags: '', whole: true }, 'a)|(?:b')).toMatch(/regular expression/);
    expect(goldFault({ kind: 'json' }, '{')).toMatch(/JSON/);
    expect(goldFault({ kind: 'cells' }, '[1]')).toMatch(/rows/);
    expect(goldFault({ kind: 'anls', threshold: 0.999 }, ' ')).toMatch(/empty/);
    expect(goldFault({ kind: 'exact' }, 'no')).toBeUndefined();
  });

  it('takes an environment at its word only when it is done', () => {
    const step = { observation: '', reward: 0.3, done: true, success: true };
    expect(scoreStep(step)).toEqual({ success: true, reward: 1 });
    expect(scoreStep({ ...step, success: false })).toEqual({ success: false, reward: 0 });
    expect(scoreStep({ ...step, done: false })).toEqual({ success: false, reward: 0 });
  });
});
