import { For, Show } from 'solid-js';
import { SPLITS } from '../../core/types.ts';
import type { SuiteSummary } from '../../lab/service.ts';
import { configToLink } from '../config-link.ts';
import { formatAgo, formatBytes, formatCount } from '../format.ts';
import '../ui/data-table.css';
import { runOfSuite } from './run-of-suite.ts';

interface ListActions {
  readonly onDelete: (suite: SuiteSummary) => void;
  readonly onSave: (suite: SuiteSummary) => void;
}

/** The shipped suite and the imported ones, with what each split holds. */
export function SuiteList(props: ListActions & { readonly suites: readonly SuiteSummary[] }) {
  return (
    <div class="table-scroll">
      <table class="table suite-list">
        <caption class="visually-hidden">Suites that can be chosen for a run</caption>
        <thead>
          <tr>
            <th scope="col">Suite</th>
            <For each={SPLITS}>
              {(split) => (
                <th scope="col" class="num">
                  {split}
                </th>
              )}
            </For>
            <th scope="col">Scored by</th>
            <th scope="col" class="num">
              Size
            </th>
            <th scope="col">
              <span class="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row" class="suite-name">
              Household
              <span class="note">shipped · tasks are generated, as many as a run asks for</span>
            </th>
            <For each={SPLITS}>{() => <td class="num">–</td>}</For>
            <td>its environment</td>
            <td class="num">–</td>
            <td class="suite-actions">
              <a class="button small" href="#/new">
                New run
              </a>
            </td>
          </tr>
          <For each={props.suites}>{(suite) => <Row {...props} suite={suite} />}</For>
          <Show when={props.suites.length === 0}>
            <tr>
              <td colspan="8" class="text-2">
                Suites you import below will be listed here.
              </td>
            </tr>
          </Show>
        </tbody>
      </table>
    </div>
  );
}

function Row(props: ListActions & { readonly suite: SuiteSummary }) {
  return (
    <tr>
      <th scope="row" class="suite-name">
        <span class="wrap">{props.suite.title}</span>
        <span class="note">
          <code>{props.suite.id}</code> · {formatAgo(props.suite.createdAt, Date.now())}
          {props.suite.note === undefined ? '' : ` · ${props.suite.note}`}
        </span>
      </th>
      <For each={SPLITS}>{(split) => <td class="num">{formatCount(props.suite.counts[split])}</td>}</For>
      <td>{props.suite.scorer}</td>
      <td class="num">{formatBytes(props.suite.bytes)}</td>
      <td class="suite-actions">
        <a class="button small" href={`#/new?c=${configToLink(runOfSuite(props.suite))}`} aria-label={`New run on ${props.suite.title}`}>
          New run
        </a>
        <button type="button" class="button quiet small" aria-label={`Save ${props.suite.title}`} onClick={() => props.onSave(props.suite)}>
          Save
        </button>
        <button
          type="button"
          class="button quiet small"
          aria-label={`Delete ${props.suite.title}`}
          onClick={() => props.onDelete(props.suite)}
        >
          Delete …
        </button>
      </td>
    </tr>
  );
}
