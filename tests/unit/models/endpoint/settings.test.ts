import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../../src/lab/config.ts';
import { KeyRing, redact } from '../../../../src/models/endpoint/keys.ts';
import { EndpointSettings, isLoopback, normaliseBaseUrl, requireReachable } from '../../../../src/models/endpoint/settings.ts';

describe('normaliseBaseUrl', () => {
  it.each([
    ['http://127.0.0.1:8000', 'http://127.0.0.1:8000/v1'],
    ['http://127.0.0.1:8000/', 'http://127.0.0.1:8000/v1'],
    ['http://127.0.0.1:8000/v1/', 'http://127.0.0.1:8000/v1'],
    [' http://127.0.0.1:8000/v1/chat/completions ', 'http://127.0.0.1:8000/v1'],
    ['https://api.example.com/openai/v1/models', 'https://api.example.com/openai/v1'],
    ['localhost:11434', 'http://localhost:11434/v1'],
    ['10.0.0.7:8000/v1', 'http://10.0.0.7:8000/v1'],
    ['api.example.com', 'https://api.example.com/v1'],
    ['HTTPS://API.Example.com/v1//', 'https://api.example.com/v1'],
  ])('%s', (given, expected) => {
    expect(normaliseBaseUrl(given)).toBe(expected);
    expect(normaliseBaseUrl(expected)).toBe(expected);
  });

  it.each([
    ['', /empty/],
    ['ftp://host/v1', /ftp/],
    ['file:///etc/passwd', /file/],
    ['javascript://alert', /javascript/],
    ['http://', /cannot be read/],
    ['https://host/v1?key=abc', /query/],
    ['https://user:secret@host/v1', /password/],
  ])('refuses %s', (given, message) => {
    expect(() => normaliseBaseUrl(given)).toThrow(message);
    expect(() => normaliseBaseUrl(given)).not.toThrow(/secret/);
  });
});

describe('requireReachable', () => {
  it('explains mixed content and lets everything else pass', () => {
    expect(() => requireReachable('http://10.0.0.7:8000/v1', 'https://nacre.example')).toThrow(/mixed content/);
    for (const [url, page] of [
      ['http://127.0.0.1:8000/v1', 'https://nacre.example'],
      ['http://localhost:8000/v1', 'https://nacre.example'],
      ['https://api.example.com/v1', 'https://nacre.example'],
      ['http://10.0.0.7:8000/v1', 'http://127.0.0.1:4173'],
      ['http://10.0.0.7:8000/v1', undefined],
    ] as const) {
      expect(() => requireReachable(url, page)).not.toThrow();
    }
    expect(isLoopback('http://127.evil.example/v1')).toBe(false);
    expect(isLoopback('http://[::1]:8000/v1')).toBe(true);
  });
});

describe('EndpointSettings', () => {
  it('fills in defaults and takes no key', () => {
    expect(v.parse(EndpointSettings, { baseUrl: 'localhost:8000' })).toMatchObject({
      baseUrl: 'http://localhost:8000/v1',
      parallel: 8,
      retries: 5,
    });
    expect(() => v.parse(EndpointSettings, { baseUrl: 'localhost:8000', key: 'sk' })).toThrow(/key/);
  });

  it('is part of configurations, and the old ones stay valid', () => {
    const base = { schema: 'nacre.experiment/1', kind: 'textual', name: 'A study', suite: { id: 'household' } };
    const endpoint = { baseUrl: 'http://127.0.0.1:8000' };
    expect(parseConfig(base)).toMatchObject({ target: { model: 'nacre-tiny' }, critic: { kind: 'analyst' } });
    expect(parseConfig({ ...base, target: { model: 'endpoint', endpoint } }).target.endpoint?.baseUrl).toBe('http://127.0.0.1:8000/v1');
    expect(() => parseConfig({ ...base, target: { model: 'endpoint' } })).toThrow(/target.*endpoint.*baseUrl/);
    expect(() => parseConfig({ ...base, target: { model: 'endpoint', endpoint: { baseUrl: 'ftp://x' } } })).toThrow(
      /target\.endpoint\.baseUrl: .*ftp/,
    );
    expect(() => parseConfig({ ...base, target: { model: 'endpoint', endpoint: { ...endpoint, apiKey: 'sk-secret' } } })).toThrow(/apiKey/);
    expect(() => parseConfig({ ...base, critic: { kind: 'model' } })).toThrow(/critic.*model/);
    expect(() => parseConfig({ ...base, critic: { kind: 'model', model: 'endpoint' } })).toThrow(/critic.*endpoint/);
  });
});

describe('KeyRing', () => {
  const KEY = 'sk-test-0123456789abcdef';

  it('gives a key to its own origin only', () => {
    const keys = new KeyRing();
    keys.set('https://a.example/v1', `  ${KEY}\n`);
    expect(keys.get('https://a.example/other')).toBe(KEY);
    expect(keys.get('http://a.example/v1')).toBeUndefined();
    expect(keys.get('https://b.example/v1')).toBeUndefined();
    keys.set('https://a.example/v1', '');
    expect(keys.get('https://a.example/v1')).toBeUndefined();
  });

  it('shows nothing when it is cloned, printed or made into JSON', async () => {
    const { inspect } = await import('node:util');
    const keys = new KeyRing();
    keys.set('https://a.example/v1', KEY);
    for (const shown of [JSON.stringify(keys), inspect(keys, { depth: 9, showHidden: true }), JSON.stringify(structuredClone(keys))]) {
      expect(shown).not.toContain('0123456789');
    }
  });

  it('refuses a key that cannot be sent, without repeating it', () => {
    const keys = new KeyRing();
    expect(() => keys.set('https://a.example/v1', 'sk-abc def')).toThrow(/spaces/);
    expect(() => keys.set('https://a.example/v1', 'sk-äbcdef')).not.toThrow(/sk-/);
  });
});

describe('redact', () => {
  const KEY = 'sk-test-0123456789abcdef';

  it.each([
    [`Bearer ${KEY} is wrong`, 'Bearer [key] is wrong'],
    ['Incorrect API key provided: sk-test-0123****cdef.', 'Incorrect API key provided: [key]'],
    ['nothing to hide here', 'nothing to hide here'],
  ])('%s', (text, expected) => {
    expect(redact(text, KEY)).toBe(expected);
  });

  it('leaves texts alone without a key or with a trivial one', () => {
    expect(redact('a text', undefined)).toBe('a text');
    expect(redact('a text', 'a')).toBe('a text');
    expect(redact('say EMPTY', 'EMPTY')).toBe('say [key]');
  });
});
