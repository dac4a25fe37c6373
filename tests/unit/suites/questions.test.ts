import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { afterAll, describe, expect, it } from 'vitest';
import { openSuite } from '../../../scripts/cli/node-suites.ts';
import { nodeSandbox } from '../../../scripts/node-sandbox.ts';
import { SPLITS, type Step, type Suite } from '../../../src/core/types.ts';
import { importTable, mapTable } from '../../../src/suites/import/import.ts';
import { Mapping, suggestMapping } from '../../../src/suites/import/mapping.ts';
import { checkReference } from '../../../src/suites/import/reference.ts';
import { formatSuiteFile, type ImportedSuite, parseSuiteFile, suiteHash } from '../../../src/suites/import/suite-file.ts';
import { readTable } from '../../../src/suites/import/table.ts';
import { importPassages } from '../../../src/suites/qa/passages.ts';
import { PRESETS } from '../../../src/suites/qa/presets.ts';
import { readSuiteData } from '../../../src/suites/qa/read.ts';
import { importWordProblems } from '../../../src/suites/qa/word-problems.ts';
import { openImportedSuite } from '../../../src/suites/registry.ts';
import { questionData } from '../../../src/suites/scorers/types.ts';
import { sharedPath } from '../../shared.ts';

const sandbox = nodeSandbox();
afterAll(() => sandbox.close());

const suiteOf = (csv: string, mapping: v.InferInput<typeof Mapping>): ImportedSuite =>
  importTable(readTable('data.csv', csv), v.parse(Mapping, mapping), { title: 'Test' });
const allTasks = (suite: Suite) => SPLITS.flatMap((split) => suite.splits[split]);
const answer = async (suite: Suite, i: number, text: string): Promise<Step> => suite.open(allTasks(suite)[i]!, 0).act(text);

describe('a question', () => {
  const suite = openImportedSuite(suiteOf('q,a\nCapital of France?,Paris', { input: '{{q}}', answers: ['a'] }));

  it('shows its input and not its answer, and is over after one answer', async () => {
    expect(suite.maxTurns).toBe(1);
    const episode = suite.open(allTasks(suite)[0]!, 1);
    expect(episode.observation).toBe('Capital of France?');
    const untouched = episode.clone!();
    expect(await episode.act('It is\n<answer>paris</answer>')).toEqual({
      observation: 'The answer was accepted.',
      reward: 1,
      done: true,
      success: true,
    });
    expect(episode.observation).not.toContain('Paris');
    await expect(episode.act('again')).rejects.toMatchObject({ code: 'episode-over' });
    expect(untouched.observation).toBe('Capital of France?');
    expect(await untouched.act('Rome')).toMatchObject({
      reward: 0,
      done: true,
      success: false,
      observation: 'The answer was not accepted.',
    });
  });
});

describe('scorers in the sandbox', () => {
  it('match patterns, whole or inside, and name the one that never ends', async () => {
    const csv = 'q,a\nyear?,"(19|20)\\d\\d"\nbad?,^(a+)+$\n';
    const whole = openImportedSuite(
      suiteOf(csv, { input: '{{q}}', answers: ['a'], scorer: { kind: 'regex' }, split: { by: 'seed', parts: { train: 1 } } }),
      () => sandbox,
    );
    expect((await answer(whole, 0, '1999')).success).toBe(true);
    expect((await answer(whole, 0, 'in 1999')).success).toBe(false);
    await expect(answer(whole, 1, `${'a'.repeat(40)}!`)).rejects.toMatchObject({ code: 'scorer-timeout' });
    const inside = openImportedSuite(
      suiteOf(csv, { input: '{{q}}', answers: ['a'], scorer: { kind: 'regex', whole: false }, split: { by: 'seed', parts: { train: 1 } } }),
      () => sandbox,
    );
    expect((await answer(inside, 0, 'in 1999')).success).toBe(true);
  });

  it('run what the user wrote on answer, output and task', async () => {
    const source = `function score({ answer, output, task }) {
      const near = Math.abs(Number(answer) - Number(task.answers[0])) <= Number(task.fields.slack);
      return { reward: near && output.includes('<answer>') ? 1 : 0.25, reason: task.id + ' ' + task.input };
    }`;
    const suite = openImportedSuite(
      suiteOf('q,a,slack\n1+1,2,1', { input: '{{q}}', answers: ['a'], scorer: { kind: 'javascript', source } }),
      () => sandbox,
    );
    expect(await answer(suite, 0, '<answer>3</answer>')).toMatchObject({
      reward: 1,
      success: true,
      observation: 'The answer was accepted. row-0001 1+1',
    });
    expect(await answer(suite, 0, '3')).toMatchObject({ reward: 0.25, success: false });
  });

  it('open the sandbox only when an answer is scored', async () => {
    let opened = 0;
    const suite = openImportedSuite(
      suiteOf('q,a\nx,1', { input: '{{q}}', answers: ['a'], scorer: { kind: 'javascript', source: 'function score() { return true }' } }),
      () => {
        opened++;
        return sandbox;
      },
    );
    expect(opened).toBe(0);
    await answer(suite, 0, 'x');
    expect(opened).toBe(1);
  });
});

