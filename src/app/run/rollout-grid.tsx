import { createEffect, createMemo, createSelector, createSignal, For, Index, onCleanup, Show } from 'solid-js';
import type { Rollout } from '../../core/types.ts';
import { plural } from '../format.ts';
import type { StepView } from '../run-store.ts';
import { MARKS, Mark } from '../ui/mark.tsx';
import { Empty } from '../ui/panel.tsx';
import { cellsOf, filterTasks, outcomeOf, ROUTE_NOTES, ROUTE_WORDS, ROW_GROUPS, type RowGroup, routeOutcome, rowGroup } from './derive.ts';
import { FilterBar } from './filter-bar.tsx';
import { moveInGrid } from './grid-keys.ts';
import { useRun } from './state.ts';

/** A line of the grid: the head of a route, or a task. */
type Line = { readonly group: RowGroup; readonly count: number } | { readonly id: string };

/** Lines built in one go. More are added frame by frame, so that a large step does not block the page. */
const LINES_A_FRAME = 16;
/** Most lines shown; beyond it people search rather than read. */
const MAX_LINES = 600;

/**
 * Tasks × K rollouts of one step, grouped by route. Arrow keys move, Enter opens the transcript. Lines are reused in place and
 * events are handled by the table, because a step changes all lines at once.
 */
