import { extractAnswer } from './answer.ts';

/** What stands before a label in a sentence. Only these words may differ in case: "the answer is a dog" names no label. */
const SAYS = `(?:[Aa]nswer|ANSWER|[Oo]ption|OPTION|[Cc]hoice|CHOICE)(?:\\s+(?:is|IS))?\\s*(?::\\s*)?[([{"']*`;

/**
 * The label of a multiple-choice answer, or undefined where none can be told. In this order: the answer is a label (with
 * brackets, a full stop or emphasis around it); it begins with one ("B) Paris"); the last "answer is B" or "option B"; the last
 * label in brackets; the only label that stands alone as a word. Words that are also labels (A, I) do not count in the last case.
 *
 * @param labels compared without regard to case where the whole answer is one, with regard to it inside a sentence.
 */
export function readLabel(output: string, labels: readonly string[]): string | undefined {
  const answer = extractAnswer(output)
    .replace(/[*_`]+/g, '')
    .trim();
  const any = [...labels]
    .sort((a, b) => b.length - a.length)
    .map(escapePattern)
    .join('|');
  const named = (text: string): string | undefined => labels.find((label) => label.toLowerCase() === text.toLowerCase());

  const alone = new RegExp(`^[\\s([{"']*(${any})[\\s)\\]}"'.:,;]*$`, 'iu').exec(answer);
  if (alone) return named(alone[1]!);
  const leading = new RegExp(`^[\\s([{]*(${any})[)\\]}.:]`, 'u').exec(answer);
  if (leading) return named(leading[1]!);
  const said = last(answer, new RegExp(`${SAYS}(${any})(?![\\p{L}\\p{N}])`, 'gu'));
  if (said) return named(said);
  const bracketed = last(answer, new RegExp(`[([{](${any})[)\\]}]`, 'gu'));
  if (bracketed) return named(bracketed);
  const standing = new Set([...answer.matchAll(new RegExp(`(?<![\\p{L}\\p{N}'])(${any})(?![\\p{L}\\p{N}'])`, 'gu'))].map((m) => m[1]!));
  for (const word of ['A', 'I']) standing.delete(word);
  return standing.size === 1 ? named([...standing][0]!) : undefined;
}

function last(text: string, pattern: RegExp): string | undefined {
  return [...text.matchAll(pattern)].at(-1)?.[1];
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
