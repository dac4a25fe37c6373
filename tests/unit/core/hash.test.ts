import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { contentHash, sha256Hex } from '../../../src/core/hash.ts';

it('is SHA-256 of the UTF-8 bytes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
      expect(sha256Hex(text)).toBe(createHash('sha256').update(text, 'utf8').digest('hex'));
    }),
  );
});

it('pads every length right', () => {
  for (const length of [55, 56, 63, 64, 65, 119, 120]) {
    const text = 'x'.repeat(length);
    expect(sha256Hex(text)).toBe(createHash('sha256').update(text).digest('hex'));
  }
  expect(contentHash('x')).toHaveLength(32);
});
