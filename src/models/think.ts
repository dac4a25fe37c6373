/** An answer divided into what counts as content and the reasoning that does not. */
export interface DividedAnswer {
  readonly visible: string;
  /** The text of all think blocks, without their tags. */
  readonly thinking: string;
}

const OPEN = '<think>';
const CLOSE = '</think>';

/**
 * Separates `<think>…</think>` from an answer. A block that never closes leaves no answer at all: its text may be anything the
 * model was still considering. Linear in the length of the text.
 */
export function divideThinking(text: string): DividedAnswer {
  const lower = text.toLowerCase();
  let visible = '';
  let thinking = '';
  let at = 0;
  // Some chat templates open the block themselves, so an answer may begin inside one.
  const firstClose = lower.indexOf(CLOSE);
  const firstOpen = lower.indexOf(OPEN);
  if (firstClose !== -1 && (firstOpen === -1 || firstClose < firstOpen)) {
    thinking += text.slice(0, firstClose);
    at = firstClose + CLOSE.length;
  }
  for (;;) {
    const open = lower.indexOf(OPEN, at);
    if (open === -1) return { visible: visible + text.slice(at), thinking };
    const close = lower.indexOf(CLOSE, open);
    if (close === -1) return { visible: '', thinking: thinking + text.slice(open + OPEN.length) };
    visible += text.slice(at, open);
    thinking += text.slice(open + OPEN.length, close);
    at = close + CLOSE.length;
  }
}

/** The answer without its reasoning. */
export function stripThinking(text: string): string {
  return divideThinking(text).visible;
}
