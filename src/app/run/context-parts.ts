/** A stretch of a context: plain text, or a protected region with its name. */
export interface ContextPart {
  readonly text: string;
  readonly protectedName?: string;
}

const REGION = /<!--\s*protected:start\s+(.*?)\s*-->([\s\S]*?)<!--\s*protected:end(?:\s+.*?)?\s*-->/g;

/** Splits a context into plain stretches and protected regions, in order. The markers themselves are left out. */
export function contextParts(context: string): ContextPart[] {
  const parts: ContextPart[] = [];
  let at = 0;
  for (const match of context.matchAll(REGION)) {
    if (match.index > at) parts.push({ text: context.slice(at, match.index) });
    parts.push({ text: match[2] ?? '', protectedName: match[1] || 'unnamed' });
    at = match.index + match[0].length;
  }
  if (at < context.length) parts.push({ text: context.slice(at) });
  return parts.filter(({ text, protectedName }) => protectedName !== undefined || text.trim() !== '');
}