describe('the forms of well-known data', () => {
  it('name what they cannot read', () => {
    expect(() => importPassages('h.json', '[{"question":"q","answer":"a","context":"text"}]')).toThrow(
      /h\.json: row 1, column "context": holds no list of passages/,
    );
    expect(() => importWordProblems('g.jsonl', '{"question":"q","answer":"18"}')).toThrow(/row 1, column "answer": holds no "####"/);
  });

  it('read passages in both published forms alike', () => {
    const pairs = '[{"question":"q","answer":"Ada","context":[["T",["One."," Two."]]]}]';
    const records = '[{"question":"q","answer":"Ada","context":[{"title":"T","sentences":["One."," Two."]}]}]';
    expect(importPassages('h.json', pairs)).toEqual(importPassages('h.json', records));
    expect(importPassages('h.json', pairs).tasks[0]!.input).toContain('[1] T\nOne. Two.\n\nQuestion: q');
  });
});

describe('any file a user may bring', () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const table = bytes('q,a\nx,1\ny,2\n');

  it('is a suite file, data in a well-known form, or a table with a mapping', () => {
    const suite = readSuiteData('t.csv', table, { input: '{{q}}', answers: ['a'] });
    expect(suite).toMatchObject({ id: 't', title: 't.csv', scorer: { kind: 'exact' } });
    expect(readSuiteData('any', bytes(`\ufeff${formatSuiteFile(suite)}`))).toEqual(suite);
    expect(readSuiteData('g.jsonl', bytes('{"question":"1+1?","answer":"1+1=2\\n#### 2"}')).scorer.kind).toBe('numeric');
    expect(() => readSuiteData('t.csv', table)).toThrow(
      expect.objectContaining({ code: 'mapping-needed', message: expect.stringContaining('q, a') }),
    );
    expect(() => readSuiteData('t.csv', table, { input: '{{q}}', answers: 'a' })).toThrow(
      expect.objectContaining({ code: 'mapping-invalid', message: expect.stringContaining('answers') }),
    );
    expect(() => readSuiteData('s.json', bytes('{"schema": "nacre.suite/9"}'))).toThrow(expect.objectContaining({ code: 'suite-invalid' }));
  });

  it('is what the experiment meant, or refused', () => {
    const suite = readSuiteData('t.csv', table, { input: '{{q}}', answers: ['a'] });
    expect(checkReference({ name: 't', hash: suiteHash(suite) }, suite)).toBe(suite);
    expect(checkReference({ name: 't' }, suite)).toBe(suite);
    expect(() => checkReference({ name: 't' }, undefined)).toThrow(expect.objectContaining({ code: 'suite-missing' }));
    expect(() => checkReference({ name: 't', hash: suiteHash(suite) }, { ...suite, title: 'u' })).toThrow(
      expect.objectContaining({ code: 'suite-differs' }),
    );
  });

  it('opens from the command line', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'nacre-suite-'));
    try {
      writeFileSync(join(folder, 't.csv'), table);
      writeFileSync(
        join(folder, 'm.json'),
        JSON.stringify({ input: '{{q}}', answers: ['a'], scorer: { kind: 'regex' }, split: { by: 'seed', parts: { test: 1 } } }),
      );
      const { suite, close } = await openSuite(join(folder, 't.csv'), join(folder, 'm.json'));
      expect(suite.splits.test).toHaveLength(2);
      expect(await suite.open(suite.splits.test[0]!, 0).act('1')).toMatchObject({ success: true });
      await close();
      await expect(openSuite(join(folder, 'none.csv'))).rejects.toMatchObject({ code: 'file-missing' });
      await expect(openSuite('none')).rejects.toMatchObject({ code: 'unknown-suite' });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

/** Each accepted answer scores 1, another text 0; splits are disjoint; a suite file comes back the same. */
async function checkWhole(imported: ImportedSuite, dress: (gold: string) => string, wrong: (gold: string) => string): Promise<void> {
  const suite = openImportedSuite(parseSuiteFile('suite.json', formatSuiteFile(imported)), () => sandbox);
  const tasks = allTasks(suite);
  expect(tasks).toHaveLength(imported.tasks.length);
  expect(new Set(tasks.map(({ id }) => id)).size).toBe(tasks.length);
  for (const task of tasks) {
    const gold = questionData(task).answers[0]!;
    expect(await suite.open(task, 0).act(dress(gold))).toMatchObject({ success: true, reward: 1, done: true });
    expect(await suite.open(task, 0).act(wrong(gold))).toMatchObject({ success: false, reward: 0, done: true });
  }
}

const hotpot = sharedPath('data/tasks/hotpot-distractor-100.json');
describe.skipIf(!hotpot)('100 questions of HotpotQA', () => {
  const read = () => readFileSync(hotpot!);

  it('become a suite whose accepted answers score 1', async () => {
    const imported = importPassages('hotpot.json', read());
    expect(imported.tasks).toHaveLength(100);
    expect(SPLITS.map((split) => imported.tasks.filter((task) => task.split === split).length)).toEqual([50, 25, 25, 0]);
    expect(new Set(imported.tasks.map(({ type }) => type))).toEqual(new Set(['bridge', 'comparison']));
    for (const { input } of imported.tasks) expect(input.match(/^\[\d+\] /gm)!.length).toBeGreaterThanOrEqual(2);
    await checkWhole(
      imported,
      (gold) => `I think so.\n<answer>The ${gold}.</answer>`,
      (gold) => `<answer>not ${gold}</answer>`,
    );
  });

  it('are recognised', () => {
    const table = readTable('hotpot.json', read());
    expect(PRESETS.filter((preset) => preset.matches(table)).map(({ id }) => id)).toEqual(['passages']);
  });
});

const gsm8k = sharedPath('data/tasks/gsm8k-300.jsonl');
describe.skipIf(!gsm8k)('300 problems of GSM8K', () => {
  const read = () => readFileSync(gsm8k!);

  it('become a suite whose accepted answers score 1', async () => {
    const imported = importWordProblems('gsm8k.jsonl', read(), { split: { seed: 3 } });
    expect(imported.tasks).toHaveLength(300);
    expect(SPLITS.map((split) => imported.tasks.filter((task) => task.split === split).length)).toEqual([150, 75, 75, 0]);
    for (const { input } of imported.tasks) expect(input).not.toMatch(/<<|#### ?\d/);
    await checkWhole(
      imported,
      (gold) => `2 * 3 = 6\n#### $${gold} in all`,
      (gold) => `${gold}\n#### ${Number(gold.replaceAll(',', '')) + 1}`,
    );
  });

  it('score the whole published solution as right', async () => {
    const table = readTable('gsm8k.jsonl', read());
    const suite = importWordProblems('gsm8k.jsonl', read(), { split: { parts: { train: 1, val: 0, test: 0, unseen: 0 } } });
    const opened = openImportedSuite(suite);
    for (const [i, { cells }] of table.rows.entries()) expect((await answer(opened, i, cells.answer as string)).success).toBe(true);
    expect(PRESETS.filter((preset) => preset.matches(table)).map(({ id }) => id)).toEqual(['word-problems']);
  });
});

const database = sharedPath('data/tasks/dbbench-dev.jsonl');
describe.skipIf(!database)('questions about database tables, by a mapping of the user', () => {
  it('show the table and take any of the listed answers', async () => {
    const table = readTable('dbbench.jsonl', readFileSync(database!));
    expect(suggestMapping(table).input).toContain('{{description}}');
    const rows = table.rows.filter(
      ({ cells }) => Array.isArray(cells.label) && cells.label.every((label) => /\w/.test(String(label))) && cells.label.length > 0,
    );
    expect(rows.length).toBeGreaterThan(20);
    const mapping = v.parse(Mapping, { input: '{{description}}\n\n{{table.table_name}}\n{{table.table_info}}', answers: ['label'] });
    const mapped = mapTable({ ...table, rows }, mapping);
    expect(mapped.errors).toBe(0);
    expect(mapped.tasks[0]!.input).toContain('"columns"');
    await checkWhole(
      importTable({ ...table, rows }, mapping, { title: 'Tables' }),
      (gold) => `<answer>${gold}</answer>`,
      () => 'I do not know',
    );
  });
});
