import { Random } from '../../core/random.ts';
import { SPLITS, type Split } from '../../core/types.ts';
import type { SplitParts } from './mapping.ts';

const NAMES: Readonly<Record<string, Split>> = {
  train: 'train',
  training: 'train',
  val: 'val',
  valid: 'val',
  validation: 'val',
  dev: 'val',
  test: 'test',
  testing: 'test',
  unseen: 'unseen',
};

/** The split a cell names, or undefined. */
export function namedSplit(text: string, values: Readonly<Record<string, Split>>): Split | undefined {
  const name = text.trim();
  if (Object.hasOwn(values, name)) return values[name];
  const folded = name.toLowerCase();
  return Object.hasOwn(NAMES, folded) ? NAMES[folded] : undefined;
}

/** What a seeded split looks at. */
export interface SplitItem {
  readonly type: string;
  readonly input: string;
}

/**
 * Draws splits by seed. Items with the same input (up to white space and case) share one split, so that nothing learnt in
 * training is asked again in the test; types are spread in equal measure. Sizes are exact where no two inputs are equal: each
 * item goes to the split that lacks most of its share.
 * @returns the split of each item, in order.
 */
export function drawSplits(items: readonly SplitItem[], parts: SplitParts, seed: number): readonly Split[] {
  const random = new Random(seed, 'import/split');
  const byType = new Map<string, Map<string, number[]>>();
  // An input that occurs under two types belongs to the first.
  const typeOf = new Map<string, string>();
  items.forEach(({ type, input }, i) => {
    const key = inputKey(input);
    const home = typeOf.get(key) ?? type;
    typeOf.set(key, home);
    const twins = byType.get(home) ?? new Map<string, number[]>();
    byType.set(home, twins);
    const indices = twins.get(key);
    if (indices) indices.push(i);
    else twins.set(key, [i]);
  });
  const result = new Array<Split>(items.length);
  const total = SPLITS.reduce((sum, split) => sum + parts[split], 0);
  const given: Record<Split, number> = { train: 0, val: 0, test: 0, unseen: 0 };
  let placed = 0;
  for (const [type, twins] of byType) {
    for (const indices of random.split(type).shuffle([...twins.values()])) {
      placed += indices.length;
      const lacks = (split: Split): number => (parts[split] / total) * placed - given[split];
      const split = SPLITS.filter((name) => parts[name] > 0).reduce((best, name) => (lacks(name) > lacks(best) ? name : best));
      given[split] += indices.length;
      for (const i of indices) result[i] = split;
    }
  }
  return result;
}

/** Inputs with the same key are the same question. */
export function inputKey(input: string): string {
  return input.trim().replace(/\s+/g, ' ').toLowerCase();
}
