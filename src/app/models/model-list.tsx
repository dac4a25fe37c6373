import { For, Show } from 'solid-js';
import type { LabService, ListedModel, ModelUse } from '../../lab/service.ts';
import { formatBytes, formatCount } from '../format.ts';
import { Empty } from '../ui/panel.tsx';
import { Verify } from './verify.tsx';
import { CAPABILITIES, KIND_WORDS, RUNTIME_WORDS, WHERE_WORDS } from './words.ts';

interface ListActions {
  readonly onTry: (model: ListedModel, use: ModelUse) => void;
  readonly onUnload: (use: ModelUse) => void;
  readonly onDelete: (model: ListedModel) => void;
  readonly onResume: (model: ListedModel) => void;
  readonly onChanged: () => void;
  readonly lab: LabService;
}

/** Everything that can answer now: shipped, stored, and offered by servers that were asked. */
export function ModelList(props: ListActions & { readonly models: readonly ListedModel[] }) {
  const stored = () => props.models.filter(({ where }) => where === 'downloaded' || where === 'local');
  return (
    <div class="stack">
      <ul class="model-list">
        {/* By id, so that a list read again keeps what its rows show. */}
        <For each={props.models.map(({ id }) => id)}>
          {(id) => <Show when={props.models.find((model) => model.id === id)}>{(model) => <Row {...props} model={model()} />}</Show>}
        </For>
      </ul>
      <Show when={stored().length === 0}>
        <Empty>Models you download or open from this device will be listed here. The shipped one needs neither.</Empty>
      </Show>
    </div>
  );
}

function Row(props: ListActions & { readonly model: ListedModel }) {
  const model = () => props.model;
  const isStored = () => model().where === 'downloaded' || model().where === 'local';
  const heading = () => `model-${model().id}`;
  return (
    <li class="model">
      <div class="model-head">
        <h3 id={heading()} class="wrap">
          {model().title}
        </h3>
        <p class="small text-2">{facts(model())}</p>
      </div>
      <Show when={!model().complete}>
        <div class="row small">
          <span class="badge mixed">
            <span class="mark" aria-hidden="true">
              ◐
            </span>
            incomplete
          </span>
          <span class="text-2 num">
            {formatBytes(model().bytes)}
            {model().totalBytes === undefined ? '' : ` of ${formatBytes(model().totalBytes ?? 0)}`} are here
          </span>
          <button type="button" class="button small" onClick={() => props.onResume(model())}>
            Go on downloading
          </button>
        </div>
      </Show>
      <ul class="model-uses" aria-label={`Ways to run ${model().title}`}>
        <For each={model().uses}>{(use) => <Use {...props} use={use} />}</For>
      </ul>
      <Show when={isStored()}>
        <div class="row model-tools">
          <Verify lab={props.lab} model={model()} onChanged={props.onChanged} />
          <button type="button" class="button quiet small" aria-label={`Delete ${model().title}`} onClick={() => props.onDelete(model())}>
            Delete …
          </button>
        </div>
      </Show>
    </li>
  );
}

function Use(props: ListActions & { readonly model: ListedModel; readonly use: ModelUse }) {
  const words = () => RUNTIME_WORDS[props.use.runtime];
  const name = () => `${props.model.title} on ${words().title}`;
  return (
    <li class="model-use">
      <span class="runtime" title={words().about}>
        {words().title}
      </span>
      <ul class="marks" aria-label="What it can do">
        <For each={CAPABILITIES.filter(({ id }) => props.use.capabilities[id])}>
          {({ title, about }) => (
            <li class="badge" title={about}>
              {title}
            </li>
          )}
        </For>
      </ul>
      <span class="model-state small" classList={{ loaded: props.use.loaded }}>
        <span aria-hidden="true">{props.use.loaded ? '▪' : '▫'}</span> {props.use.loaded ? 'loaded' : 'not loaded'}
      </span>
      <span class="row model-actions">
        <Show when={props.use.loaded && props.use.runtime !== 'endpoint'}>
          <button type="button" class="button quiet small" aria-label={`Unload ${name()}`} onClick={() => props.onUnload(props.use)}>
            Unload
          </button>
        </Show>
        <button
          type="button"
          class="button small"
          aria-label={`Try ${name()}`}
          disabled={!props.model.complete}
          onClick={() => props.onTry(props.model, props.use)}
        >
          Try
        </button>
      </span>
    </li>
  );
}

function facts({ kind, where, bytes, memoryBytes, uses }: ListedModel): string {
  const [use] = uses;
  const context = use?.choice.contextLength;
  return [
    where === 'shipped' ? KIND_WORDS.shipped : `${KIND_WORDS[kind]}, ${WHERE_WORDS[where]}`,
    ...(bytes > 0 ? [`${formatBytes(bytes)} on disk`] : []),
    ...(memoryBytes === undefined ? [] : [`about ${formatBytes(memoryBytes)} of GPU memory on WebLLM`]),
    ...(context === undefined ? [] : [`${formatCount(context)} tokens of context`]),
  ].join(' · ');
}
