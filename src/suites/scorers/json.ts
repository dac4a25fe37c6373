import type { Json } from '../../core/types.ts';
import { equalJson, JsonFault, parseExactJson } from '../json.ts';
import { extractAnswer, stripThinking, taggedAnswer } from './answer.ts';

/**
 * The JSON value an output ends in: the last `<answer>…</answer>` (a code fence inside it is taken off), else the last fenced
 * block, else the whole output, else its last line. Undefined where none of these is JSON.
 */
export function readJsonAnswer(output: string): Json | undefined {
  const visible = stripThinking(output);
  const tagged = taggedAnswer(visible);
  const candidates = tagged === undefined ? [lastFence(visible), visible, extractAnswer(visible)] : [lastFence(tagged), tagged];
  for (const text of candidates) {
    const value = text === undefined ? undefined : tryParse(text);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Whether an output's JSON equals one of the accepted values; key order is free. */
export function jsonMatch(output: string, golds: readonly string[]): boolean {
  const value = readJsonAnswer(output);
  if (value === undefined) return false;
  return golds.some((text) => {
    const gold = tryParse(text);
    return gold !== undefined && equalJson(value, gold);
  });
}

/** The content of the last closed ``` block. */
function lastFence(text: string): string | undefined {
  const end = text.lastIndexOf('```');
  const begin = end <= 0 ? -1 : text.lastIndexOf('```', end - 1);
  if (begin === -1) return undefined;
  return text.slice(begin + 3, end).replace(/^[a-zA-Z0-9]*/, '');
}

function tryParse(text: string): Json | undefined {
  try {
    return parseExactJson(text.trim());
  } catch (thrown) {
    if (thrown instanceof JsonFault) return undefined;
    throw thrown;
  }
}
