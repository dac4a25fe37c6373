import { createMemo, createSignal, For, Show } from 'solid-js';
import type { TrajectoryView } from '../../pearl/types.ts';
import { plural } from '../format.ts';
import { MARKS } from '../ui/mark.tsx';
import { shortId, type TreeRow, treeRows } from './derive.ts';
import type { ForestView, UpdateView } from './pearl-store.ts';

const ROW = 26;
const LABEL = 118;
const MAX_STEP = 30;
const LANES = 236;

/**
 * The trajectories of one prompt as a tree. A line is a trajectory from where it parts from its parent to its end, a dot a turn
 * (the larger, the less sure the policy was), the mark its outcome. Arrows move: left to the parent, right to the first branch.
 */
export function RolloutTree(props: {
  readonly forest: ForestView;
  readonly update: UpdateView;
  readonly selected: string | undefined;
  /** Rows of the pair that is open. */
  readonly marked: readonly string[];
  readonly onSelect: (id: string) => void;
}) {
  const rows = createMemo(() => treeRows(props.forest));
  const turns = createMemo(() => Math.max(1, ...rows().map(({ trajectory }) => trajectory.turns.length)));
  const most = createMemo(() => Math.max(0.01, ...rows().flatMap(({ trajectory }) => trajectory.turns.map(({ probe }) => probe))));
  const step = () => Math.min(MAX_STEP, LANES / turns());
  const paired = createMemo(() => new Set(props.update.pairs.map(({ branchId }) => branchId)));
  const shaped = createMemo(() => {
    const counts = new Map<string, number>();
    for (const { trajectoryId, tokens } of props.update.shaped) counts.set(trajectoryId, (counts.get(trajectoryId) ?? 0) + tokens.length);
    return counts;
  });
  const [active, setActive] = createSignal<string>();
  const current = () => {
    const ids = rows().map(({ trajectory }) => trajectory.id);
    const wanted = active() ?? props.selected;
    return wanted !== undefined && ids.includes(wanted) ? wanted : ids[0];
  };
  let tree!: HTMLDivElement;
  const move = (event: KeyboardEvent) => {
    const all = rows();
    const at = all.findIndex(({ trajectory }) => trajectory.id === current());
    const child = all.findIndex(({ parentRow }) => parentRow === at);
    const next = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      ArrowLeft: all[at]?.parentRow,
      ArrowRight: child,
      Home: 0,
      End: all.length - 1,
    }[event.key];
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      const id = current();
      if (id) props.onSelect(id);
      return;
    }
    if (next === undefined) return;
    event.preventDefault();
    const row = all[next];
    if (row) tree.querySelector<HTMLElement>(`[data-row="${next}"]`)?.focus();
  };
  const label = ({ trajectory }: TreeRow) => {
    const origin = trajectory.parentId ? `, branch of ${shortId(trajectory.parentId)} at turn ${(trajectory.branchTurn ?? 0) + 1}` : '';
    const pair = paired().has(trajectory.id) ? ', ends differently from its parent' : '';
    const tokens = shaped().get(trajectory.id);
    return `${shortId(trajectory.id)}${origin}: ${outcomeOf(trajectory)}, ${plural(trajectory.turns.length, 'turn')}${pair}${
      tokens ? `, ${plural(tokens, 'token')} multiplied` : ''
    }`;
  };
  const lane = (row: number) => row * ROW + ROW / 2;
  const place = (turn: number) => LABEL + turn * step() + 8;

  return (
    <div class="rollout-tree" style={{ height: `${rows().length * ROW}px` }}>
      <svg width={place(turns()) + 12} height={rows().length * ROW} aria-hidden="true">
        <For each={rows()}>
          {({ trajectory, parentRow }, i) => {
            const from = () => trajectory.branchTurn ?? 0;
            const start = () => (parentRow >= 0 ? place(from()) : place(0));
            const end = () => place(trajectory.turns.length);
            return (
              <g class={outcomeOf(trajectory)}>
                <path
                  class="branch"
                  d={`M${start()} ${parentRow >= 0 ? lane(parentRow) : lane(i())}V${lane(i())}H${end()}`}
                  classList={{ discordant: paired().has(trajectory.id) }}
                />
                <For each={trajectory.turns.slice(from())}>
                  {(turn, t) => <circle class="turn" cx={place(from() + t())} cy={lane(i())} r={2 + (4 * turn.probe) / most()} />}
                </For>
                <text class="glyph" x={end()} y={lane(i()) + 4.5} text-anchor="middle">
                  {MARKS[outcomeOf(trajectory)].mark}
                </text>
              </g>
            );
          }}
        </For>
      </svg>
      <div ref={tree} role="tree" aria-label="Rollouts of the prompt" class="tree-rows" onKeyDown={move}>
        <For each={rows()}>
          {(row, i) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keys
            // biome-ignore lint/a11y/useFocusableInteractive: the tab index is set below, for one item at a time
            <div
              role="treeitem"
              class="tree-row"
              classList={{ marked: props.marked.includes(row.trajectory.id) }}
              data-row={i()}
              aria-level={row.level + 1}
              aria-label={label(row)}
              aria-selected={props.selected === row.trajectory.id}
              tabindex={current() === row.trajectory.id ? 0 : -1}
              onFocus={() => setActive(row.trajectory.id)}
              onClick={() => props.onSelect(row.trajectory.id)}
            >
              <span class="mono">{shortId(row.trajectory.id)}</span>
              <Show when={row.trajectory.parentId}>
                {(parent) => (
                  <span class="text-2">
                    ↳ {shortId(parent())} · t{(row.trajectory.branchTurn ?? 0) + 1}
                  </span>
                )}
              </Show>
              <Show when={shaped().has(row.trajectory.id)}>
                <span class="tree-shaped num">×</span>
              </Show>
            </div>
          )}
        </For>
      </div>
    </div>
  );
}

function outcomeOf({ success, finish }: TrajectoryView): 'success' | 'failure' | 'running' {
  if (finish === 'error' || finish === 'cancelled') return 'running';
  return success ? 'success' : 'failure';
}
