import type { RunStatus, RunSummary } from '../lab/service.ts';
import { type Outcome, OutcomeBadge } from './ui/mark.tsx';

const SHOWN: Readonly<Record<RunStatus, { readonly outcome: Outcome; readonly word: string }>> = {
  new: { outcome: 'running', word: 'not started' },
  running: { outcome: 'running', word: 'running' },
  paused: { outcome: 'mixed', word: 'paused' },
  stopped: { outcome: 'mixed', word: 'stopped early' },
  finished: { outcome: 'success', word: 'finished' },
  failed: { outcome: 'failure', word: 'failed' },
};

export function StatusBadge(props: { readonly status: RunStatus }) {
  return <OutcomeBadge outcome={SHOWN[props.status].outcome}>{SHOWN[props.status].word}</OutcomeBadge>;
}

/** Whether the run can still change. */
export function isOpenStatus(status: RunStatus): boolean {
  return status === 'new' || status === 'running' || status === 'paused';
}

/** Where a summary's before and after come from: the test split once it was measured, else validation. */
export function beforeAfter(run: RunSummary): { split: 'test' | 'val'; n: number; before: number; after: number } | undefined {
  const { testInitial, testBest, initialRate, bestRate } = run;
  if (testInitial !== undefined && testBest !== undefined) {
    return { split: 'test', n: run.config.suite.test, before: testInitial, after: testBest };
  }
  if (initialRate === undefined || bestRate === undefined) return undefined;
  return { split: 'val', n: run.config.suite.val, before: initialRate, after: bestRate };
}
