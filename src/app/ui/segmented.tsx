import { createUniqueId, For } from 'solid-js';
import './segmented.css';

/** A choice of one among few, as native radio buttons: arrows move, the label is the target. */
export function Segmented<Id extends string>(props: {
  readonly label: string;
  readonly options: readonly { readonly id: Id; readonly title: string; readonly hint?: string }[];
  readonly selected: Id;
  readonly onSelect: (id: Id) => void;
}) {
  const name = createUniqueId();
  return (
    <fieldset class="segmented">
      <legend class="visually-hidden">{props.label}</legend>
      <For each={props.options}>
        {(option) => (
          <label title={option.hint}>
            <input type="radio" name={name} checked={props.selected === option.id} onChange={() => props.onSelect(option.id)} />
            <span>{option.title}</span>
          </label>
        )}
      </For>
    </fieldset>
  );
}
