import { useNavigate } from '@solidjs/router';
import { formatCount } from '../format.ts';
import { useLab } from '../lab.ts';
import { RunHead } from '../run/run-head.tsx';
import { usePearl } from './state.ts';

/** The head of a PEARL run. */
export function PearlHead() {
  const { session, view, url, go, update } = usePearl();
  const lab = useLab();
  const navigate = useNavigate();
  /** One seed tells little: the same configuration with the next one is what a comparison needs. */
  const nextSeed = async () => {
    const config = session.summary()?.config;
    if (config) navigate(`/run/${await lab.createRun({ ...config, seed: config.seed + 1 })}`);
  };
  const show = (number: number | 'live') =>
    go({ tab: url().tab === 'memory' ? 'memory' : 'update', update: number, task: undefined, trajectory: undefined, pair: undefined });
  const neighbour = (by: 1 | -1) => {
    const numbers = [...view().updates.keys()];
    const current = update();
    if (!current) return;
    const next = numbers[numbers.indexOf(current.update) + by];
    if (next !== undefined) show(next);
  };
  const words = () => {
    const phase = view().phase;
    const total = view().started?.updates ?? 0;
    switch (session.status()) {
      case 'finished':
        return `Finished after ${formatCount(view().records.length)} updates`;
      case 'stopped':
        return view().finished ? `Stopped early, after ${formatCount(view().records.length)} of ${formatCount(total)} updates` : 'Stopping';
      case 'failed':
        return 'Stopped by an error; what was done is kept';
      default:
        if (!phase) return 'Starting the engine …';
    }
    const where = phase.phase === 'test' || phase.update === 0 ? '' : `Update ${formatCount(phase.update)} of ${formatCount(total)} · `;
    const count = phase.total > 1 ? ` · ${formatCount(Math.min(phase.done + 1, phase.total))} of ${formatCount(phase.total)}` : '';
    return `${where}${phase.label}${count}`;
  };
  return (
    <RunHead
      session={session}
      unit="update"
      recorded={view().records.length}
      words={words()}
      kept="the policy as it is then is tested, and its weights are kept."
      again={{ title: 'Run with the next seed', run: nextSeed }}
      following={url().update === 'live'}
      follow={() => show('live')}
      neighbour={neighbour}
    />
  );
}
