/**
 * The final answer in a model's output (TextualRL, B.1): the content of the last `<answer>…</answer>`, else the last line
 * that is not empty. Reasoning between `<think>` and `</think>` is no answer, and neither is a reasoning block that was never
 * closed. Trimmed; empty when there is none. Linear in the length of the output.
 */
export function extractAnswer(output: string): string {
  const visible = stripThinking(output);
  return taggedAnswer(visible) ?? lastLine(visible);
}

/** The content of the last complete `<answer>…</answer>`, trimmed, or undefined. */
export function taggedAnswer(text: string): string | undefined {
  let begin: number | undefined;
  let found: string | undefined;
  for (const tag of text.matchAll(/<(\/?)answer>/gi)) {
    if (tag[1] === '') begin = tag.index + tag[0].length;
    else if (begin !== undefined) {
      found = text.slice(begin, tag.index).trim();
      begin = undefined;
    }
  }
  return found;
}

/** The output without its reasoning. A closing tag alone ends a block that the chat template opened. */
export function stripThinking(output: string): string {
  let visible = '';
  let from: number | undefined = 0;
  for (const tag of output.matchAll(/<(\/?)think>/gi)) {
    if (tag[1] === '') {
      if (from !== undefined) visible += output.slice(from, tag.index);
      from = undefined;
    } else {
      if (from !== undefined) visible = '';
      from = tag.index + tag[0].length;
    }
  }
  return from === undefined ? visible : visible + output.slice(from);
}

function lastLine(text: string): string {
  return (
    text
      .split(/[\r\n\u2028\u2029]+/)
      .findLast((line) => line.trim() !== '')
      ?.trim() ?? ''
  );
}
