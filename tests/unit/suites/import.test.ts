import fc from 'fast-check';
import Papa from 'papaparse';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { SPLITS } from '../../../src/core/types.ts';
import { problemText } from '../../../src/suites/import/faults.ts';
import { importTable, mapTable } from '../../../src/suites/import/import.ts';
import { DEFAULT_PARTS, Mapping, suggestMapping } from '../../../src/suites/import/mapping.ts';
import { drawSplits, inputKey, namedSplit } from '../../../src/suites/import/split.ts';
import { checkSuite, formatSuiteFile, parseSuiteFile, suiteHash, suiteId } from '../../../src/suites/import/suite-file.ts';
import { type Format, readTable } from '../../../src/suites/import/table.ts';
import { cellText, fillTemplate, parseTemplate, templatePaths } from '../../../src/suites/import/template.ts';
import { parseExactJson } from '../../../src/suites/json.ts';

const cells = (text: string, format: Format = 'csv') => readTable('data', text, format).rows.map((row) => row.cells);
const mapping = (fields: Partial<v.InferInput<typeof Mapping>> = {}) => v.parse(Mapping, { input: '{{q}}', answers: ['a'], ...fields });

describe('delimited files', () => {
  it.each([
    ['plain', 'q,a\nx,1\ny,2\n'],
    ['byte-order mark', '\ufeffq,a\nx,1\ny,2'],
    ['Windows line ends', 'q,a\r\nx,1\r\ny,2\r\n'],
    ['mixed line ends', 'q,a\r\nx,1\ny,2\r'],
    ['header and rows ended differently', 'q,a\nx,1\r\ny,2\r\n'],
    ['old Macintosh line ends', 'q,a\rx,1\ry,2'],
    ['empty lines', '\n\nq,a\n\nx,1\n , \ny,2\n\n\n'],
    ['spaces in the header', ' q , a \nx,1\ny,2'],
    ['quotes', '"q","a"\n"x","1"\n"y","2"'],
    ['semicolons', 'q;a\nx;1\ny;2'],
    ['tabs', 'q\ta\nx\t1\ny\t2'],
    ['bars', 'q|a\nx|1\ny|2'],
  ])('%s', (_, text) => {
    expect(cells(text)).toEqual([
      { q: 'x', a: '1' },
      { q: 'y', a: '2' },
    ]);
  });

  it('keeps cells as they stand', () => {
    expect(cells('id,q\n9007199254740993," a ""b"", c "\n007,1e400\n')).toEqual([
      { id: '9007199254740993', q: ' a "b", c ' },
      { id: '007', q: '1e400' },
    ]);
    expect(cells('q,a\n"two\r\nlines",\n')).toEqual([{ q: 'two\nlines', a: '' }]);
    expect(cells('q\n"a, b"\nc')).toEqual([{ q: 'a, b' }, { q: 'c' }]);
  });

  it('counts rows and lines as an editor shows them', () => {
    const { rows } = readTable('data.csv', 'q,a\n"x\ny\nz",1\n\nw,2\n');
    expect(rows.map(({ row, line }) => [row, line])).toEqual([
      [1, 2],
      [2, 6],
    ]);
  });

  it.each([
    ['a duplicate column', 'q,a,q\n1,2,3', /column "q": occurs twice/],
    ['duplicates up to spaces', 'q,a, q\n1,2,3', /column "q": occurs twice/],
    ['a __proto__ column', 'q,__proto__\n1,2', /column "__proto__": has a name that is not allowed/],
    ['a constructor column', 'constructor,a\n1,2', /column "constructor"/],
    ['a column without a name', 'q,,a\n1,2,3', /column 2 has no name/],
    ['a row that is too short', 'q,a\n1,2\n\n3\n', /row 2 \(line 4\): has 1 cells where the header has 2/],
    ['a row that is too long', 'q,a\n1,2,3', /row 1 \(line 2\): has 3 cells/],
    ['a quote never closed', 'q,a\n1,2\n"3,4\n', /line 3: a quoted cell is never closed/],
    ['text behind a quote', 'q,a\n"1"x,2', /line 2: a quoted cell is followed by other text/],
    ['nothing', '', /is empty/],
    ['a header alone', 'q,a\n', /holds no records/],
  ])('refuses %s by name', (_, text, message) => {
    expect(() => readTable('data.csv', text)).toThrow(message);
    expect(() => readTable('data.csv', text)).toThrow(
      expect.objectContaining({ code: 'import-unreadable', message: expect.stringMatching(/^data\.csv: /) }),
    );
  });

  it('reads back any table that is written as CSV or TSV', () => {
    const cell = fc.string({ unit: fc.constantFrom('a', 'é', '"', ',', '\t', '\n', ' ', ';', '|', "'", '𝒳', '\u2028') });
    const table = fc.array(fc.tuple(cell, cell, fc.stringMatching(/^[a-z]{1,5}$/)), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(table, fc.constantFrom('\n', '\r\n', '\r'), fc.boolean(), (rows, newline, tabs) => {
        const text = Papa.unparse([['q', 'a', 'z'], ...rows], { newline, delimiter: tabs ? '\t' : ',', quotes: true });
        expect(cells(`\ufeff${text}`, tabs ? 'tsv' : 'csv')).toEqual(rows.map(([q, a, z]) => ({ q, a, z })));
      }),
    );
  });
});

