import { createMemo, For, Show } from 'solid-js';
import { SPLITS } from '../../core/types.ts';
import type { ListedModel, SuiteSummary } from '../../lab/service.ts';
import { formatCount } from '../format.ts';
import { Field } from '../ui/field.tsx';
import { readPath } from './draft.ts';
import { FieldRow, Fields, type FormProps } from './field-row.tsx';
import type { FieldGroup } from './fields.ts';
import { HOUSEHOLD, IMPORTED, withSuite } from './with-suite.ts';

/** Which tasks are learnt from and tested on, and how many of each split. */
export function SuiteSection(
  props: FormProps & {
    readonly group: FieldGroup;
    /** Undefined until they are known. */
    readonly suites: readonly SuiteSummary[] | undefined;
    readonly models: readonly ListedModel[];
  },
) {
  const suite = () => readPath(props.draft, ['suite']);
  const isImported = createMemo(() => readPath(suite(), ['id']) === 'imported');
  const name = () => String(readPath(suite(), ['name']) ?? '');
  const selected = () => (isImported() ? `${IMPORTED}${name()}` : HOUSEHOLD);
  const chosen = createMemo(() => props.suites?.find(({ id }) => isImported() && id === name()));
  const differs = () => {
    const hash = readPath(suite(), ['hash']);
    return chosen() !== undefined && hash !== undefined && hash !== chosen()?.hash;
  };
  const choose = (value: string) => props.onChange(withSuite(props.draft, value, props.suites ?? [], props.models));
  const problem = () => {
    if (isImported() && props.suites && !chosen()) return `There is no imported suite "${name()}" in this browser: import its file first.`;
    if (differs()) return 'The suite of this name holds other tasks here than the one this configuration was made with.';
    return props.errors.get('suite.id') ?? props.errors.get('suite.name') ?? props.errors.get('suite.hash');
  };
  // Kept while the draft changes, so that a field keeps the focus while it is typed into.
  const group = createMemo(() => (isImported() ? importedGroup(props.group, chosen()) : props.group));
  return (
    <>
      <Fields group={group()} draft={props.draft} errors={props.errors} onChange={props.onChange}>
        <Field
          label="Suite"
          wide
          error={problem()}
          help={
            <>
              Questions from your own files are imported under <a href="#/suites">Suites</a>.
            </>
          }
          control={(attributes) => (
            <select class="input" onChange={(event) => choose(event.currentTarget.value)} {...attributes}>
              <option value={HOUSEHOLD} selected={!isImported()}>
                Household: find, treat and place objects in rooms
              </option>
              <For each={props.suites ?? []}>
                {(one) => (
                  <option value={IMPORTED + one.id} selected={selected() === IMPORTED + one.id}>
                    {one.title}
                  </option>
                )}
              </For>
              <Show when={isImported() && !chosen()}>
                <option value={selected()} selected>
                  {name()} (not in this browser)
                </option>
              </Show>
            </select>
          )}
        />
      </Fields>
      <Show when={isImported()}>
        <div class="fields">
          <FieldRow
            field={{
              path: ['suite', 'answerTokens'],
              label: 'Tokens per answer, at most',
              help: 'Empty leaves it to the suite: 512.',
              kind: 'whole',
              optional: true,
            }}
            draft={props.draft}
            errors={props.errors}
            onChange={props.onChange}
          />
        </div>
      </Show>
    </>
  );
}

const IMPORTED_HELP = { train: 'Tried K times a step', val: 'Judges each change', test: 'Seen only at the end', unseen: 'Reported apart' };

/** The sizes of an imported suite, with what each split holds. */
function importedGroup(group: FieldGroup, suite: SuiteSummary | undefined): FieldGroup {
  const fields = SPLITS.flatMap((split) => {
    const field = group.fields.find(({ path }) => path[1] === split);
    if (!field) return [];
    const there = suite === undefined ? '' : ` · ${formatCount(suite.counts[split])} there`;
    return [{ ...field, label: split === 'unseen' ? 'Unseen' : field.label, help: `${IMPORTED_HELP[split]}${there}` }];
  });
  return { ...group, fields };
}
