import { NacreError } from '../core/errors.ts';

/** A protected region, both markers included: [start, end) keeps every byte. */
export interface ProtectedRegion {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

const MARKER = /<!-- protected:(start|end) ([^\s<>]+) -->/y;
const MARKER_HEAD = /<!--\s*protected\s*:/giu;
/** A marker with the line it has to itself. */
const MARKER_LINE = /^[ \t]*<!-- protected:(?:start|end) [^\s<>]+ -->[ \t]*(?:\r?\n|$)/gmu;
const ANY_MARKER = /<!-- protected:(?:start|end) [^\s<>]+ -->/gu;

/**
 * The protected regions of a context, in order.
 * @throws {NacreError} `context-markers` naming the line, when markers are malformed, out of order, nested, unclosed, or name a
 * region twice.
 */
export function protectedRegions(context: string): ProtectedRegion[] {
  const regions: ProtectedRegion[] = [];
  let open: { readonly name: string; readonly start: number } | undefined;
  for (const head of context.matchAll(MARKER_HEAD)) {
    const at = head.index;
    const fail = (what: string, remedy: string) =>
      new NacreError('context-markers', `Line ${lineOf(context, at)} of the context: ${what}.`, remedy);
    MARKER.lastIndex = at;
    const marker = MARKER.exec(context);
    if (!marker) {
      throw fail(
        `"${(context.slice(at).split('\n', 1)[0] ?? '').slice(0, 60)}" is no protected-region marker`,
        'Write <!-- protected:start NAME --> or <!-- protected:end NAME --> with a name of one word.',
      );
    }
    const [text, kind, name = ''] = marker;
    if (kind === 'start') {
      if (open) throw fail(`region "${name}" starts inside region "${open.name}"`, `Close "${open.name}" first: regions cannot be nested.`);
      if (regions.some((region) => region.name === name))
        throw fail(`region "${name}" was already used`, 'Give each protected region a name of its own.');
      open = { name, start: at };
      continue;
    }
    if (!open)
      throw fail(`region "${name}" ends but was never started`, `Put <!-- protected:start ${name} --> before it, or remove this line.`);
    if (open.name !== name) throw fail(`region "${open.name}" is ended as "${name}"`, `Write <!-- protected:end ${open.name} --> here.`);
    regions.push({ name, start: open.start, end: at + text.length });
    open = undefined;
  }
  if (open) {
    throw new NacreError(
      'context-markers',
      `Line ${lineOf(context, open.start)} of the context: region "${open.name}" is never closed.`,
      `Put <!-- protected:end ${open.name} --> behind it.`,
    );
  }
  return regions;
}

/** Whether a text holds (the beginning of) a protected-region marker. */
export function holdsMarker(text: string): boolean {
  return text.search(MARKER_HEAD) !== -1;
}

/** What the model reads: the context without its markers; a line that holds nothing but a marker goes with it. */
export function visibleText(context: string): string {
  return context.replace(MARKER_LINE, '').replace(ANY_MARKER, '');
}

function lineOf(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line++;
  return line;
}
