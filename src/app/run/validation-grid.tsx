import { createMemo, For, Show } from 'solid-js';
import type { StepView } from '../run-store.ts';
import { Mark } from '../ui/mark.tsx';
import { Empty } from '../ui/panel.tsx';
import { outcomeOf, referenceScore } from './derive.ts';
import { FilterBar } from './filter-bar.tsx';
import { useRun } from './state.ts';

/** The validation split under a step's candidate: one outcome a task, and whether it was gained or lost. */
export function ValidationGrid(props: { readonly step: StepView }) {
  const { view, url, go } = useRun();
  const before = createMemo(() => (props.step.step === 0 ? undefined : referenceScore(view(), props.step.step)));
  const rows = createMemo(() =>
    [...props.step.validation.values()].map((rollout) => {
      const task = view().tasks.get(rollout.taskId);
      const was = before()?.outcomes[rollout.taskId];
      const change = was === undefined || was === rollout.success ? undefined : rollout.success ? 'gained' : 'lost';
      return { rollout, task, change };
    }),
  );
  const shown = createMemo(() => {
    const words = url().query.toLowerCase().split(/\s+/).filter(Boolean);
    return rows().filter(({ rollout, task, change }) => {
      const filter = url().filter;
      if (filter === 'different' ? change === undefined : filter !== 'all' && outcomeOf(rollout) !== filter) return false;
      return words.every((word) => `${rollout.taskId} ${task?.type} ${task?.input}`.toLowerCase().includes(word));
    });
  });
  return (
    <div class="stack">
      <FilterBar shown={shown().length} total={rows().length} before="Tasks gained or lost against the reference" />
      <Show
        when={shown().length > 0}
        fallback={<Empty>{rows().length === 0 ? 'The validation tasks will appear here as they are played.' : 'No task matches.'}</Empty>}
      >
        <ul class="validation">
          <For each={shown()}>
            {({ rollout, task, change }) => (
              <li>
                <button type="button" class={`task-chip ${outcomeOf(rollout)}`} onClick={() => go({ cell: rollout.id, card: undefined })}>
                  <Mark outcome={outcomeOf(rollout)} />
                  <span class="cut">
                    <span class="type mono">{task?.type}</span> {task?.input ?? rollout.taskId}
                  </span>
                  <Show when={change}>
                    {(word) => <span class={`badge ${word() === 'gained' ? 'success' : 'failure'}`}>{word()}</span>}
                  </Show>
                </button>
              </li>
            )}
          </For>
        </ul>
      </Show>
    </div>
  );
}
