/** Words of a text, lower-cased; punctuation and list marks do not count. */
export function words(text: string): string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+(?:['’][\p{L}]+)?/gu) ?? []
  );
}

/** Jaccard index of the two word sets; 1 for two empty texts. */
export function tokenJaccard(a: string, b: string): number {
  const left = new Set(words(a));
  const right = new Set(words(b));
  if (left.size === 0 && right.size === 0) return 1;
  let shared = 0;
  for (const word of left) if (right.has(word)) shared++;
  return shared / (left.size + right.size - shared);
}

/** Ratcliff–Obershelp ratio: 2 × (characters in recursively longest common blocks) / (total characters); 1 for two empty texts. */
export function sequenceRatio(a: string, b: string): number {
  if (a.length + b.length === 0) return 1;
  const positions = new Map<string, number[]>();
  for (let j = 0; j < b.length; j++) {
    const unit = b[j] as string;
    const list = positions.get(unit);
    if (list) list.push(j);
    else positions.set(unit, [j]);
  }
  let matched = 0;
  const open: [number, number, number, number][] = [[0, a.length, 0, b.length]];
  for (let range = open.pop(); range; range = open.pop()) {
    const [aLow, aHigh, bLow, bHigh] = range;
    const block = longestBlock(a, positions, aLow, aHigh, bLow, bHigh);
    if (block.size === 0) continue;
    matched += block.size;
    open.push([aLow, block.i, bLow, block.j], [block.i + block.size, aHigh, block.j + block.size, bHigh]);
  }
  return (2 * matched) / (a.length + b.length);
}

/** max(token Jaccard, sequence ratio), the similarity of the step buffer (App. A). */
export function similarity(a: string, b: string): number {
  const left = a.trim().toLowerCase();
  const right = b.trim().toLowerCase();
  return left === right ? 1 : Math.max(tokenJaccard(left, right), sequenceRatio(left, right));
}

/** The longest common substring of a[aLow, aHigh) and b[bLow, bHigh); the earliest in a, then in b, on ties. */
function longestBlock(
  a: string,
  positions: ReadonlyMap<string, readonly number[]>,
  aLow: number,
  aHigh: number,
  bLow: number,
  bHigh: number,
): { readonly i: number; readonly j: number; readonly size: number } {
  let best = { i: aLow, j: bLow, size: 0 };
  let lengths = new Map<number, number>();
  for (let i = aLow; i < aHigh; i++) {
    const next = new Map<number, number>();
    for (const j of positions.get(a[i] as string) ?? []) {
      if (j < bLow) continue;
      if (j >= bHigh) break;
      const size = (lengths.get(j - 1) ?? 0) + 1;
      next.set(j, size);
      if (size > best.size) best = { i: i - size + 1, j: j - size + 1, size };
    }
    lengths = next;
  }
  return best;
}
