import { For, Show } from 'solid-js';
import type { ClusterSnapshot } from '../../pearl/types.ts';
import { usePearl } from './state.ts';

/** The fit after that update, or the latest; undefined while there is none. */
export function shownFit(snapshots: readonly ClusterSnapshot[], update: number | undefined): ClusterSnapshot | undefined {
  return snapshots.find((snapshot) => snapshot.update === update) ?? snapshots.at(-1);
}

/** Which fit is shown; the latest is followed unless another is chosen. */
export function FitChoice() {
  const { view, url, go } = usePearl();
  const snapshots = () => view().snapshots;
  const shown = () => shownFit(snapshots(), url().fit);
  const at = () => snapshots().findIndex(({ update }) => update === shown()?.update);
  const choose = (index: number) => {
    const snapshot = snapshots()[index];
    if (snapshot) go({ fit: index === snapshots().length - 1 ? undefined : snapshot.update, point: undefined, cluster: undefined }, true);
  };
  return (
    <Show when={snapshots().length > 0}>
      <div class="row fit-choice">
        <button type="button" class="button small" disabled={at() <= 0} onClick={() => choose(at() - 1)}>
          Earlier fit
        </button>
        <label class="row">
          <span class="visually-hidden">Fit</span>
          <select class="input small-select" value={at()} onChange={(event) => choose(Number(event.currentTarget.value))}>
            <For each={snapshots()}>
              {(snapshot, i) => (
                <option value={i()} selected={i() === at()}>
                  After update {snapshot.update}
                  {i() === snapshots().length - 1 ? ' (latest)' : ''}
                </option>
              )}
            </For>
          </select>
        </label>
        <button type="button" class="button small" disabled={at() >= snapshots().length - 1} onClick={() => choose(at() + 1)}>
          Later fit
        </button>
      </div>
    </Show>
  );
}
