import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import pearlQuick from '../../../public/examples/pearl-quick.json';
import pearlStudy from '../../../public/examples/pearl-study.json';
import standard from '../../../public/examples/textual-default.json';
import quick from '../../../public/examples/textual-quick.json';
import { configToLink, linkToConfig } from '../../../src/app/config-link.ts';
import { EXAMPLES } from '../../../src/app/examples.ts';
import { formatProbeUrl, MAX_PROBE_CHARS, PROBE_EXAMPLES, parseProbeUrl } from '../../../src/app/probe/url.ts';
import { FILTERS } from '../../../src/app/run/derive.ts';
import { formatRunUrl, parseRunUrl, STEP_TABS } from '../../../src/app/run/url.ts';
import { parseAnyConfig } from '../../../src/lab/any-config.ts';

describe('the address of a run', () => {
  it('comes back as it went', () => {
    const url = fc.record({
      step: fc.oneof(fc.nat(100), fc.constant('result' as const), fc.constant('live' as const)),
      tab: fc.constantFrom(...STEP_TABS),
      filter: fc.constantFrom(...FILTERS),
      query: fc.string(),
      cell: fc.string({ minLength: 1 }),
      card: fc.string({ minLength: 1 }),
    });
    fc.assert(
      fc.property(url, (one) => {
        expect(parseRunUrl(formatRunUrl(one))).toEqual(one);
      }),
    );
  });

  it('is empty for the plain view', () => {
    const written = formatRunUrl(parseRunUrl({}));
    expect(Object.values(written).every((value) => value === undefined)).toBe(true);
  });

  it('falls back where a link is damaged', () => {
    expect(parseRunUrl({ step: '-1', tab: 'nothing', filter: 'x', q: ['a', 'b'] })).toEqual({
      step: 'live',
      tab: 'rollouts',
      filter: 'all',
      query: 'a',
    });
    expect(parseRunUrl({ step: '1.5' }).step).toBe('live');
  });
});

describe('the address of the probe', () => {
  it('comes back as it went', () => {
    const url = fc.record({ text: fc.string(), raw: fc.boolean(), token: fc.nat(500) });
    fc.assert(
      fc.property(url, (one) => {
        expect(parseProbeUrl(formatProbeUrl(one))).toEqual(one);
      }),
    );
  });

  it('begins with an example, keeps an empty text empty, and limits a long one', () => {
    expect(parseProbeUrl({}).text).toBe(PROBE_EXAMPLES[0]?.text);
    expect(parseProbeUrl(formatProbeUrl({ text: '', raw: false })).text).toBe('');
    expect(parseProbeUrl({ text: 'x'.repeat(10_000) }).text).toHaveLength(MAX_PROBE_CHARS);
  });
});

describe('a configuration in a link', () => {
  it('comes back as it went, whatever JSON it is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(linkToConfig(configToLink(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('is short for what people share', () => {
    expect(configToLink(parseAnyConfig(quick)).length).toBeLessThan(200);
    expect(configToLink({ ...quick, seed: 77 }).length).toBeLessThan(120);
  });

  it('says what is wrong with a broken link', () => {
    const link = configToLink({ ...quick, name: 'A name that no dictionary holds' });
    for (const bad of ['', '9abc', link.slice(0, -4), `${link}!`, '1']) expect(() => linkToConfig(bad)).toThrow(/cannot be read/);
  });

  it('refuses to unpack a bomb', () => {
    const bomb = configToLink('x'.repeat(5_000_000));
    expect(() => linkToConfig(bomb)).toThrow(/cannot be read/);
  });

  it('ships only examples that are valid', () => {
    expect(EXAMPLES.map(({ id }) => id)).toEqual(['textual-quick', 'textual-default', 'pearl-quick', 'pearl-study']);
    for (const example of [quick, standard, pearlQuick, pearlStudy]) expect(() => parseAnyConfig(example)).not.toThrow();
  });
});
