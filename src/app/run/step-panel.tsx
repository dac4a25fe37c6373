import { createMemo, Show } from 'solid-js';
import { plural } from '../format.ts';
import type { StepView } from '../run-store.ts';
import { OutcomeBadge } from '../ui/mark.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { DECISION_SHOWN } from './derive.ts';
import { Edits } from './edits.tsx';
import { Evidence } from './evidence.tsx';
import { Gate } from './gate.tsx';
import { RolloutGrid } from './rollout-grid.tsx';
import { useRun } from './state.ts';
import { ValidationGrid } from './validation-grid.tsx';

/** One step: its rollouts, evidence, edits and gate. Step 0 is the validation of the initial context alone. */
export function StepPanel() {
  const { shown, url, go } = useRun();
  const step = createMemo((): StepView | undefined => {
    const current = shown();
    return current === 'result' ? undefined : current;
  });
  return (
    <Show when={step()}>
      {(current) => (
        <Show when={current().step > 0} fallback={<InitialValidation step={current()} />}>
          <p class="step-line text-2">
            <strong>Step {current().step}</strong>, epoch {current().epoch} · {plural(current().taskIds.length, 'task')} × {current().k} ·
            at most {plural(current().budget, 'edit')}
            <Show when={current().record}>
              {(record) => (
                <>
                  {' '}
                  <OutcomeBadge outcome={DECISION_SHOWN[record().decision].outcome}>{DECISION_SHOWN[record().decision].word}</OutcomeBadge>
                </>
              )}
            </Show>
          </p>
          <Tabs
            label="Parts of the step"
            selected={url().tab}
            onSelect={(tab) => go({ tab }, true)}
            tabs={[
              { id: 'rollouts', title: 'Rollouts', count: current().rollouts.size, panel: () => <RolloutGrid step={current()} /> },
              { id: 'evidence', title: 'Evidence', count: current().cards.length, panel: () => <Evidence step={current()} /> },
              {
                id: 'edits',
                title: 'Edits',
                count: current().record?.edits.proposed.length ?? current().applied.length,
                panel: () => <Edits step={current()} />,
              },
              { id: 'gate', title: 'Gate', panel: () => <Gate step={current()} /> },
            ]}
          />
        </Show>
      )}
    </Show>
  );
}

function InitialValidation(props: { readonly step: StepView }) {
  return (
    <div class="tab-panel">
      <p class="step-line text-2">
        <strong>Start</strong>: the initial context on the whole validation split, each task once at the evaluation temperature. This is
        what the first candidate has to beat.
      </p>
      <ValidationGrid step={props.step} />
    </div>
  );
}
