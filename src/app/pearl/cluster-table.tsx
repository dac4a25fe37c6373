import { For, Show } from 'solid-js';
import type { ClusterSnapshot } from '../../pearl/types.ts';
import { ABSENT, plural } from '../format.ts';
import { TableActions, type TableData } from '../ui/data-table.tsx';
import { clusterMultiplier, clusterName, verbsText } from './derive.ts';
import { usePearl } from './state.ts';
import '../ui/data-table.css';

/** The clusters of a fit: how large, how lasting, what they say, and what became of them. */
export function ClusterTable(props: { readonly snapshot: ClusterSnapshot }) {
  const { view, go } = usePearl();
  const temperature = () => view().started?.settings.memory.temperature ?? 1;
  const table = (): TableData => ({
    columns: ['cluster', 'size', 'persistence', 'verbs', 'kept', 'vetoed by', 'veto strength', 'share', 'multiplier'],
    rows: [
      ...props.snapshot.failure.clusters.map((cluster) => [
        clusterName('failure', cluster.label),
        cluster.size,
        cluster.persistence,
        verbsText(cluster),
        cluster.kept ? 'yes' : 'no',
        cluster.vetoedBy === undefined ? null : clusterName('success', cluster.vetoedBy),
        cluster.vetoStrength ?? null,
        cluster.share,
        clusterMultiplier(cluster, temperature()),
      ]),
      ...props.snapshot.success.clusters.map((cluster) => [
        clusterName('success', cluster.label),
        cluster.size,
        cluster.persistence,
        verbsText(cluster),
        null,
        null,
        null,
        null,
        null,
      ]),
    ],
  });
  return (
    <div>
      <div class="row spread">
        <h3>Clusters of the fit after update {props.snapshot.update}</h3>
        <div>
          <TableActions name={`clusters-${props.snapshot.update}`} data={table} />
        </div>
      </div>
      <Show
        when={props.snapshot.failure.clusters.length + props.snapshot.success.clusters.length > 0}
        fallback={<p class="text-2">No cluster was found: every decision is noise at these settings.</p>}
      >
        <div class="table-scroll">
          <table class="table cluster-table">
            <caption class="visually-hidden">Clusters of both banks</caption>
            <thead>
              <tr>
                <th scope="col">Cluster</th>
                <th scope="col" class="num">
                  Size
                </th>
                <th scope="col" class="num wide-only">
                  Persistence
                </th>
                <th scope="col">First words</th>
                <th scope="col">What became of it</th>
              </tr>
            </thead>
            <tbody>
              <For each={props.snapshot.failure.clusters}>
                {(cluster) => (
                  <tr>
                    <th scope="row">
                      <button
                        type="button"
                        class="link"
                        onClick={() => go({ tab: 'cases', fit: props.snapshot.update, cluster: cluster.label })}
                      >
                        <span class="failure" aria-hidden="true">
                          ✕
                        </span>{' '}
                        {clusterName('failure', cluster.label)}
                        <span class="visually-hidden">, failures: see its cases</span>
                      </button>
                    </th>
                    <td class="num">{cluster.size}</td>
                    <td class="num wide-only">{cluster.persistence.toFixed(2)}</td>
                    <td>{verbsText(cluster) || ABSENT}</td>
                    <td>
                      {cluster.kept
                        ? `kept: share ${cluster.share.toFixed(2)}, advantages ×${clusterMultiplier(cluster, temperature()).toFixed(2)}`
                        : `vetoed by ${clusterName('success', cluster.vetoedBy ?? -1)}, strength ${(cluster.vetoStrength ?? 0).toFixed(2)}`}
                    </td>
                  </tr>
                )}
              </For>
              <For each={props.snapshot.success.clusters}>
                {(cluster) => {
                  const vetoes = props.snapshot.failure.clusters.filter(({ vetoedBy }) => vetoedBy === cluster.label).length;
                  return (
                    <tr>
                      <th scope="row">
                        <span class="success" aria-hidden="true">
                          ●
                        </span>{' '}
                        {clusterName('success', cluster.label)}
                        <span class="visually-hidden">, successes</span>
                      </th>
                      <td class="num">{cluster.size}</td>
                      <td class="num wide-only">{cluster.persistence.toFixed(2)}</td>
                      <td>{verbsText(cluster) || ABSENT}</td>
                      <td>{vetoes > 0 ? `vetoes ${plural(vetoes, 'failure cluster')}` : 'vetoes nothing'}</td>
                    </tr>
                  );
                }}
              </For>
            </tbody>
          </table>
        </div>
      </Show>
    </div>
  );
}
