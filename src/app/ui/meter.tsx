import { Show } from 'solid-js';
import type { TransferProgress } from '../../models/download.ts';
import { formatBytes, formatSeconds } from '../format.ts';
import './meter.css';

/** How far a transfer is: a bar where the total is known, and always in words. */
export function Meter(props: { readonly label: string; readonly progress: TransferProgress; readonly secondsLeft?: number | undefined }) {
  const total = () => props.progress.totalBytes;
  const percent = () => (total() > 0 ? Math.min(100, Math.floor((100 * props.progress.loadedBytes) / total())) : undefined);
  const doing = () => (props.progress.phase === 'load' ? 'into memory' : 'downloaded');
  return (
    <div class="meter">
      {/* Without a value the bar shows that something happens, not how far it is. */}
      <Show when={percent() !== undefined} fallback={<progress aria-label={props.label} max="100" />}>
        <progress aria-label={props.label} max="100" value={percent() ?? 0} />
      </Show>
      <span class="small text-2 num">
        <Show when={total() > 0} fallback={`${formatBytes(props.progress.loadedBytes)} ${doing()}`}>
          {percent()}% · {formatBytes(props.progress.loadedBytes)} of {formatBytes(total())} {doing()}
        </Show>
        <Show when={props.secondsLeft !== undefined}> · {formatSeconds(props.secondsLeft ?? 0)} left</Show>
      </span>
    </div>
  );
}
