import { Show } from 'solid-js';
import type { ListedModel } from '../../lab/service.ts';
import { Segmented } from '../ui/segmented.tsx';
import { readPath, writePath } from './draft.ts';
import { FieldRow, type FormProps } from './field-row.tsx';
import { modelOptions, TYPED, withModel } from './model-options.ts';
import { ModelFields } from './model-section.tsx';

/** Who reads the outcomes and proposes edits: the household suite's own heuristic, or a model. */
export function CriticSection(props: FormProps & { readonly models: readonly ListedModel[] }) {
  const critic = () => readPath(props.draft, ['critic']);
  const kind = () => (readPath(critic(), ['kind']) === 'model' ? 'model' : 'analyst');
  const isHousehold = () => readPath(props.draft, ['suite', 'id']) === 'household';
  const choose = (next: 'analyst' | 'model') => {
    const option = modelOptions(props.models).find(({ group }) => group !== 'Shipped') ?? TYPED;
    const model =
      readPath(critic(), ['model']) === undefined
        ? { ...withModel(critic(), option), kind: next }
        : { ...(critic() as object), kind: next };
    props.onChange(writePath(props.draft, ['critic'], next === 'analyst' ? { kind: next } : model));
  };
  return (
    <fieldset class="fields">
      <legend>Critic: who proposes edits</legend>
      <div class="field wide">
        <Show
          when={isHousehold()}
          fallback={
            <p class="small text-2">
              On questions a model criticises: the analyst knows household tasks only.{' '}
              <Show when={kind() === 'analyst'}>
                <button type="button" class="button small" onClick={() => choose('model')}>
                  Choose a model
                </button>
              </Show>
            </p>
          }
        >
          <Segmented
            label="Who criticises"
            options={[
              { id: 'analyst', title: 'Analyst (a heuristic)' },
              { id: 'model', title: 'A model' },
            ]}
            selected={kind()}
            onSelect={choose}
          />
          <p class="small text-2">
            {kind() === 'analyst'
              ? 'Rules written for the household suite read the outcomes and propose edits: no language model criticises.'
              : 'A language model reads the outcomes, quotes its evidence and proposes edits, as in the paper.'}
          </p>
        </Show>
        <Show when={props.errors.get('critic.kind')}>
          {(text) => (
            <p class="small failure">
              <span aria-hidden="true">✕ </span>
              {text()}
            </p>
          )}
        </Show>
      </div>
      <Show when={kind() === 'model'}>
        <ModelFields path={['critic']} models={props.models} draft={props.draft} errors={props.errors} onChange={props.onChange} />
        <FieldRow
          field={{
            path: ['critic', 'maxTokens'],
            label: 'Tokens per critique, at most',
            help: "Small models ramble. Empty takes the loop's own limit.",
            kind: 'whole',
            optional: true,
          }}
          draft={props.draft}
          errors={props.errors}
          onChange={props.onChange}
        />
      </Show>
    </fieldset>
  );
}
