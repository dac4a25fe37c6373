import { For, Show } from 'solid-js';
import type { RunSummary } from '../../lab/service.ts';
import { ABSENT, formatAgo, formatBytes, formatInterval, formatRate, formatSeconds, scoreOfRate } from '../format.ts';
import { beforeAfter, StatusBadge } from '../run-status.tsx';
import '../ui/data-table.css';
import { Empty } from '../ui/panel.tsx';

/** The runs kept in this browser, newest first. */
export function RunsTable(props: { readonly runs: readonly RunSummary[]; readonly onDelete: (run: RunSummary) => void }) {
  const sorted = () => [...props.runs].sort((a, b) => b.createdAt - a.createdAt);
  return (
    <Show
      when={props.runs.length > 0}
      fallback={<Empty>Your runs will be listed here. Run the quick experiment, or drop a bundle anywhere on this page.</Empty>}
    >
      <div class="table-scroll">
        <table class="table runs">
          <caption class="visually-hidden">Runs kept in this browser</caption>
          <thead>
            <tr>
              <th scope="col">Run</th>
              <th scope="col">State</th>
              <th scope="col">Success before → after</th>
              <th scope="col" class="num">
                Seed
              </th>
              <th scope="col" class="num">
                Work
              </th>
              <th scope="col" class="num">
                Size
              </th>
              <th scope="col">
                <span class="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            <For each={sorted()}>{(run) => <Row run={run} onDelete={() => props.onDelete(run)} />}</For>
          </tbody>
        </table>
      </div>
    </Show>
  );
}

function Row(props: { readonly run: RunSummary; readonly onDelete: () => void }) {
  const run = () => props.run;
  return (
    <tr>
      <th scope="row" class="run-name">
        <a href={`#/run/${run().id}`}>{run().name}</a>
        <span class="note">
          {formatAgo(run().createdAt, Date.now())}
          {run().recorded ? ' · recorded' : ''}
          {run().readOnly && !run().recorded ? ' · open in another tab' : ''}
        </span>
      </th>
      <td>
        <StatusBadge status={run().status} />
        <Show when={run().error}>{(error) => <span class="note wrap">{error().message}</span>}</Show>
      </td>
      <td>
        <BeforeAfter run={run()} />
      </td>
      <td class="num">{run().seed}</td>
      <td class="num">{formatSeconds(run().seconds)}</td>
      <td class="num">{formatBytes(run().bytes)}</td>
      <td class="run-actions">
        <button
          type="button"
          class="button quiet small"
          aria-label={`Delete ${run().name}, seed ${run().seed}`}
          onClick={() => props.onDelete()}
        >
          Delete
        </button>
      </td>
    </tr>
  );
}

function BeforeAfter(props: { readonly run: RunSummary }) {
  const found = () => beforeAfter(props.run);
  return (
    <Show when={found()} fallback={ABSENT}>
      {(pair) => (
        <>
          <span class="num">
            {formatRate(pair().before)} → <strong>{formatRate(pair().after)}</strong>
          </span>
          <span class="note">
            {pair().n} {pair().split === 'test' ? 'test' : 'validation'} tasks ·{' '}
            {formatInterval(scoreOfRate(pair().after, pair().n).wilson)}
          </span>
        </>
      )}
    </Show>
  );
}
