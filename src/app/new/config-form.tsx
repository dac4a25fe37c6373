import { createResource, createSignal, For, Match, Show, Switch } from 'solid-js';
import type { ListedModel, SuiteSummary } from '../../lab/service.ts';
import { useLab } from '../lab.ts';
import { ErrorNote } from '../ui/error-note.tsx';
import { CriticSection } from './critic-section.tsx';
import { Fields, type FormProps } from './field-row.tsx';
import { FIELD_GROUPS } from './fields.ts';
import { ModelSection } from './model-section.tsx';
import { SuiteSection } from './suite-section.tsx';

/** The configuration as a form. A wrong field says what it takes, and keeps what was typed. */
export function ConfigForm(props: FormProps) {
  const lab = useLab();
  const [error, setError] = createSignal<unknown>();
  /** A list that cannot be read leaves the rest of the form usable. */
  const orNone = async <T,>(list: Promise<readonly T[]>): Promise<readonly T[]> => {
    try {
      return await list;
    } catch (cause) {
      setError(cause);
      return [];
    }
  };
  const [models] = createResource<readonly ListedModel[]>(() => orNone(lab.listModels()));
  const [suites] = createResource<readonly SuiteSummary[]>(() => orNone(lab.listSuites()));
  const known = <T,>(resource: { readonly state: string; readonly latest: T | undefined }): T | undefined =>
    resource.state === 'ready' ? resource.latest : undefined;
  const hasError = (path: readonly string[]) => props.errors.has(path.join('.'));
  return (
    <div class="stack form">
      <Show when={error()}>{(cause) => <ErrorNote error={cause()} dismiss={() => setError(undefined)} />}</Show>
      <For each={FIELD_GROUPS}>
        {(group) => (
          <Switch fallback={<Fields group={group} {...props} />}>
            <Match when={group.id === 'tasks'}>
              <SuiteSection group={group} suites={known(suites)} models={known(models) ?? []} {...props} />
              <ModelSection title="Target: the model that learns" path={['target']} models={known(models) ?? []} {...props} />
              <CriticSection models={known(models) ?? []} {...props} />
            </Match>
            <Match when={group.advanced}>
              <details open={group.fields.some(({ path }) => hasError(path))}>
                <summary>{group.title}</summary>
                <Fields group={group} hideTitle {...props} />
              </details>
            </Match>
          </Switch>
        )}
      </For>
    </div>
  );
}
