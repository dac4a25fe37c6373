import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { protectedRegions, visibleText } from '../../../src/textual/context.ts';
import { applyPatch, locateTarget } from '../../../src/textual/patch.ts';
import type { Edit, EditOp, EditStatus } from '../../../src/textual/types.ts';
import { append, insertAfter, remove, replace } from './builders.ts';

const LIMITS = { maxEditChars: 600, maxContextChars: 12_000 };
const REGION = '<!-- protected:start core -->\nKeep me.\n<!-- protected:end core -->';

function patch(context: string, ...edits: Edit[]) {
  const result = applyPatch(context, edits, LIMITS);
  return { context: result.context, statuses: result.reports.map(({ status }) => status) };
}

describe('applyPatch', () => {
  it.each<[string, string, Edit, string]>([
    ['append to nothing', '', append('- A'), '- A'],
    ['append to a list', '- A\n', append('- B'), '- A\n- B'],
    ['append before the region that ends the document', `- A\n${REGION}\n`, append('- B'), `- A\n- B\n${REGION}\n`],
    [
      'append before the first of several regions at the end',
      `- A\n${REGION}\n${REGION.replaceAll('core', 'two')}`,
      append('- B'),
      `- A\n- B\n${REGION}\n${REGION.replaceAll('core', 'two')}`,
    ],
    ['append behind a region that does not end it', `${REGION}\n- A`, append('- B'), `${REGION}\n- A\n- B`],
    ['append to a region alone', REGION, append('- B'), `- B\n${REGION}`],
    ['insert after a line', '- A\n- C', insertAfter('- A', '- B'), '- A\n- B\n- C'],
    ['insert after the last line', '- A', insertAfter('- A', '- B'), '- A\n- B'],
    ['replace', 'go left now', replace('left', 'right'), 'go right now'],
    ['delete a line', '- A\n- B\n- C', remove('- B'), '- A\n- C'],
    ['delete the last line', '- A\n- B', remove('- B'), '- A'],
    ['delete within a line', 'a b c', remove(' b'), 'a c'],
    ['a target in other typography', 'Don’t “stop”.', replace('Don\'t "stop".', 'Go.'), 'Go.'],
    ['a target in other white space', 'one\r\n   two', replace('one two', 'three'), 'three'],
  ])('%s', (_, context, edit, expected) => {
    const result = patch(context, edit);
    expect(result.statuses).toEqual(['applied']);
    expect(result.context).toBe(expected);
  });

  it.each<[string, string, Edit, EditStatus]>([
    ['a missing target', 'a', replace('b', 'c'), 'target-not-found'],
    ['a target found twice', 'a b a', replace('a', 'c'), 'target-ambiguous'],
    ['overlapping occurrences', 'aaa', replace('aa', 'c'), 'target-ambiguous'],
    ['a target found twice after folding', '‘x’ `y` ’x’', replace("'x'", 'c'), 'target-ambiguous'],
    ['an edit inside a region', REGION, replace('Keep', 'Lose'), 'protected'],
    ['a range that starts before a region', `- A\n${REGION}`, remove('- A\n<!-- protected:start core -->'), 'protected'],
    ['a range that spans a whole region', `- A\n${REGION}\n- B`, replace(`- A\n${REGION}\n- B`, 'x'), 'protected'],
    ['a marker as target', REGION, remove('<!-- protected:end core -->'), 'protected'],
    ['an insertion inside a region', REGION, insertAfter('Keep me.', 'x'), 'protected'],
    ['content with a marker', 'a', append('<!-- protected:start x -->'), 'protected'],
    ['content with a sloppy marker', 'a', append('<!--  PROTECTED:end'), 'protected'],
    ['content that completes a marker', '<!-- pro', replace('pro', 'protected:start x -->'), 'protected'],
    ['the same text', 'a', replace('a', 'a'), 'no-op'],
    ['a line that is already there', '- A\n- B', append('- A'), 'no-op'],
    ['an unknown operation', 'a', append('b', { op: 'prepend' as EditOp }), 'unknown-op'],
    ['no content', 'a', append('  '), 'malformed'],
    ['no target', 'a', { id: 'x', op: 'delete', kind: 'corrective', support: [] }, 'malformed'],
    ['replace without content', 'a', { id: 'x', op: 'replace', target: 'a', kind: 'corrective', support: [] }, 'malformed'],
    ['content over the limit', 'a', append('x'.repeat(601)), 'too-long'],
  ])('refuses %s', (_, context, edit, status) => {
    expect(patch(context, edit)).toEqual({ context, statuses: [status] });
  });

  it('takes an edit at the limit, and no context over its limit', () => {
    expect(patch('a', append('x'.repeat(600))).statuses).toEqual(['applied']);
    const result = applyPatch('a'.repeat(90), [append('b'.repeat(20)), append('c')], { maxEditChars: 50, maxContextChars: 100 });
    expect(result.reports.map(({ status }) => status)).toEqual(['too-long', 'applied']);
  });

  it('lets a context that is too long already be shortened', () => {
    const result = applyPatch(`${'a'.repeat(200)} b`, [remove(' b')], { maxEditChars: 50, maxContextChars: 100 });
    expect(result.reports[0]?.status).toBe('applied');
  });

  it('applies in order, each edit on the result of the one before', () => {
    expect(patch('a', replace('a', 'b'), replace('b', 'c'), replace('a', 'x'))).toEqual({
      context: 'c',
      statuses: ['applied', 'applied', 'target-not-found'],
    });
  });

  it('never changes a protected byte, whatever the edits', () => {
    const piece = fc.constantFrom('a', 'b ', '\n', '- x\n', REGION, '\r\n', '“q”', '<!-- ', 'protected:', ' -->', 'Keep', 'core');
    const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));
    const edit = fc.record({
      id: fc.constant('e'),
      op: fc.constantFrom<EditOp[]>('append', 'insert_after', 'replace', 'delete'),
      target: text,
      content: text,
      kind: fc.constant('corrective' as const),
      support: fc.constant([]),
    });
    fc.assert(
      fc.property(text, fc.array(edit, { maxLength: 5 }), (context, edits) => {
        let before: string[];
        try {
          before = protectedRegions(context).map(({ start, end }) => context.slice(start, end));
        } catch {
          return fc.pre(false);
        }
        const after = applyPatch(context, edits, LIMITS).context;
        expect(protectedRegions(after).map(({ start, end }) => after.slice(start, end))).toEqual(before);
      }),
      { numRuns: 500 },
    );
  });

  it('changes only the range of a unique target', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), fc.nat(), fc.nat(), (context, a, b) => {
        fc.pre(context.trim() !== '' && !context.includes('protected'));
        const start = a % context.length;
        const target = context.slice(start, start + 1 + (b % (context.length - start)));
        fc.pre(target.trim() !== '');
        const place = locateTarget(context, target);
        const result = patch(context, replace(target, 'Z'));
        if (typeof place === 'string') expect(result).toEqual({ context, statuses: [place] });
        else expect(result.context).toBe(`${context.slice(0, place.start)}Z${context.slice(place.end)}`);
      }),
    );
  });
});

describe('protectedRegions', () => {
  it.each([
    ['an unclosed region', 'a\n<!-- protected:start x -->\nb', /Line 2.*never closed/],
    ['an end without a start', 'a\n\n<!-- protected:end x -->', /Line 3.*never started/],
    ['a wrong name', '<!-- protected:start x -->\n<!-- protected:end y -->', /Line 2.*"x" is ended as "y"/],
    ['nesting', '<!-- protected:start x -->\n<!-- protected:start y -->', /Line 2.*inside region "x"/],
    ['a name used twice', `${REGION}\n${REGION}`, /Line 4.*already used/],
    ['a malformed marker', '<!-- protected:begin x -->', /Line 1.*no protected-region marker/],
  ])('refuses %s', (_, context, message) => {
    expect(() => protectedRegions(context)).toThrowError(message);
    expect(() => protectedRegions(context)).toThrowError(expect.objectContaining({ code: 'context-markers' }));
  });
});

it('the model reads the context without its markers', () => {
  expect(visibleText(`A\n${REGION}\nB`)).toBe('A\nKeep me.\nB');
  expect(visibleText('A <!-- protected:start x -->b<!-- protected:end x --> c')).toBe('A b c');
});