export function RolloutGrid(props: { readonly step: StepView }) {
  const { view, url, go } = useRun();
  const cells = createMemo(() => cellsOf(props.step));
  const tasks = createMemo(() => filterTasks(view(), props.step, url().filter, url().query));
  const lines = createMemo((): Line[] =>
    ROW_GROUPS.flatMap((group) => {
      const ids = tasks().filter((id) => rowGroup(props.step, id) === group);
      return ids.length === 0 ? [] : [{ group, count: ids.length }, ...ids.map((id) => ({ id }))];
    }),
  );
  const [room, setRoom] = createSignal(LINES_A_FRAME);
  const shown = createMemo(() => lines().slice(0, room()));
  createEffect(() => {
    if (room() >= Math.min(MAX_LINES, lines().length)) return;
    const frame = requestAnimationFrame(() => setRoom(room() + LINES_A_FRAME));
    onCleanup(() => cancelAnimationFrame(frame));
  });
  const order = createMemo(() => shown().flatMap((line) => ('id' in line ? [line.id] : [])));
  const [active, setActive] = createSignal<string>();
  /** The one cell in the tab order: the last one focused, or the first where that one is not shown. */
  const current = createMemo(() => {
    const key = active();
    return key !== undefined && order().includes(splitKey(key)[0]) ? key : `${order()[0]}.0`;
  });
  const isCurrent = createSelector(current);
  let grid!: HTMLTableElement;

  const onKey = (event: KeyboardEvent) => {
    const ids = order();
    const [task, column] = splitKey(keyOf(event) ?? current());
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
  const onOpen = (event: MouseEvent) => {
    const [task, k] = splitKey(keyOf(event) ?? '');
    const rollout = cells().get(task)?.[k];
    if (rollout) go({ cell: rollout.id, card: undefined });
  };
  return (
    <div class="stack">
      <FilterBar
        shown={tasks().length}
        total={props.step.taskIds.length}
        before="Tasks whose successes changed since the step that tried them last"
      />
      <Show when={tasks().length > 0} fallback={<NoTask empty={props.step.taskIds.length === 0} />}>
        <table
          ref={grid}
          class="grid"
          // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: the ARIA grid pattern on a real table
          role="grid"
          aria-label={`Rollouts of step ${props.step.step}`}
          onKeyDown={onKey}
          onClick={onOpen}
          onFocusIn={(event) => setActive(keyOf(event))}
        >
          <colgroup>
            <col />
            <For each={Array.from({ length: props.step.k })}>{() => <col class="col-cell" />}</For>
            <col class="col-sum" />
          </colgroup>
          <tbody>
            <Index each={shown()}>
              {(line) => (
                <Show
                  when={groupOf(line())}
                  fallback={<TaskRow id={taskOf(line())} cells={cells()} k={props.step.k} isCurrent={isCurrent} />}
                >
                  {(head) => <GroupHead name={head().group} count={head().count} columns={props.step.k + 2} />}
                </Show>
              )}
            </Index>
          </tbody>
        </table>
      </Show>
      <Show when={lines().length > MAX_LINES}>
        <p class="small text-2">The first {MAX_LINES} lines are shown. A filter or a search narrows the list.</p>
      </Show>
      <Show when={props.step.duplicates > 0}>
        <p class="small text-2">
          {plural(props.step.duplicates, 'rollout')} repeated another of the same task word for word; critics read such only once.
        </p>
      </Show>
    </div>
  );
}

function NoTask(props: { readonly empty: boolean }) {
  const { url } = useRun();
  const words = () => {
    if (props.empty) return 'The rollouts of this step will appear here, one row a task.';
    if (url().filter === 'different') return 'No task of this step turned out differently from the last time it was tried.';
    return 'No task matches. Choose "All" or clear the search.';
  };
  return <Empty>{words()}</Empty>;
}

function GroupHead(props: { readonly name: RowGroup; readonly count: number; readonly columns: number }) {
  return (
    <tr class="grid-head">
      <th scope="col" colspan={props.columns}>
        <Mark outcome={routeOutcome(props.name)} /> <strong>{ROUTE_WORDS[props.name]}</strong> <span class="num">{props.count}</span>{' '}
        <span class="text-2 small">{ROUTE_NOTES[props.name]}</span>
      </th>
    </tr>
  );
}

function TaskRow(props: {
  readonly id: string;
  readonly cells: ReadonlyMap<string, readonly (Rollout | undefined)[]>;
  readonly k: number;
  readonly isCurrent: (key: string) => boolean;
}) {
  const { view } = useRun();
  const task = () => view().tasks.get(props.id);
  const won = () => props.cells.get(props.id)?.filter((rollout) => rollout?.success).length ?? 0;
  return (
    <tr class="grid-row">
      <th scope="row" class="cut" title={task()?.input}>
        <span class="type mono">{task()?.type ?? ''}</span> {task()?.input ?? props.id}
      </th>
      <Index each={Array.from({ length: props.k })}>
        {(_, k) => <Cell cellKey={`${props.id}.${k}`} k={k} rollout={props.cells.get(props.id)?.[k]} isCurrent={props.isCurrent} />}
      </Index>
      <td class="num text-2 grid-sum">
        {won()}/{props.k}
      </td>
    </tr>
  );
}

function Cell(props: {
  readonly cellKey: string;
  readonly k: number;
  readonly rollout: Rollout | undefined;
  readonly isCurrent: (key: string) => boolean;
}) {
  const label = () => {
    const rollout = props.rollout;
    if (!rollout) return `Try ${props.k + 1}: not yet run`;
    const word = rollout.finish === 'error' ? 'could not run' : MARKS[outcomeOf(rollout)].word;
    return `Try ${props.k + 1}: ${word}, ${plural(rollout.turns.length, 'turn')}, ${rollout.finish}`;
  };
  return (
    <td>
      <button
        type="button"
        class={`cell ${outcomeOf(props.rollout)}`}
        data-cell={props.cellKey}
        tabindex={props.isCurrent(props.cellKey) ? 0 : -1}
        aria-label={label()}
      >
        <span class="mark" aria-hidden="true">
          {MARKS[outcomeOf(props.rollout)].mark}
        </span>
      </button>
    </td>
  );
}

function groupOf(line: Line) {
  return 'group' in line ? line : undefined;
}

function taskOf(line: Line): string {
  return 'id' in line ? line.id : '';
}

/** The cell in which an event happened, if it did in one. */
function keyOf(event: Event): string | undefined {
  const cell = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-cell]') : null;
  return cell?.dataset.cell;
}

/** `task.k` → task and k; task ids may hold dots. */
function splitKey(key: string): readonly [string, number] {
  const dot = key.lastIndexOf('.');
  return [key.slice(0, dot), Number(key.slice(dot + 1))];
}
