import { Index, Match, Show, Switch } from 'solid-js';
import { useLab } from '../lab.ts';
import { ErrorNote } from '../ui/error-note.tsx';
import { Meter } from '../ui/meter.tsx';
import { dismissTransfer, shortName, shownTransfers, startTransfer } from './transfers.ts';

/** Downloads of this session: how far, how long still, cancel, go on. */
export function TransferList() {
  const lab = useLab();
  return (
    <Show when={shownTransfers().length > 0}>
      <section class="panel transfers" aria-label="Downloads">
        <ul>
          <Index each={shownTransfers()}>
            {(transfer) => (
              <li class="stack transfer">
                <div class="row spread">
                  <strong class="wrap">{shortName(transfer().id)}</strong>
                  <span class="row">
                    <Switch>
                      <Match when={transfer().state === 'running'}>
                        <button type="button" class="button small" onClick={() => void lab.cancelDownload(transfer().id)}>
                          Cancel
                        </button>
                      </Match>
                      <Match when={transfer().state === 'cancelled'}>
                        <span class="text-2 small">Cancelled; what has arrived is kept.</span>
                        <button type="button" class="button small" onClick={() => void startTransfer(lab, transfer().id)}>
                          Go on
                        </button>
                        <button type="button" class="button quiet small" onClick={() => dismissTransfer(transfer().id)}>
                          Dismiss
                        </button>
                      </Match>
                    </Switch>
                  </span>
                </div>
                <Meter
                  label={`Download of ${shortName(transfer().id)}`}
                  progress={transfer().progress}
                  secondsLeft={transfer().secondsLeft}
                />
                <Show when={transfer().error}>
                  {(error) => (
                    <ErrorNote
                      error={error()}
                      retry={() => void startTransfer(lab, transfer().id)}
                      dismiss={() => dismissTransfer(transfer().id)}
                    />
                  )}
                </Show>
              </li>
            )}
          </Index>
        </ul>
      </section>
    </Show>
  );
}
