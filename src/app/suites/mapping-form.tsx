import { createUniqueId, For, Match, Show, Switch } from 'solid-js';
import { SPLITS } from '../../core/types.ts';
import type { Mapping, SplitRule } from '../../suites/import/mapping.ts';
import type { ImportedTask } from '../../suites/import/suite-file.ts';
import { Field } from '../ui/field.tsx';
import { Segmented } from '../ui/segmented.tsx';
import { formatWords, insertPlace, parseWords, readDecimal } from './mapping-draft.ts';
import { ScorerForm } from './scorer-form.tsx';

const DRAWN: SplitRule = { by: 'seed', seed: 0, parts: { train: 2, val: 1, test: 1, unseen: 0 } };

/** Which columns become the question, the accepted answers, the type and the split, and how answers are scored. */
export function MappingForm(props: {
  readonly mapping: Mapping;
  readonly columns: readonly string[];
  readonly tasks: readonly ImportedTask[];
  /** Whether the tasks are still those of an earlier mapping. */
  readonly stale: boolean;
  readonly errors: ReadonlyMap<string, string>;
  readonly onChange: (mapping: Mapping) => void;
}) {
  const answers = createUniqueId();
  let template!: HTMLTextAreaElement;
  const set = (part: Partial<Mapping>) => props.onChange({ ...props.mapping, ...part });
  const insert = (column: string) => {
    const { text, caret } = insertPlace(props.mapping.input, column, template.selectionStart, template.selectionEnd);
    set({ input: text });
    template.value = text;
    template.focus();
    template.setSelectionRange(caret, caret);
  };
  const toggle = (column: string) => {
    const known = props.mapping.answers;
    set({ answers: known.includes(column) ? known.filter((one) => one !== column) : [...known, column] });
  };
  const setColumn = (name: 'id' | 'type', column: string) => {
    const { [name]: _, ...rest } = props.mapping;
    props.onChange(column === '' ? rest : { ...rest, [name]: column });
  };
  const seeded = () => (props.mapping.split.by === 'seed' ? props.mapping.split : undefined);
  const byColumn = () => (props.mapping.split.by === 'column' ? props.mapping.split : undefined);
  const splitBy = (by: 'seed' | 'column') =>
    set({
      split:
        by === 'seed' ? DRAWN : { by, column: props.columns.find((one) => /split|fold|set/i.test(one)) ?? props.columns[0]!, values: {} },
    });

  return (
    <div class="stack mapping">
      <Field
        label="Question"
        help="What the model reads. A column stands where its name is in double braces."
        error={props.errors.get('input')}
        control={(attributes) => (
          <textarea
            ref={template}
            class="input mono"
            rows="5"
            spellcheck={false}
            value={props.mapping.input}
            onInput={(event) => set({ input: event.currentTarget.value })}
            {...attributes}
          />
        )}
      />
      <div class="column-chips">
        <span class="small text-2">Insert</span>
        <For each={props.columns}>
          {(column) => (
            <button type="button" class="button small mono" aria-label={`Insert the column ${column}`} onClick={() => insert(column)}>
              {column}
            </button>
          )}
        </For>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset's legend cannot stand in a row of chips */}
      <div class="column-chips" role="group" aria-labelledby={answers}>
        <span id={answers}>Accepted answers</span>
        <For each={props.columns}>
          {(column) => (
            <button
              type="button"
              class="button small mono"
              aria-pressed={props.mapping.answers.includes(column)}
              onClick={() => toggle(column)}
            >
              <Show when={props.mapping.answers.includes(column)}>
                <span aria-hidden="true">✓</span>
              </Show>
              {column}
            </button>
          )}
        </For>
      </div>
      <div class="fields">
        <ColumnSelect
          label="Type"
          none="no column: all of one type"
          columns={props.columns}
          value={props.mapping.type}
          onSelect={(column) => setColumn('type', column)}
        />
        <ColumnSelect
          label="Id"
          none="no column: number the rows"
          columns={props.columns}
          value={props.mapping.id}
          onSelect={(column) => setColumn('id', column)}
        />
      </div>
      <div class="stack split-rule">
        <div class="row">
          <span>Splits</span>
          <Segmented
            label="How records are split"
            options={[
              { id: 'seed', title: 'drawn by seed' },
              { id: 'column', title: 'by a column' },
            ]}
            selected={props.mapping.split.by}
            onSelect={splitBy}
          />
        </div>
        <Switch>
          <Match when={seeded()}>
            {(rule) => (
              <div class="split-parts">
                <For each={SPLITS}>
                  {(split) => (
                    <Field
                      label={split}
                      error={props.errors.get(`split.parts.${split}`)}
                      control={(attributes) => (
                        <input
                          class="input num"
                          inputmode="decimal"
                          value={String(rule().parts[split])}
                          onChange={(event) =>
                            set({ split: { ...rule(), parts: { ...rule().parts, [split]: readDecimal(event.currentTarget.value) } } })
                          }
                          {...attributes}
                        />
                      )}
                    />
                  )}
                </For>
                <Field
                  label="Seed"
                  error={props.errors.get('split.seed')}
                  control={(attributes) => (
                    <input
                      class="input num"
                      inputmode="numeric"
                      value={String(rule().seed)}
                      onChange={(event) => set({ split: { ...rule(), seed: readDecimal(event.currentTarget.value) } })}
                      {...attributes}
                    />
                  )}
                />
              </div>
            )}
          </Match>
          <Match when={byColumn()}>
            {(rule) => (
              <div class="fields">
                <ColumnSelect
                  label="Column with the split"
                  columns={props.columns}
                  value={rule().column}
                  onSelect={(column) => set({ split: { ...rule(), column } })}
                />
                <Field
                  label="Other words"
                  help="What words besides train, val (dev), test and unseen mean: holdout=test, extra=train"
                  control={(attributes) => (
                    <input
                      class="input mono"
                      value={formatWords(rule().values)}
                      onChange={(event) => set({ split: { ...rule(), values: parseWords(event.currentTarget.value) } })}
                      {...attributes}
                    />
                  )}
                />
              </div>
            )}
          </Match>
        </Switch>
        <Show when={props.errors.get('split.parts')}>
          {(text) => (
            <p class="small failure">
              <span aria-hidden="true">✕ </span>
              {text()}
            </p>
          )}
        </Show>
      </div>
      <ScorerForm
        scorer={props.mapping.scorer}
        errors={props.errors}
        tasks={props.tasks}
        stale={props.stale}
        onChange={(scorer) => set({ scorer })}
      />
    </div>
  );
}

function ColumnSelect(props: {
  readonly label: string;
  /** What the absence of a column means; without it one must be chosen. */
  readonly none?: string;
  readonly columns: readonly string[];
  readonly value: string | undefined;
  readonly onSelect: (column: string) => void;
}) {
  return (
    <Field
      label={props.label}
      control={(attributes) => (
        <select class="input" onChange={(event) => props.onSelect(event.currentTarget.value)} {...attributes}>
          <Show when={props.none}>
            <option value="" selected={props.value === undefined}>
              {props.none}
            </option>
          </Show>
          <For each={props.columns}>
            {(column) => (
              <option value={column} selected={column === props.value}>
                {column}
              </option>
            )}
          </For>
        </select>
      )}
    />
  );
}
