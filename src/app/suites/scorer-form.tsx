import { createUniqueId, For, type JSX, Match, Switch } from 'solid-js';
import type { ImportedTask } from '../../suites/import/suite-file.ts';
import { SCORER_TITLES, type ScorerKind, type ScorerSpec } from '../../suites/scorers/spec.ts';
import { Field } from '../ui/field.tsx';
import { newScorer, readDecimal } from './mapping-draft.ts';
import { ScorerTest } from './scorer-test.tsx';

type Spec<Kind extends ScorerKind> = Extract<ScorerSpec, { kind: Kind }>;

/** How answers are scored: the kind, its parameters, and a trial on the first tasks. */
export function ScorerForm(props: {
  readonly scorer: ScorerSpec;
  readonly errors: ReadonlyMap<string, string>;
  readonly tasks: readonly ImportedTask[];
  /** Whether the tasks are still those of an earlier mapping. */
  readonly stale: boolean;
  readonly onChange: (scorer: ScorerSpec) => void;
}) {
  const whole = createUniqueId();
  const as = <Kind extends ScorerKind>(kind: Kind): Spec<Kind> | undefined =>
    props.scorer.kind === kind ? (props.scorer as Spec<Kind>) : undefined;
  const number = (label: string, name: string, value: number, set: (value: number) => void): JSX.Element => (
    <Field
      label={label}
      error={props.errors.get(`scorer.${name}`)}
      control={(attributes) => (
        <input
          class="input num"
          inputmode="decimal"
          value={String(value)}
          onChange={(event) => set(readDecimal(event.currentTarget.value))}
          {...attributes}
        />
      )}
    />
  );
  return (
    <div class="stack scorer">
      <Field
        label="Scored by"
        control={(attributes) => (
          <select class="input" onChange={(event) => props.onChange(newScorer(event.currentTarget.value as ScorerKind))} {...attributes}>
            <For each={Object.entries(SCORER_TITLES) as [ScorerKind, string][]}>
              {([kind, title]) => (
                <option value={kind} selected={kind === props.scorer.kind}>
                  {title}
                </option>
              )}
            </For>
          </select>
        )}
      />
      <Switch>
        <Match when={as('anls')}>
          {(spec) => (
            <div class="fields">
              {number('Least similarity, 0.5 to 1', 'threshold', spec().threshold, (threshold) => props.onChange({ ...spec(), threshold }))}
            </div>
          )}
        </Match>
        <Match when={as('numeric')}>
          {(spec) => (
            <div class="fields">
              {number('Absolute tolerance', 'absolute', spec().absolute, (absolute) => props.onChange({ ...spec(), absolute }))}
              {number('Relative tolerance', 'relative', spec().relative, (relative) => props.onChange({ ...spec(), relative }))}
            </div>
          )}
        </Match>
        <Match when={as('choice')}>
          {(spec) => (
            <Field
              label="Labels"
              help="Separated by commas."
              error={props.errors.get('scorer.labels')}
              control={(attributes) => (
                <input
                  class="input mono"
                  value={spec().labels.join(', ')}
                  onChange={(event) =>
                    props.onChange({
                      ...spec(),
                      labels: event.currentTarget.value
                        .split(',')
                        .map((label) => label.trim())
                        .filter(Boolean),
                    })
                  }
                  {...attributes}
                />
              )}
            />
          )}
        </Match>
        <Match when={as('regex')}>
          {(spec) => (
            <div class="fields">
              <Field
                label="Flags"
                help="i: any case; m: lines; s: . matches line ends."
                error={props.errors.get('scorer.flags')}
                control={(attributes) => (
                  <input
                    class="input mono"
                    value={spec().flags}
                    onChange={(event) => props.onChange({ ...spec(), flags: event.currentTarget.value.trim() })}
                    {...attributes}
                  />
                )}
              />
              <span class="check">
                <input
                  id={whole}
                  type="checkbox"
                  checked={spec().whole}
                  onChange={(event) => props.onChange({ ...spec(), whole: event.currentTarget.checked })}
                />
                <label for={whole}>the pattern must match the whole answer</label>
              </span>
            </div>
          )}
        </Match>
        <Match when={as('javascript')}>
          {(spec) => (
            <>
              <Field
                label="JavaScript"
                help="Runs in a sandbox without network, clock or randomness. Columns that are not used otherwise are in task.fields."
                error={props.errors.get('scorer.source')}
                control={(attributes) => (
                  <textarea
                    class="input mono"
                    rows="8"
                    spellcheck={false}
                    value={spec().source}
                    onInput={(event) => props.onChange({ ...spec(), source: event.currentTarget.value })}
                    {...attributes}
                  />
                )}
              />
              <div class="fields">
                {number('Milliseconds per answer, at most', 'timeMs', spec().timeMs, (timeMs) => props.onChange({ ...spec(), timeMs }))}
              </div>
            </>
          )}
        </Match>
      </Switch>
      <ScorerTest scorer={props.scorer} tasks={props.tasks} stale={props.stale} />
    </div>
  );
}
