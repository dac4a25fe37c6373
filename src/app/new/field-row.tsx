import { createUniqueId, For, type JSX, Match, Show, Switch } from 'solid-js';
import '../ui/field.css';
import { type Draft, readNumber, readPath, writePath } from './draft.ts';
import type { Field, FieldGroup } from './fields.ts';

export interface FormProps {
  readonly draft: Draft;
  readonly errors: ReadonlyMap<string, string>;
  readonly onChange: (draft: Draft) => void;
}

/** Fields under a common title. */
export function Fields(props: FormProps & { readonly group: FieldGroup; readonly hideTitle?: boolean; readonly children?: JSX.Element }) {
  return (
    <fieldset class="fields">
      <legend classList={{ 'visually-hidden': props.hideTitle === true }}>{props.group.title}</legend>
      {props.children}
      <For each={props.group.fields}>
        {(field) => <FieldRow field={field} draft={props.draft} errors={props.errors} onChange={props.onChange} />}
      </For>
    </fieldset>
  );
}

/** One setting with its label, what is wrong with it, and what it means. */
export function FieldRow(props: FormProps & { readonly field: Field }) {
  const id = createUniqueId();
  const path = () => props.field.path;
  const value = () => readPath(props.draft, path());
  const error = () => props.errors.get(path().join('.'));
  const set = (next: unknown) => props.onChange(writePath(props.draft, path(), next));
  const setNumber = (text: string) => set(props.field.optional && text.trim() === '' ? undefined : readNumber(text));
  const described = () => [props.field.help ? `${id}-help` : '', error() ? `${id}-error` : ''].filter(Boolean).join(' ') || undefined;
  const options = () => (typeof props.field.kind === 'object' ? props.field.kind.options : []);
  const common = () => ({ id, 'aria-invalid': error() ? ('true' as const) : undefined, 'aria-describedby': described() });
  const number = (): JSX.Element => (
    <input
      class="input num"
      inputmode={props.field.kind === 'real' ? 'decimal' : 'numeric'}
      value={value() === undefined ? '' : String(value())}
      onInput={(event) => setNumber(event.currentTarget.value)}
      {...common()}
    />
  );
  return (
    <div
      class="field"
      classList={{ wide: props.field.kind === 'long-text' || props.field.kind === 'text', check: props.field.kind === 'switch' }}
    >
      <Show when={props.field.kind !== 'switch'}>
        <label for={id}>{props.field.label}</label>
      </Show>
      <Switch fallback={number()}>
        <Match when={props.field.kind === 'switch'}>
          <input type="checkbox" checked={value() === true} onChange={(event) => set(event.currentTarget.checked)} {...common()} />
          <label for={id}>{props.field.label}</label>
        </Match>
        <Match when={props.field.kind === 'long-text'}>
          <textarea
            class="input mono"
            rows="8"
            value={String(value() ?? '')}
            onInput={(event) => set(event.currentTarget.value)}
            {...common()}
          />
        </Match>
        <Match when={props.field.kind === 'text'}>
          <input class="input" value={String(value() ?? '')} onInput={(event) => set(event.currentTarget.value)} {...common()} />
        </Match>
        <Match when={options().length > 0}>
          <select class="input" onChange={(event) => set(event.currentTarget.value)} {...common()}>
            <For each={options()}>
              {(option) => (
                <option value={option.id} selected={option.id === value()}>
                  {option.title}
                </option>
              )}
            </For>
          </select>
        </Match>
      </Switch>
      <Show when={error()}>
        <p id={`${id}-error`} class="small failure">
          <span aria-hidden="true">✕ </span>
          {error()}
        </p>
      </Show>
      <Show when={props.field.help}>
        <p id={`${id}-help`} class="small text-2">
          {props.field.help}
        </p>
      </Show>
    </div>
  );
}
