import { createMemo, For, Show } from 'solid-js';
import { formatRate } from '../format.ts';
import { TableActions, type TableData } from '../ui/data-table.tsx';
import { Empty } from '../ui/panel.tsx';
import { usePearl } from './state.ts';
import '../ui/data-table.css';

/** Every fit of the memory as a row, like Table 4 of the paper. */
export function Fits() {
  const { view, go } = usePearl();
  const snapshots = createMemo(() => view().snapshots);
  const rows = createMemo(() =>
    snapshots().map((snapshot) => {
      const kept = snapshot.failure.clusters.filter((cluster) => cluster.kept).length;
      return { snapshot, kept, vetoed: snapshot.failure.clusters.length - kept };
    }),
  );
  const table = (): TableData => ({
    columns: [
      'update',
      'failure entries',
      'success entries',
      'failure clusters',
      'success clusters',
      'vetoed',
      'kept',
      'kept entries',
      'noise',
      'largest share',
    ],
    rows: rows().map(({ snapshot, kept, vetoed }) => [
      snapshot.update,
      snapshot.failure.pointIds.length,
      snapshot.success.pointIds.length,
      snapshot.failure.clusters.length,
      snapshot.success.clusters.length,
      vetoed,
      kept,
      snapshot.keptEntries,
      snapshot.failure.noise,
      snapshot.largestShare,
    ]),
  });
  return (
    <Show
      when={snapshots().length > 0}
      fallback={
        <Empty>
          Each time both banks are clustered a row is added here: after every {view().started?.settings.memory.refitEvery ?? 'K'} updates.
        </Empty>
      }
    >
      <div class="stack">
        <div class="row spread">
          <h3>Fits of the memory</h3>
          <div>
            <TableActions name="pearl-fits" data={table} />
          </div>
        </div>
        <div class="table-scroll">
          <table class="table fits-table">
            <caption class="visually-hidden">What each fit of the memory found</caption>
            <thead>
              <tr>
                <th scope="col">After</th>
                <th scope="col" class="num">
                  Failures
                </th>
                <th scope="col" class="num">
                  Successes
                </th>
                <th scope="col" class="num">
                  Clusters ✕ / ●
                </th>
                <th scope="col" class="num">
                  Vetoed
                </th>
                <th scope="col" class="num">
                  Kept
                </th>
                <th scope="col" class="num wide-only">
                  Kept entries
                </th>
                <th scope="col" class="num wide-only">
                  Noise
                </th>
                <th scope="col" class="num wide-only">
                  Largest
                </th>
              </tr>
            </thead>
            <tbody>
              <For each={rows()}>
                {({ snapshot, kept, vetoed }) => (
                  <tr>
                    <th scope="row">
                      <button
                        type="button"
                        class="link"
                        onClick={() => go({ tab: 'memory', fit: snapshot.update, point: undefined, cluster: undefined })}
                      >
                        <span class="visually-hidden">Picture of the fit after </span>update {snapshot.update}
                      </button>
                    </th>
                    <td class="num">{snapshot.failure.pointIds.length}</td>
                    <td class="num">{snapshot.success.pointIds.length}</td>
                    <td class="num">
                      {snapshot.failure.clusters.length} / {snapshot.success.clusters.length}
                    </td>
                    <td class="num">{vetoed}</td>
                    <td class="num">{kept}</td>
                    <td class="num wide-only">{snapshot.keptEntries}</td>
                    <td class="num wide-only">{formatRate(snapshot.failure.noise)}</td>
                    <td class="num wide-only">{formatRate(snapshot.largestShare)}</td>
                  </tr>
                )}
              </For>
            </tbody>
          </table>
        </div>
        <p class="small text-2">
          Noise and the largest cluster are shares of the failure bank. A kept cluster is one whose centroid falls into no success cluster.
        </p>
      </div>
    </Show>
  );
}
