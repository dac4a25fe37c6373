import { createMemo, createSignal, createUniqueId, For, Show } from 'solid-js';
import type { CatalogueModel } from '../../lab/service.ts';
import { formatBytes, formatCount, plural } from '../format.ts';
import '../ui/data-table.css';
import '../ui/field.css';
import { Empty } from '../ui/panel.tsx';
import { type CatalogueFilter, familiesOf, filterCatalogue, NO_FILTER, SIZES } from './catalogue-filter.ts';

/** Rows shown at first, and added at each "more". */
const PAGE = 12;

/** WebLLM's list: searched, narrowed by family and size, and by what this machine can run. */
export function Catalogue(props: {
  readonly models: readonly CatalogueModel[];
  readonly filter: CatalogueFilter;
  readonly onFilter: (filter: CatalogueFilter) => void;
  /** Ids being downloaded. */
  readonly busy: readonly string[];
  readonly onDownload: (model: CatalogueModel) => void;
}) {
  const base = createUniqueId();
  const [shown, setShown] = createSignal(PAGE);
  const found = createMemo(() => filterCatalogue(props.models, props.filter));
  const runnable = createMemo(() => props.models.filter(({ fit }) => fit.runs).length);
  const change = (part: Partial<CatalogueFilter>) => {
    setShown(PAGE);
    props.onFilter({ ...props.filter, ...part });
  };
  return (
    <div class="stack">
      <div class="catalogue-filter">
        <input
          class="input"
          type="search"
          aria-label="Search the catalogue"
          placeholder="Search, e.g. qwen 0.5b"
          value={props.filter.query}
          onInput={(event) => change({ query: event.currentTarget.value })}
        />
        <select class="input" aria-label="Family" onChange={(event) => change({ family: event.currentTarget.value })}>
          <option value="" selected={props.filter.family === ''}>
            every family
          </option>
          <For each={familiesOf(props.models)}>
            {(family) => (
              <option value={family} selected={family === props.filter.family}>
                {family}
              </option>
            )}
          </For>
        </select>
        <select
          class="input"
          aria-label="Size"
          onChange={(event) => change({ size: event.currentTarget.value as CatalogueFilter['size'] })}
        >
          <option value="any" selected={props.filter.size === 'any'}>
            any size
          </option>
          <For each={SIZES}>
            {({ id, title }) => (
              <option value={id} selected={id === props.filter.size}>
                {title} weights
              </option>
            )}
          </For>
        </select>
        <span class="check">
          <input
            id={`${base}-runs`}
            type="checkbox"
            checked={props.filter.runsHere}
            onChange={(event) => change({ runsHere: event.currentTarget.checked })}
          />
          <label for={`${base}-runs`}>only what runs here</label>
        </span>
      </div>
      <p class="small text-2" role="status">
        {plural(found().length, 'model')} shown; {runnable()} of {props.models.length} can run on this machine.
      </p>
      <Show
        when={found().length > 0}
        fallback={
          <Empty>
            {runnable() === 0 && props.filter.runsHere
              ? 'Nothing of this list runs here, because WebLLM needs WebGPU. GGUF files run without it: add one above.'
              : 'No model matches.'}{' '}
            <button type="button" class="link" onClick={() => change({ ...NO_FILTER, runsHere: false })}>
              Show the whole list
            </button>
          </Empty>
        }
      >
        <div class="table-scroll">
          <table class="table catalogue">
            <caption class="visually-hidden">Models of WebLLM's list</caption>
            <thead>
              <tr>
                <th scope="col">Model</th>
                <th scope="col" class="num">
                  Download
                </th>
                <th scope="col" class="num">
                  GPU memory
                </th>
                <th scope="col" class="num">
                  Context
                </th>
                <th scope="col">
                  <span class="visually-hidden">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              <For each={found().slice(0, shown())}>
                {(model) => <Row model={model} busy={props.busy.includes(model.id)} onDownload={() => props.onDownload(model)} />}
              </For>
            </tbody>
          </table>
        </div>
        <Show when={found().length > shown()}>
          <button type="button" class="button more" onClick={() => setShown((count) => count + 3 * PAGE)}>
            Show {Math.min(3 * PAGE, found().length - shown())} more
          </button>
        </Show>
      </Show>
    </div>
  );
}

function Row(props: { readonly model: CatalogueModel; readonly busy: boolean; readonly onDownload: () => void }) {
  const model = () => props.model;
  const reason = () => {
    const { fit } = model();
    return fit.runs ? undefined : fit.reason;
  };
  const warning = () => {
    const { fit } = model();
    return fit.runs ? fit.warning : undefined;
  };
  return (
    <tr>
      <th scope="row" class="catalogue-name">
        <span class="wrap">{model().title}</span>
        <Show when={reason()}>
          {(text) => (
            <span class="note">
              <span class="failure" aria-hidden="true">
                ✕{' '}
              </span>
              {text()}
            </span>
          )}
        </Show>
        <Show when={warning()}>
          {(text) => (
            <span class="note">
              <span class="mixed" aria-hidden="true">
                ◐{' '}
              </span>
              {text()}
            </span>
          )}
        </Show>
      </th>
      <td class="num">{model().downloadBytes > 0 ? formatBytes(model().downloadBytes) : '–'}</td>
      <td class="num">{model().memoryBytes > 0 ? formatBytes(model().memoryBytes) : '–'}</td>
      <td class="num">{formatCount(model().contextLength)}</td>
      <td class="catalogue-actions">
        <Show
          when={!model().stored}
          fallback={
            <span class="badge success">
              <span class="mark" aria-hidden="true">
                ●
              </span>
              stored
            </span>
          }
        >
          <button
            type="button"
            class="button small"
            aria-label={`Download ${model().title}`}
            disabled={props.busy || reason() !== undefined}
            onClick={() => props.onDownload()}
          >
            {props.busy ? 'Downloading …' : 'Download …'}
          </button>
        </Show>
      </td>
    </tr>
  );
}
