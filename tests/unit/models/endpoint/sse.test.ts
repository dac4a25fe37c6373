import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SseEvent, SseParser } from '../../../../src/models/endpoint/sse.ts';

function parse(...chunks: readonly string[]): SseEvent[] {
  const parser = new SseParser();
  return chunks.flatMap((chunk) => parser.push(chunk));
}

/** Pieces of `text` cut at the given places. */
function cut(text: string, places: readonly number[]): string[] {
  const at = [...new Set([0, ...places.map((place) => place % (text.length + 1)), text.length])].sort((a, b) => a - b);
  return at.slice(1).map((end, i) => text.slice(at[i], end));
}

const line = fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => text.replace(/[\r\n]/g, ''));
const sent = fc.record({
  event: fc.constantFrom('', 'error', 'ping'),
  data: fc.array(line, { minLength: 1, maxLength: 3 }),
  comment: fc.option(line, { nil: undefined }),
  space: fc.boolean(),
});

describe('SseParser', () => {
  it('gives the same events wherever the stream is cut, with every kind of line end', () => {
    fc.assert(
      fc.property(
        fc.array(sent, { maxLength: 6 }),
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.array(fc.nat(500), { maxLength: 30 }),
        fc.boolean(),
        (events, end, places, mark) => {
          const text = events
            .map(({ event, data, comment, space }) => {
              const lines = data.map((value) => `data:${space || value.startsWith(' ') ? ' ' : ''}${value}`);
              const head = [...(comment === undefined ? [] : [`:${comment}`]), ...(event === '' ? [] : [`event: ${event}`])];
              return [...head, ...lines, '', ''].join(end);
            })
            .join('');
          // The last CR waits for a possible LF.
          const stream = `${mark ? '\ufeff' : ''}${text}:\n`;
          const expected = events.map(({ event, data }) => ({ event: event || 'message', data: data.join('\n') }));
          expect(parse(...cut(stream, places))).toEqual(expected);
        },
      ),
    );
  });

  it('joins several data lines and knows fields without a colon', () => {
    expect(parse('data: a\ndata\ndata:b\n\n')).toEqual([{ event: 'message', data: 'a\n\nb' }]);
  });

  it('ignores comments, unknown fields and events without data', () => {
    expect(parse(': hello\n\nid: 3\nretry: 10\n\nevent: ping\n\ndata: x\n\n')).toEqual([{ event: 'message', data: 'x' }]);
  });

  it('drops an event that the stream breaks off in', () => {
    expect(parse('data: whole\n\ndata: half')).toEqual([{ event: 'message', data: 'whole' }]);
    expect(parse('data: half\n')).toEqual([]);
  });
});