describe('JSON files', () => {
  it('reads lists and lines, missing cells as null, types kept', () => {
    const rows = [
      { q: 'x', n: 1, deep: { list: [true, null] } },
      { q: 'y', n: null, deep: null },
    ];
    expect(cells('[{"q":"x","n":1,"deep":{"list":[true,null]}},{"q":"y"}]', 'json')).toEqual(rows);
    expect(cells('\ufeff{"q":"x","n":1,"deep":{"list":[true,null]}}\r\n\r\n{"q":"y"}\n', 'jsonl')).toEqual(rows);
  });

  it('keeps huge ids apart', () => {
    const text =
      '[{"id": 9007199254740993, "s": "9007199254740993 \\" 12345678901234567890", "f": 0.12345678901234567890, "k": [-12345678901234567890]}]';
    expect(cells(text, 'json')).toEqual([
      { id: '9007199254740993', s: '9007199254740993 " 12345678901234567890', f: 0.12345678901234568, k: ['-12345678901234567890'] },
    ]);
  });

  it.each<[string, string, Format, RegExp]>([
    ['a broken line', '{"q":1}\n\n{"q":}\n', 'jsonl', /row 2 \(line 3\): not valid JSON/],
    ['a line that is no record', '{"q":1}\n[1]', 'jsonl', /row 2 \(line 2\): is not a record/],
    ['a list entry that is no record', '[{"q":1}, 2]', 'json', /row 2: is not a record/],
    ['no list', '{"data": []}', 'json', /is not a JSON list/],
    ['an infinite number', '[{"q":1},{"n":{"x":1e400}}]', 'json', /row 2, column "n": holds a number too large/],
    ['an infinite number on a line', '{"n":-1e999}', 'jsonl', /row 1 \(line 1\), column "n": holds a number too large/],
    ['an infinite entry', '[{"q":1}, 1e400]', 'json', /row 2: holds a number too large/],
    ['an infinite number in no list', '{"q": 1e400}', 'json', /column "q": holds a number too large/],
    ['NaN', '{"n":NaN}', 'jsonl', /line 1/],
    ['a prototype key', '[{"q":{"__proto__":{"a":1}}}]', 'json', /row 1, column "q": holds the forbidden key "__proto__"/],
    ['a prototype column', '{"__proto__":1}', 'jsonl', /forbidden key "__proto__"/],
    ['absurd depth', `{"q":${'['.repeat(3000)}${']'.repeat(3000)}}`, 'jsonl', /nested deeper/],
    ['an empty list', '[]', 'json', /holds no records/],
  ])('refuses %s by place', (_, text, format, message) => {
    expect(() => readTable('data', text, format)).toThrow(message);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it('reads any JSON as JSON.parse does, where that loses nothing', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = JSON.stringify(value);
        fc.pre(!/"(__proto__|constructor|prototype)":|\d{16}/.test(text));
        expect(parseExactJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });
});

describe('bytes', () => {
  it('are UTF-8 or marked UTF-16, and nothing else', () => {
    const utf16 = new Uint8Array([0xff, 0xfe, ...[...'q,a\né,1'].flatMap((c) => [c.charCodeAt(0), 0])]);
    expect(readTable('data.csv', utf16).rows[0]!.cells).toEqual({ q: 'é', a: '1' });
    expect(readTable('data.csv', new TextEncoder().encode('\ufeffq,a\né,1')).rows[0]!.cells).toEqual({ q: 'é', a: '1' });
    expect(() => readTable('data.csv', new Uint8Array([0x71, 0x0a, 0xe9]))).toThrow(/data\.csv: is not UTF-8 text/);
  });

  it('guesses the format from name, then text', () => {
    expect(readTable('a.JSONL', '{"q":1}').format).toBe('jsonl');
    expect(readTable('a.ndjson', '{"q":1}').format).toBe('jsonl');
    expect(readTable('a.txt', ' [{"q":1}]').format).toBe('json');
    expect(readTable('pasted', '{"q":1}\n{"q":2}').format).toBe('jsonl');
    expect(readTable('a.tsv', 'q\ta\n1,5\t2').rows[0]!.cells).toEqual({ q: '1,5', a: '2' });
  });
});

describe('templates', () => {
  it('fill in columns and reach into JSON cells', () => {
    const row = { q: 'Why?', list: ['a', 'b'], deep: { text: [1, 2] }, 'a.b': 'dotted', none: null };
    const fill = (text: string) => fillTemplate(parseTemplate(text), row);
    expect(fill('{{q}} {{ list }}|{{list.1}}|{{deep.text.0}}|{{a.b}}|{{none}}|{{deep}}')).toBe('Why? a\nb|b|1|dotted||{"text":[1,2]}');
    expect(fill('{single} {{q')).toBe('{single} {{q');
    expect(fill('{{toString}}{{deep.constructor}}{{missing}}')).toBe('');
    expect(templatePaths(parseTemplate('{{a}}{{b}}{{a}}'))).toEqual(['a', 'b']);
  });

  it('do not fill in what cells hold', () => {
    expect(fillTemplate(parseTemplate('{{a}}{{b}}'), { a: '{{b}}', b: '$&' })).toBe('{{b}}$&');
  });

  it('show plain values as people write them', () => {
    expect([true, 1.5, null, [], [[1]], { a: 1 }].map((value) => cellText(value))).toEqual(['true', '1.5', '', '', '[[1]]', '{"a":1}']);
  });
});

describe('a mapping', () => {
  const table = (text: string) => readTable('data.csv', text);

  it('makes questions whose answers stay out of sight', () => {
    const suite = importTable(
      table('n,q,a,kind\n7,Who?,Ada,x\n8,Where?,Paris,y\n'),
      mapping({ input: 'Q: {{q}}', id: 'n', type: 'kind' }),
      { title: 'My set' },
    );
    expect(suite).toMatchObject({ schema: 'nacre.suite/1', id: 'my-set', title: 'My set', origin: { file: 'data.csv' } });
    expect(suite.tasks[0]).toEqual({ id: '7', type: 'x', input: 'Q: Who?', answers: ['Ada'], fields: {}, split: suite.tasks[0]!.split });
  });

  it('takes several answers from columns and lists', () => {
    const rows = readTable('d.jsonl', '{"q":"x","a":["1","2"],"b":3}');
    expect(mapTable(rows, mapping({ answers: ['a', 'b'] })).tasks[0]!.answers).toEqual(['1', '2', '3']);
    expect(mapTable(rows, mapping({ answers: ['a'], scorer: { kind: 'json' } })).tasks[0]!.answers).toEqual(['["1","2"]']);
  });

  it('keeps the other columns for a script only', () => {
    const rows = table('q,a,extra\nx,1,e');
    expect(mapTable(rows, mapping()).tasks[0]!.fields).toEqual({});
    expect(mapTable(rows, mapping({ scorer: { kind: 'javascript', source: 'x' } })).tasks[0]!.fields).toEqual({ extra: 'e' });
  });

  const texts = (text: string, fields: Partial<v.InferInput<typeof Mapping>> = {}): string[] =>
    mapTable(table(text), mapping(fields))
      .problems.filter((p) => p.severity === 'error')
      .map(problemText);

  it.each<[string, string, Partial<v.InferInput<typeof Mapping>>, RegExp]>([
    [
      'a column that does not exist',
      'q,a\nx,1',
      { input: '{{question}}' },
      /the input names "question", which is no column; the columns are q, a/,
    ],
    ['an answer column that does not exist', 'q,a\nx,1', { answers: ['gold'] }, /the answer names "gold"/],
    ['an input that shows the answer', 'q,a\nx,1', { input: '{{q}} {{a}}' }, /column "a": holds the answer, and the input shows it/],
    ['an input without columns', 'q,a\nx,1', { input: 'hello' }, /shows no column/],
    ['no answers', 'q,a\nx,1', { answers: [] }, /needs a column with answers/],
    ['an empty answer', 'q,a\nx,1\ny,\n', {}, /row 2 \(line 3\), column "a": the answer holds no word/],
    ['an answer that is no number', 'q,a\nx,seven', { scorer: { kind: 'numeric' } }, /column "a": "seven" holds no number/],
    ['an empty input', 'q,a\n,1', {}, /row 1 \(line 2\), column "q": is empty/],
    ['an id used twice', 'id,q,a\n1,x,1\n1,y,1', { id: 'id' }, /row 2 \(line 3\), column "id": the id "1" was used in row 1/],
    ['an empty id', 'id,q,a\n,x,1', { id: 'id' }, /column "id": is empty where an id/],
    [
      'a split nobody knows',
      'q,a,s\nx,1,train\ny,1,hold',
      { split: { by: 'column', column: 's' } },
      /row 2 \(line 3\), column "s": "hold" is no split/,
    ],
  ])('names %s', (_, text, fields, message) => {
    expect(texts(text, fields).join('\n')).toMatch(message);
    expect(() => importTable(table(text), mapping(fields), { title: 't' })).toThrow(expect.objectContaining({ code: 'import-invalid' }));
  });

  it('reads splits from a column, warns of questions that stand in two and of empty splits', () => {
    const rule = { by: 'column' as const, column: 's', values: { hold: 'unseen' as const } };
    const mapped = mapTable(table('q,a,s\nx,1,Train\nX ,1,dev\nz,1,hold\nw,1,test'), mapping({ split: rule }));
    expect(mapped.counts).toEqual({ train: 1, val: 1, test: 1, unseen: 1 });
    expect(mapped.problems.map(problemText)).toEqual([
      'row 2 (line 3): the same question stands in row 1, which is in train; this one is in val',
    ]);
    const lone = mapTable(table('q,a,s\nx,1,train'), mapping({ split: rule }));
    expect(lone).toMatchObject({ errors: 0, warnings: 1, problems: [{ message: expect.stringContaining('no record is in val') }] });
    expect(namedSplit('constructor', {})).toBeUndefined();
  });

  it('counts problems it does not list', () => {
    const rows = Array.from({ length: 300 }, (_, i) => `x${i},`).join('\n');
    const mapped = mapTable(table(`q,a\n${rows}`), mapping());
    expect(mapped.problems.length).toBe(100);
    expect(mapped.errors).toBe(300);
    expect(() => importTable(table(`q,a\n${rows}`), mapping(), { title: 't' })).toThrow(/and 297 more/);
  });

  it('is suggested from the names of the columns', () => {
    const suggested = suggestMapping(table('Question,context,answer,category,Split\nx,y,1,c,train'));
    expect(suggested).toMatchObject({
      input: '{{context}}\n\n{{Question}}',
      answers: ['answer'],
      type: 'category',
      split: { by: 'column', column: 'Split' },
    });
    expect(v.parse(Mapping, suggested)).toEqual(suggested);
    expect(mapTable(table('foo,bar\nx,1'), suggestMapping(table('foo,bar\nx,1'))).errors).toBe(0);
  });
});

describe('a seeded split', () => {
  const item = fc.record({ type: fc.constantFrom('a', 'b', 'c'), input: fc.string({ maxLength: 3 }) });
  const parts = fc
    .record({ train: fc.nat(5), val: fc.nat(5), test: fc.nat(5), unseen: fc.nat(5) })
    .filter((p) => p.train + p.val + p.test + p.unseen > 0);

  it('gives every item one split of a share above nothing, equal inputs the same', () => {
    fc.assert(
      fc.property(fc.array(item, { maxLength: 60 }), parts, fc.nat(), (items, shares, seed) => {
        const splits = drawSplits(items, shares, seed);
        expect(splits).toHaveLength(items.length);
        expect(drawSplits(items, shares, seed)).toEqual(splits);
        const seen = new Map<string, string>();
        items.forEach(({ input }, i) => {
          expect(shares[splits[i]!]).toBeGreaterThan(0);
          const first = seen.get(inputKey(input)) ?? splits[i];
          expect(splits[i]).toBe(first);
          seen.set(inputKey(input), splits[i]!);
        });
      }),
    );
  });

  it('is exact to one task over all and nearly so in every type', () => {
    const items = Array.from({ length: 300 }, (_, i) => ({ type: ['a', 'b', 'c'][i % 3]!, input: `${i}` }));
    const splits = drawSplits(items, DEFAULT_PARTS, 7);
    const count = (split: string, type?: string) =>
      splits.filter((s, i) => s === split && (type === undefined || items[i]!.type === type)).length;
    expect(SPLITS.map((split) => count(split))).toEqual([150, 75, 75, 0]);
    for (const type of ['a', 'b', 'c']) expect(Math.abs(count('train', type) - 50)).toBeLessThanOrEqual(1);
    expect(drawSplits(items, DEFAULT_PARTS, 8)).not.toEqual(splits);
  });
});

describe('a suite file', () => {
  const suite = importTable(
    readTable('d.jsonl', '{"q":"x","a":"1","k":[1,{"b":null}]}\n{"q":"y","a":"2"}'),
    mapping({ scorer: { kind: 'javascript', source: 'function score() { return true }' } }),
    { title: 'Ünïcode Set.csv', note: 'CC BY 4.0' },
  );

  it('comes back as it was, with the same hash', () => {
    const back = parseSuiteFile('s.json', formatSuiteFile(suite));
    expect(back).toEqual(suite);
    expect(suiteHash(back)).toBe(suiteHash(suite));
    expect(suiteHash({ ...suite, title: 'other' })).not.toBe(suiteHash(suite));
    expect(suite.id).toBe('unicode-set');
    expect(suiteId('***')).toBe('imported');
  });

  it('survives any tasks', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1 });
    fc.assert(
      fc.property(fc.uniqueArray(fc.stringMatching(/^[a-z]{1,6}$/), { minLength: 1, maxLength: 5 }), text, text, (ids, input, answer) => {
        const tasks = ids.map((id) => ({ id, split: 'train' as const, type: 'q', input, answers: [answer], fields: {} }));
        expect(parseSuiteFile('s.json', formatSuiteFile({ ...suite, tasks }))).toEqual({ ...suite, tasks });
      }),
    );
  });

  it.each<[string, unknown, RegExp]>([
    ['a newer schema', { ...suite, schema: 'nacre.suite/2' }, /schema/],
    ['a field nobody knows', { ...suite, extra: 1 }, /extra/],
    ['no tasks', { ...suite, tasks: [] }, /tasks/],
    ['tasks with the same id', { ...suite, tasks: [suite.tasks[0], suite.tasks[0]] }, /same id/],
    ['a split nobody knows', { ...suite, tasks: [{ ...suite.tasks[0], split: 'dev' }] }, /tasks\.0\.split/],
    ['an unknown scorer', { ...suite, scorer: { kind: 'magic' } }, /scorer\.kind/],
    ['a path for an id', { ...suite, id: '../x' }, /id: /],
  ])('is refused with %s', (_, value, message) => {
    expect(() => checkSuite('s.json', value)).toThrow(message);
    expect(() => checkSuite('s.json', value)).toThrow(expect.objectContaining({ code: 'suite-invalid' }));
  });

  it('is refused when it is not JSON or hides prototype keys', () => {
    expect(() => parseSuiteFile('s.json', '{')).toThrow(/s\.json is not a suite: not valid JSON/);
    expect(() => parseSuiteFile('s.json', formatSuiteFile(suite).replace('"k"', '"__proto__"'))).toThrow(/forbidden key/);
  });
});
