/**
 * Matches an answer with the patterns of its question. It runs in the sandbox because a pattern such as (a+)+$ takes
 * exponential time on some answers: there the time limit ends it.
 */
export const PATTERN_SCRIPT = `function score({ answer, patterns, flags, whole }) {
  return patterns.some((pattern) => new RegExp(whole ? '^(?:' + pattern + ')$' : pattern, flags + 'u').test(answer));
}`;

/** Why a text is no regular expression, or undefined where it is one. Compiling is fast whatever the pattern. */
export function patternFault(pattern: string, flags: string): string | undefined {
  if (pattern === '') return 'is an empty pattern, which matches everything';
  try {
    new RegExp(pattern, `${flags}u`);
    return undefined;
  } catch (thrown) {
    return `is not a regular expression (${thrown instanceof Error ? thrown.message : String(thrown)})`;
  }
}
