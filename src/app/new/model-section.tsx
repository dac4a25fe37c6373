import { createMemo, For, type JSX, Show } from 'solid-js';
import type { ListedModel } from '../../lab/service.ts';
import { RUNTIME_WORDS } from '../models/words.ts';
import { Field } from '../ui/field.tsx';
import { readPath, writePath } from './draft.ts';
import { FieldRow, type FormProps } from './field-row.tsx';
import { BACKENDS, serverFields } from './fields.ts';
import { modelOptions, NONE, SERVER, selectedOption, TYPED, withModel } from './model-options.ts';

const GROUPS = ['Shipped', 'In this browser', 'Servers'] as const;
const RUNTIMES = ['own', 'llamacpp', 'webllm'] as const;

interface SectionProps extends FormProps {
  readonly title: string;
  readonly path: readonly ['target'] | readonly ['critic'];
  readonly models: readonly ListedModel[];
  readonly children?: JSX.Element;
}

/** Which model plays a part, and how it is run or reached. */
export function ModelSection(props: SectionProps) {
  return (
    <fieldset class="fields">
      <legend>{props.title}</legend>
      {props.children}
      <ModelFields {...props} />
    </fieldset>
  );
}

export function ModelFields(props: Omit<SectionProps, 'title' | 'children'>) {
  const options = createMemo(() => modelOptions(props.models));
  const part = () => readPath(props.draft, props.path);
  const selected = () => selectedOption(options(), part(), props.path[0]);
  const at = (name: string) => [...props.path, name];
  const error = (name: string) => props.errors.get(at(name).join('.'));
  const isServer = () => readPath(part(), ['model']) === 'endpoint';
  const runtime = () => readPath(part(), ['runtime']) ?? 'own';
  const set = (next: unknown) => props.onChange(writePath(props.draft, props.path, next));
  const choose = (key: string) =>
    set(withModel(part(), key === TYPED || key === SERVER ? key : (options().find((option) => option.key === key) ?? TYPED)));
  const wholeError = () => props.errors.get(props.path.join('.')) ?? (selected() === TYPED ? undefined : error('model'));
  const caution = () => {
    const imported = readPath(props.draft, ['suite', 'id']) !== 'household';
    const shipped = (readPath(part(), ['model']) ?? 'nacre-tiny') === 'nacre-tiny';
    if (!shipped || selected() === NONE) return undefined;
    if (props.path[0] === 'critic') return 'The shipped model only knows how to act in a household: it cannot criticise.';
    return imported ? 'The shipped model was trained on household tasks alone: it cannot answer questions.' : undefined;
  };
  return (
    <>
      <Field
        label="Model"
        wide
        error={wholeError()}
        help={
          <Show
            when={caution()}
            fallback={
              <>
                More can be downloaded, added or reached under <a href="#/models">Models</a>.
              </>
            }
          >
            {(text) => (
              <span class="mixed">
                <span aria-hidden="true">◐ </span>
                {text()} Add another under <a href="#/models">Models</a>.
              </span>
            )}
          </Show>
        }
        control={(attributes) => (
          <select class="input" onChange={(event) => choose(event.currentTarget.value)} {...attributes}>
            <Show when={selected() === NONE}>
              <option value={NONE} disabled selected>
                choose a model …
              </option>
            </Show>
            <For each={GROUPS.filter((group) => options().some((option) => option.group === group))}>
              {(group) => (
                <optgroup label={group}>
                  <For each={options().filter((option) => option.group === group)}>
                    {(option) => (
                      <option value={option.key} selected={option.key === selected()}>
                        {option.title}
                      </option>
                    )}
                  </For>
                </optgroup>
              )}
            </For>
            <optgroup label="Other">
              <option value={SERVER} selected={selected() === SERVER}>
                a server, by its address …
              </option>
              <option value={TYPED} selected={selected() === TYPED}>
                by name or address …
              </option>
            </optgroup>
          </select>
        )}
      />
      <Show when={selected() === TYPED}>
        <FieldRow
          field={{
            path: at('model'),
            label: 'Name or address of the model',
            help: "A name of WebLLM's list, or the address of a .gguf file or of a folder in MLC format. What is missing is downloaded first.",
            kind: 'text',
          }}
          draft={props.draft}
          errors={props.errors}
          onChange={props.onChange}
        />
        <Field
          label="Run by"
          error={error('runtime')}
          control={(attributes) => (
            <select
              class="input"
              onChange={(event) => {
                const value = event.currentTarget.value;
                props.onChange(writePath(props.draft, at('runtime'), value === 'own' ? undefined : value));
              }}
              {...attributes}
            >
              <For each={RUNTIMES}>
                {(id) => (
                  <option value={id} selected={id === runtime()}>
                    {RUNTIME_WORDS[id].title}
                  </option>
                )}
              </For>
            </select>
          )}
        />
      </Show>
      <Show
        when={isServer()}
        fallback={
          <>
            <Show when={runtime() !== 'webllm'}>
              <FieldRow
                field={{ path: at('backend'), label: 'Compute on', kind: { options: BACKENDS } }}
                draft={props.draft}
                errors={props.errors}
                onChange={props.onChange}
              />
            </Show>
            <Show when={runtime() !== 'own'}>
              <FieldRow
                field={{
                  path: at('contextLength'),
                  label: 'Context, in tokens',
                  help: 'Prompt and answer together; empty leaves it to the model.',
                  kind: 'whole',
                  optional: true,
                }}
                draft={props.draft}
                errors={props.errors}
                onChange={props.onChange}
              />
            </Show>
          </>
        }
      >
        <For each={serverFields(props.path)}>
          {(field) => <FieldRow field={field} draft={props.draft} errors={props.errors} onChange={props.onChange} />}
        </For>
        <p class="small text-2 field wide">
          <span>
            A key is never part of a configuration: give it under{' '}
            <a href={`#/models?server=${encodeURIComponent(String(readPath(part(), ['endpoint', 'baseUrl']) ?? ''))}`}>Models</a>, where the
            connection can be tested as well. It is forgotten when this tab closes.
          </span>
        </p>
      </Show>
    </>
  );
}
