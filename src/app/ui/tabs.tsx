import { createUniqueId, For, type JSX, Show } from 'solid-js';
import './tabs.css';

export interface Tab<Id extends string> {
  readonly id: Id;
  readonly title: string;
  readonly count?: number | undefined;
  readonly panel: () => JSX.Element;
}

/** Tabs after the ARIA pattern: arrows move and select, only the selected tab is in the tab order, its panel is all that is built. */
export function Tabs<Id extends string>(props: {
  readonly label: string;
  readonly tabs: readonly Tab<Id>[];
  readonly selected: Id;
  readonly onSelect: (id: Id) => void;
  readonly actions?: JSX.Element;
}) {
  const base = createUniqueId();
  const buttons = new Map<Id, HTMLButtonElement>();
  const current = () => props.tabs.find((tab) => tab.id === props.selected) ?? props.tabs[0];
  const move = (event: KeyboardEvent) => {
    const ids = props.tabs.map((tab) => tab.id);
    const at = ids.indexOf(current()?.id as Id);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: ids.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const id = ids[(next + ids.length) % ids.length] as Id;
    props.onSelect(id);
    buttons.get(id)?.focus();
  };
  return (
    <div class="tabs">
      <div class="tab-bar">
        <div role="tablist" aria-label={props.label} class="tab-list" onKeyDown={move}>
          <For each={props.tabs}>
            {(tab) => (
              <button
                type="button"
                role="tab"
                ref={(element) => buttons.set(tab.id, element)}
                id={`${base}-${tab.id}`}
                aria-selected={current()?.id === tab.id}
                aria-controls={`${base}-panel`}
                tabindex={current()?.id === tab.id ? 0 : -1}
                onClick={() => props.onSelect(tab.id)}
              >
                {tab.title}
                <Show when={tab.count !== undefined}>
                  <span class="tab-count num">{tab.count}</span>
                </Show>
              </button>
            )}
          </For>
        </div>
        {props.actions}
      </div>
      <div role="tabpanel" id={`${base}-panel`} aria-labelledby={`${base}-${current()?.id}`} tabindex="0" class="tab-panel">
        <Show when={current()?.id} keyed>
          {(id) => props.tabs.find((tab) => tab.id === id)?.panel()}
        </Show>
      </div>
    </div>
  );
}
