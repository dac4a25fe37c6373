/** A token as it can be seen: spaces and line ends have a sign of their own. */
export function showToken(text: string): string {
  if (text === '') return '∅';
  return text.replaceAll('\n', '↵').replaceAll('\t', '⇥').replace(/^ | $/g, '␣');
}

/** Shade of a probability in five steps, so that neighbours can be told apart. */
export function shadeOf(probability: number | undefined): 0 | 1 | 2 | 3 | 4 {
  if (probability === undefined) return 0;
  if (probability >= 0.8) return 4;
  if (probability >= 0.5) return 3;
  if (probability >= 0.2) return 2;
  return probability >= 0.05 ? 1 : 0;
}

/** A probability as chips and bars write it: `0.83`, `.003`, `<.001`. */
export function showProbability(probability: number | undefined): string {
  if (probability === undefined) return '–';
  if (probability >= 0.01) return probability.toFixed(2);
  return probability >= 0.001 ? probability.toFixed(3).slice(1) : '<.001';
}
