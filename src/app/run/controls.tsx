import { formatCount } from '../format.ts';
import { RunHead } from './run-head.tsx';
import { useRun } from './state.ts';

/** The head of a TextualRL run. */
export function Controls() {
  const { session, view, url, go } = useRun();
  const show = (step: number | 'live' | 'result') => go({ step, cell: undefined, card: undefined });
  const neighbour = (by: 1 | -1) => {
    const numbers = [...view().steps.keys()];
    const current = url().step;
    const at = typeof current === 'number' ? numbers.indexOf(current) : numbers.length - (current === 'result' ? 0 : 1);
    const next = numbers[Math.max(0, at + by)];
    if (next !== undefined) show(next);
    else if (view().finished) show('result');
  };
  const words = () => {
    const phase = view().phase;
    switch (session.status()) {
      case 'finished':
        return view().finished ? `Finished after ${view().totalSteps} steps` : 'Finished';
      case 'stopped':
        return 'Stopped early; the best context so far was kept';
      case 'failed':
        return 'Stopped by an error; what was done is kept';
      default:
        if (!phase) return 'Starting the engine …';
    }
    const where = phase.step > 0 && phase.phase !== 'test' ? `Step ${phase.step} of ${view().totalSteps} · ` : '';
    const count = phase.total > 1 ? ` · ${formatCount(Math.min(phase.done + 1, phase.total))} of ${formatCount(phase.total)}` : '';
    return `${where}${phase.label}${count}`;
  };
  return (
    <RunHead
      session={session}
      unit="step"
      recorded={[...view().steps.values()].filter(({ record }) => record).length}
      words={words()}
      kept="the best context so far is tested and can be exported."
      following={url().step === 'live'}
      follow={() => show('live')}
      neighbour={neighbour}
    />
  );
}
