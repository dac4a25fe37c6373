/** One server-sent event. */
export interface SseEvent {
  /** Name of the event, `message` unless the stream says otherwise. */
  readonly event: string;
  readonly data: string;
}

/**
 * Reads a `text/event-stream` (WHATWG HTML, section 9.2) from text that arrives in any pieces: lines end with LF, CR or CRLF, several
 * `data` lines make one text, lines that begin with a colon are comments. An event that the stream breaks off in is dropped,
 * as the standard wants.
 */
export class SseParser {
  private rest = '';
  private data: string[] = [];
  private event = '';
  private started = false;

  /** The events that `chunk` completes. */
  push(chunk: string): SseEvent[] {
    let text = this.rest + chunk;
    // What was kept holds no line end, but perhaps a CR at its end.
    let scan = Math.max(0, this.rest.length - 1);
    if (!this.started && text !== '') {
      if (text.startsWith('\ufeff')) text = text.slice(1);
      this.started = true;
    }
    const events: SseEvent[] = [];
    let at = 0;
    for (;;) {
      const end = lineEnd(text, scan);
      if (!end) break;
      const done = this.line(text.slice(at, end.at));
      if (done) events.push(done);
      at = end.next;
      scan = at;
    }
    this.rest = text.slice(at);
    return events;
  }

  private line(line: string): SseEvent | undefined {
    if (line === '') return this.dispatch();
    const colon = line.indexOf(':');
    if (colon === 0) return undefined;
    const field = colon === -1 ? line : line.slice(0, colon);
    const raw = colon === -1 ? '' : line.slice(colon + 1);
    const value = raw.startsWith(' ') ? raw.slice(1) : raw;
    if (field === 'data') this.data.push(value);
    if (field === 'event') this.event = value;
    return undefined;
  }

  private dispatch(): SseEvent | undefined {
    const found = this.data.length === 0 ? undefined : { event: this.event || 'message', data: this.data.join('\n') };
    this.data = [];
    this.event = '';
    return found;
  }
}

/** Where the first line that ends at or after `from` ends and the next begins; undefined while that cannot be told. */
function lineEnd(text: string, from: number): { readonly at: number; readonly next: number } | undefined {
  for (let i = from; i < text.length; i++) {
    if (text[i] === '\n') return { at: i, next: i + 1 };
    if (text[i] !== '\r') continue;
    // A CR at the end may be half of a CRLF.
    if (i + 1 === text.length) return undefined;
    return { at: i, next: text[i + 1] === '\n' ? i + 2 : i + 1 };
  }
  return undefined;
}
