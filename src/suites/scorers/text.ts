/** ASCII characters that count as punctuation although Unicode files them under symbols, and Unicode's punctuation. */
const PUNCTUATION = /[\p{P}$+<=>^`|~]/gu;
const ARTICLES: ReadonlySet<string> = new Set(['a', 'an', 'the']);

/**
 * The normal form in which short answers are compared (SearchQA; TextualRL, B.1): lower case, no punctuation, none of the
 * words a, an, the, single spaces. Composed and decomposed letters are the same. Idempotent.
 */
export function normalizeAnswer(text: string): string {
  return text
    .normalize('NFC')
    .toLowerCase()
    .replace(PUNCTUATION, '')
    .normalize('NFC')
    .split(/\s+/u)
    .filter((word) => word !== '' && !ARTICLES.has(word))
    .join(' ');
}

/** Whether an answer equals one of the accepted ones up to `normalizeAnswer`. An empty normal form never matches. */
export function exactMatch(answer: string, golds: readonly string[]): boolean {
  const normal = normalizeAnswer(answer);
  return normal !== '' && golds.some((gold) => normalizeAnswer(gold) === normal);
}

/**
 * Average normalised Levenshtein similarity of one answer (DocVQA; TextualRL, B.1): per accepted answer 1 − NL where
 * NL < 0.5 and 0 elsewhere; the best counts. NL is the edit distance over code points divided by the longer length; case and
 * runs of white space do not count. An empty answer scores 0.
 * @returns in [0, 1].
 */
export function anls(answer: string, golds: readonly string[]): number {
  const given = foldForAnls(answer);
  if (given.length === 0) return 0;
  return Math.max(0, ...golds.map((gold) => similarity(given, foldForAnls(gold))));
}

function foldForAnls(text: string): string[] {
  return [...text.normalize('NFC').toLowerCase().trim().replace(/\s+/gu, ' ')];
}

function similarity(a: readonly string[], b: readonly string[]): number {
  const longer = Math.max(a.length, b.length);
  // The distance is at least the difference of the lengths: most hopeless pairs end here, without a table.
  if (Math.abs(a.length - b.length) / longer >= 0.5) return 0;
  const distance = editDistance(a, b) / longer;
  return distance < 0.5 ? 1 - distance : 0;
}

/** Levenshtein distance: insertions, deletions and substitutions cost 1. Wagner–Fischer with one row. */
export function editDistance<T>(a: readonly T[], b: readonly T[]): number {
  const row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    let diagonal = row[0]!;
    row[0] = i;
    for (let j = 1; j <= b.length; j++) {
      const substitution = diagonal + (a[i - 1] === b[j - 1] ? 0 : 1);
      diagonal = row[j]!;
      row[j] = Math.min(substitution, diagonal + 1, row[j - 1]! + 1);
    }
  }
  return row[b.length]!;
}
