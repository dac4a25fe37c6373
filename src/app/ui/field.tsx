import { createUniqueId, type JSX, Show } from 'solid-js';
import './field.css';

/** What the control of a field takes: its name and what describes it. */
export interface FieldControl {
  readonly id: string;
  readonly 'aria-invalid': 'true' | undefined;
  readonly 'aria-describedby': string | undefined;
}

/** A label, a control, what is wrong with it and what it means. */
export function Field(props: {
  readonly label: string;
  readonly help?: JSX.Element;
  readonly error?: string | undefined;
  readonly wide?: boolean;
  readonly control: (attributes: FieldControl) => JSX.Element;
}) {
  const id = createUniqueId();
  const attributes: FieldControl = {
    id,
    get 'aria-invalid'() {
      return props.error ? ('true' as const) : undefined;
    },
    get 'aria-describedby'() {
      return [props.help ? `${id}-help` : '', props.error ? `${id}-error` : ''].filter(Boolean).join(' ') || undefined;
    },
  };
  return (
    <div class="field" classList={{ wide: props.wide === true }}>
      <label for={id}>{props.label}</label>
      {props.control(attributes)}
      <Show when={props.error}>
        <p id={`${id}-error`} class="small failure wrap">
          <span aria-hidden="true">✕ </span>
          {props.error}
        </p>
      </Show>
      <Show when={props.help}>
        <p id={`${id}-help`} class="small text-2">
          {props.help}
        </p>
      </Show>
    </div>
  );
}
