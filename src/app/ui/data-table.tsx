import { createMemo, createSignal, For, Show } from 'solid-js';
import { notify } from '../announce.ts';
import { type Cell, copyText, saveFile, toCsv, toTsv } from '../files.ts';
import './data-table.css';

const PAGE = 200;

export interface TableData {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** A real table of plain values, paged beyond 200 rows. Numbers are set right. */
export function DataTable(props: { readonly caption: string; readonly data: TableData }) {
  const [page, setPage] = createSignal(0);
  const pages = () => Math.max(1, Math.ceil(props.data.rows.length / PAGE));
  const at = () => Math.min(page(), pages() - 1);
  const shown = createMemo(() => props.data.rows.slice(at() * PAGE, (at() + 1) * PAGE));
  return (
    <div class="table-scroll">
      <table class="table">
        <caption class="visually-hidden">{props.caption}</caption>
        <thead>
          <tr>
            <For each={props.data.columns}>
              {(column, i) => (
                <th scope="col" classList={{ num: typeof props.data.rows[0]?.[i()] === 'number' }}>
                  {column}
                </th>
              )}
            </For>
          </tr>
        </thead>
        <tbody>
          <For each={shown()}>
            {(row) => (
              <tr>
                <For each={row}>{(cell) => <td classList={{ num: typeof cell === 'number' }}>{cell === null ? '–' : cell}</td>}</For>
              </tr>
            )}
          </For>
        </tbody>
      </table>
      <Show when={pages() > 1}>
        <div class="row table-pages">
          <button type="button" class="button small" disabled={at() === 0} onClick={() => setPage(at() - 1)}>
            Previous
          </button>
          <span class="small text-2">
            Rows {at() * PAGE + 1} to {Math.min((at() + 1) * PAGE, props.data.rows.length)} of {props.data.rows.length}
          </span>
          <button type="button" class="button small" disabled={at() === pages() - 1} onClick={() => setPage(at() + 1)}>
            Next
          </button>
        </div>
      </Show>
    </div>
  );
}

/** Copy as TSV and save as CSV, for any table. */
export function TableActions(props: { readonly name: string; readonly data: () => TableData }) {
  const all = (): (readonly Cell[])[] => [props.data().columns, ...props.data().rows];
  const copy = async () => {
    await copyText(toTsv(all()));
    notify('Table copied as tab-separated text.');
  };
  return (
    <>
      <button type="button" class="button quiet small" onClick={() => void copy()}>
        Copy
      </button>
      <button type="button" class="button quiet small" onClick={() => saveFile(`${props.name}.csv`, 'text/csv', toCsv(all()))}>
        CSV
      </button>
    </>
  );
}
