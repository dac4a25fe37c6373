import { stripThinking, taggedAnswer } from './answer.ts';

/**
 * A number as people write it: an optional sign and currency on either side of each other, digits with thousands separators
 * (commas, or thin and no-break spaces) or without, decimals, exponent. Not inside a word (H2O, x1), and a hyphen between
 * digits (5-3) is no sign.
 */
const NUMBER =
  /(?<![\p{L}\p{N}_])(?<!\d\.)(?<sign>(?<![\p{L}\p{N})])[-\u2212+])?\p{Sc}?(?<after>(?<=\p{Sc})[-\u2212])?(?<digits>(?:\d{1,3}(?:,\d{3})+(?![\d])|\d{1,3}(?:[\u00a0\u2009\u202f]\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)(?<exponent>[eE][-+]?\d+(?!\d))?/gu;

/** The numbers in a text, in order. Units, currencies and percent signs are dropped; numbers too large to be finite are left out. */
export function readNumbers(text: string): number[] {
  const numbers: number[] = [];
  for (const { groups } of text.matchAll(NUMBER)) {
    const { sign, after, digits, exponent } = groups as Record<string, string | undefined>;
    const size = Number(`${digits!.replace(/[^\d.]/g, '')}${exponent ?? ''}`);
    if (Number.isFinite(size)) numbers.push((sign ?? after ?? '+') === '+' ? size : -size);
  }
  return numbers;
}

/**
 * The final number of an output: the last one in the last `<answer>…</answer>`, else on the line after the last `####`, else in
 * the whole text without its reasoning.
 */
export function readFinalNumber(output: string): number | undefined {
  const visible = stripThinking(output);
  const tagged = taggedAnswer(visible);
  if (tagged !== undefined) return readNumbers(tagged).at(-1);
  const mark = visible.lastIndexOf('####');
  const marked = mark === -1 ? undefined : readNumbers(visible.slice(mark + 4).split('\n', 1)[0]!).at(-1);
  return marked ?? readNumbers(visible).at(-1);
}

export interface Tolerance {
  readonly absolute: number;
  /** Relative to the accepted answer. */
  readonly relative: number;
}

/** Whether two numbers agree within the wider of the two tolerances. */
export function agree(value: number, gold: number, { absolute, relative }: Tolerance): boolean {
  return Math.abs(value - gold) <= Math.max(absolute, relative * Math.abs(gold));
}

/** Whether the final number of an output agrees with that of one of the accepted answers. */
export function numericMatch(output: string, golds: readonly string[], tolerance: Tolerance): boolean {
  const value = readFinalNumber(output);
  if (value === undefined) return false;
  return golds.some((text) => {
    const gold = readFinalNumber(text);
    return gold !== undefined && agree(value, gold, tolerance);
  });
}
