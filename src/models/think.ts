/** An answer divided into what counts as content and the reasoning that does not. */
export interface DividedAnswer {
  readonly visible: string;
  /** The text of all think blocks, without their tags. */
  readonly thinking: string;
}

/**
 * Separates `<think>…</think>` from an answer. A block that never closes leaves no answer at all: its text may be anything the
 * model was still considering. Linear in the length of the text.
 */
export function divideThinking(text: string): DividedAnswer {
  let visible = '';
  let thinking = '';
  let at = 0;
  let inside = false;
  let first = true;
  for (const { 0: tag, 1: slash, index } of text.matchAll(/<(\/?)think>/gi)) {
    const closes = slash === '/';
    // Some chat templates open the block themselves, so an answer may begin inside one.
    if (first && closes) inside = true;
    first = false;
    if (inside !== closes) continue;
    if (inside) thinking += text.slice(at, index);
    else visible += text.slice(at, index);
    inside = !inside;
    at = index + tag.length;
  }
  return inside ? { visible: '', thinking: thinking + text.slice(at) } : { visible: visible + text.slice(at), thinking };
}

/** The answer without its reasoning. */
export function stripThinking(text: string): string {
  return divideThinking(text).visible;
}
