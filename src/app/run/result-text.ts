import type { Score } from '../../textual/types.ts';
import { formatRate, plural } from '../format.ts';

type Rated = Pick<Score, 'n' | 'rate' | 'wilson'>;

/** What the difference between two scores of one split means, without claiming more than the intervals allow. */
export function improvementSentence(before: Rated, after: Rated, split: 'test' | 'val'): string {
  const where = split === 'test' ? 'tasks that played no part in learning' : 'validation tasks';
  const on = `on ${plural(after.n, 'task').replace(/tasks?$/, where)}`;
  const change = `from ${formatRate(before.rate)} to ${formatRate(after.rate)} ${on}`;
  const apart = after.wilson[0] > before.wilson[1] || after.wilson[1] < before.wilson[0];
  if (after.rate === before.rate) return `Success stayed at ${formatRate(after.rate)} ${on}.`;
  if (after.rate < before.rate) return `Success fell ${change}${apart ? '' : '; the intervals overlap, so this can be chance'}.`;
  const times = before.rate > 0 ? ` (× ${(after.rate / before.rate).toFixed(1)})` : '';
  return `Success rose ${change}${times}${apart ? '' : '; the intervals overlap, so this can be chance'}.`;
}

export interface TypeRow {
  readonly type: string;
  readonly n: number;
  readonly before: number;
  readonly after: number;
}

/** Rates by type of task, largest gain first. */
export function typeRows(before: Score | undefined, after: Score | undefined): readonly TypeRow[] {
  if (!before || !after) return [];
  return Object.entries(after.byType)
    .map(([type, { n, success }]) => {
      const was = before.byType[type];
      return { type, n, before: was && was.n > 0 ? was.success / was.n : 0, after: n > 0 ? success / n : 0 };
    })
    .sort((a, b) => b.after - b.before - (a.after - a.before));
}
