import { createMemo, createSelector, createSignal, For, Show } from 'solid-js';
import type { Rollout } from '../../core/types.ts';
import { plural } from '../format.ts';
import type { StepView } from '../run-store.ts';
import { MARKS, Mark } from '../ui/mark.tsx';
import { Empty } from '../ui/panel.tsx';
import { cellsOf, filterTasks, outcomeOf, ROUTE_NOTES, ROUTE_WORDS, ROW_GROUPS, type RowGroup, routeOutcome, rowGroup } from './derive.ts';
import { FilterBar } from './filter-bar.tsx';
import { moveInGrid } from './grid-keys.ts';
import { useRun } from './state.ts';

/** Tasks × K rollouts of one step, grouped by route. Arrow keys move, Enter opens the transcript. */
export function RolloutGrid(props: { readonly step: StepView }) {
  const { view, url, go } = useRun();
  const cells = createMemo(() => cellsOf(props.step));
  const tasks = createMemo(() => filterTasks(view(), props.step, url().filter, url().query));
  const groups = createMemo(() => ROW_GROUPS.map((name) => ({ name, ids: tasks().filter((id) => rowGroup(props.step, id) === name) })));
  const order = createMemo(() => groups().flatMap(({ ids }) => ids));
  const [active, setActive] = createSignal<string>();
  const current = () => active() ?? `${order()[0]}.0`;
  const isCurrent = createSelector(current);
  let grid!: HTMLTableElement;

  const onKey = (event: KeyboardEvent) => {
    const ids = order();
    const [task, column] = splitKey(current());
    const next = moveInGrid(
      ids.map(() => props.step.k),
      { row: Math.max(0, ids.indexOf(task)), column },
      event.key,
      event.ctrlKey,
    );
    if (!next) return;
    event.preventDefault();
    grid.querySelector<HTMLElement>(`[data-cell="${CSS.escape(`${ids[next.row]}.${next.column}`)}"]`)?.focus();
  };
  return (
    <div class="stack">
      <FilterBar
        shown={tasks().length}
        total={props.step.taskIds.length}
        before="Tasks whose successes changed since the step that tried them last"
      />
      <Show
        when={tasks().length > 0}
        fallback={
          <Empty>
            {props.step.taskIds.length === 0
              ? 'The rollouts of this step will appear here, one row a task.'
              : url().filter === 'different'
                ? 'No task of this step turned out differently from the last time it was tried.'
                : 'No task matches. Choose "All" or clear the search.'}
          </Empty>
        }
      >
        {/* biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: the ARIA grid pattern on a real table */}
        <table ref={grid} class="grid" role="grid" aria-label={`Rollouts of step ${props.step.step}`} onKeyDown={onKey}>
          <colgroup>
            <col />
            <For each={Array.from({ length: props.step.k })}>{() => <col class="col-cell" />}</For>
            <col class="col-sum" />
          </colgroup>
          <For each={ROW_GROUPS}>
            {(name, at) => (
              <Show when={groups()[at()]!.ids.length > 0}>
                <tbody class="grid-group">
                  <GroupHead name={name} count={groups()[at()]!.ids.length} columns={props.step.k + 2} />
                  <For each={groups()[at()]!.ids}>
                    {(id) => (
                      <TaskRow
                        id={id}
                        group={name}
                        row={cells().get(id) ?? []}
                        isCurrent={isCurrent}
                        onFocus={setActive}
                        onOpen={(rollout) => go({ cell: rollout.id, card: undefined })}
                      />
                    )}
                  </For>
                </tbody>
              </Show>
            )}
          </For>
        </table>
      </Show>
      <Show when={props.step.duplicates > 0}>
        <p class="small text-2">
          {plural(props.step.duplicates, 'rollout')} repeated another of the same task word for word; critics read such only once.
        </p>
      </Show>
    </div>
  );
}

function GroupHead(props: { readonly name: RowGroup; readonly count: number; readonly columns: number }) {
  return (
    <tr class="grid-head">
      <th scope="rowgroup" colspan={props.columns}>
        <Mark outcome={routeOutcome(props.name)} /> <strong>{ROUTE_WORDS[props.name]}</strong> <span class="num">{props.count}</span>{' '}
        <span class="text-2 small">{ROUTE_NOTES[props.name]}</span>
      </th>
    </tr>
  );
}

function TaskRow(props: {
  readonly id: string;
  readonly group: RowGroup;
  readonly row: readonly (Rollout | undefined)[];
  readonly isCurrent: (key: string) => boolean;
  readonly onFocus: (key: string) => void;
  readonly onOpen: (rollout: Rollout) => void;
}) {
  const { view } = useRun();
  const task = () => view().tasks.get(props.id);
  const won = () => props.row.filter((rollout) => rollout?.success).length;
  return (
    <tr class="grid-row">
      <th scope="row" class="cut" title={task()?.input}>
        <span class="type mono">{task()?.type ?? ''}</span> {task()?.input ?? props.id}
      </th>
      <For each={props.row.map((_, k) => k)}>
        {(k) => (
          <Cell
            cellKey={`${props.id}.${k}`}
            k={k}
            rollout={props.row[k]}
            current={props.isCurrent(`${props.id}.${k}`)}
            onFocus={props.onFocus}
            onOpen={props.onOpen}
          />
        )}
      </For>
      <td class="num text-2 grid-sum">
        {won()}/{props.row.length}
      </td>
    </tr>
  );
}

function Cell(props: {
  readonly cellKey: string;
  readonly k: number;
  readonly rollout: Rollout | undefined;
  readonly current: boolean;
  readonly onFocus: (key: string) => void;
  readonly onOpen: (rollout: Rollout) => void;
}) {
  const outcome = createMemo(() => outcomeOf(props.rollout));
  const label = () => {
    const rollout = props.rollout;
    if (!rollout) return `Try ${props.k + 1}: not yet run`;
    return `Try ${props.k + 1}: ${rollout.finish === 'error' ? 'could not run' : MARKS[outcome()].word}, ${plural(rollout.turns.length, 'turn')}, ${rollout.finish}`;
  };
  return (
    <td>
      <button
        type="button"
        class={`cell ${outcome()}`}
        data-cell={props.cellKey}
        tabindex={props.current ? 0 : -1}
        aria-label={label()}
        onFocus={() => props.onFocus(props.cellKey)}
        onClick={() => {
          if (props.rollout) props.onOpen(props.rollout);
        }}
      >
        <span class="mark" aria-hidden="true">
          {MARKS[outcome()].mark}
        </span>
      </button>
    </td>
  );
}

/** `task.k` → task and k; task ids may hold dots. */
function splitKey(key: string): readonly [string, number] {
  const dot = key.lastIndexOf('.');
  return [key.slice(0, dot), Number(key.slice(dot + 1))];
}
