import { createMemo, For, Match, Show, Switch } from 'solid-js';
import { formatRate, plural } from '../format.ts';
import { showToken } from '../probe/token-text.ts';
import { CommandButton } from '../ui/command-button.tsx';
import { TableActions, type TableData } from '../ui/data-table.tsx';
import { Mark } from '../ui/mark.tsx';
import { Empty } from '../ui/panel.tsx';
import { clusterName, findPair, findTrajectory, shortId } from './derive.ts';
import { Pair } from './pair.tsx';
import type { ForestView, UpdateView } from './pearl-store.ts';
import { usePearl } from './state.ts';
import { Trajectory } from './trajectory.tsx';
import { RolloutTree } from './tree.tsx';
import '../ui/data-table.css';

/** One update from the inside: its prompts, the tree of each, its pairs, and any rollout or pair of them. */
export function Inspector() {
  const { view, url, go, update } = usePearl();
  const forests = createMemo(() => [...(update()?.forests.values() ?? [])]);
  const trajectory = createMemo(() => {
    const id = url().trajectory;
    return id === undefined ? undefined : findTrajectory(view(), id);
  });
  const pair = createMemo(() => {
    const id = url().pair;
    return id === undefined ? undefined : findPair(view(), id);
  });
  /** The prompt that is asked for, else that of what is open, else the first. */
  const forest = createMemo(() => {
    const wanted = [url().task, trajectory()?.forest.task.id, pair()?.pair.taskId];
    return forests().find(({ task }) => wanted.find((id) => id !== undefined) === task.id) ?? forests()[0];
  });
  const marked = createMemo((): readonly string[] => {
    const found = trajectory() ? undefined : pair()?.pair;
    return found ? [found.parentId, found.branchId] : [];
  });
  return (
    <Show when={update()} fallback={<Empty>The rollouts of an update will appear here as soon as its first prompt has been played.</Empty>}>
      {(current) => (
        <div class="stack inspector">
          <UpdateBar update={current()} />
          <div class="inspector-pair">
            <div class="stack">
              <Prompts forests={forests()} selected={forest()?.task.id} update={current()} />
              <Show
                when={forest()}
                fallback={
                  <Empty>
                    The page no longer holds the rollouts of this update, to save memory; the run does. Its pairs and figures are still
                    here.
                  </Empty>
                }
              >
                {(one) => (
                  <RolloutTree
                    forest={one()}
                    update={current()}
                    selected={url().trajectory}
                    marked={marked()}
                    onSelect={(id) => go({ trajectory: id, update: current().update })}
                  />
                )}
              </Show>
            </div>
            <section class="inspector-detail" aria-label="Chosen rollout or pair">
              <Switch fallback={<Pairs update={current()} />}>
                <Match when={trajectory()}>{(found) => <Trajectory found={found()} />}</Match>
                <Match when={pair()}>{(found) => <Pair pair={found().pair} update={found().update} />}</Match>
              </Switch>
            </section>
          </div>
        </div>
      )}
    </Show>
  );
}

function UpdateBar(props: { readonly update: UpdateView }) {
  const { view, url, go } = usePearl();
  const record = () => props.update.record;
  return (
    <div class="row spread">
      <div class="row">
        <CommandButton id="step.previous" class="small" />
        <label class="row">
          <span class="visually-hidden">Update</span>
          <select
            class="input small-select"
            value={props.update.update}
            onChange={(event) => go({ update: Number(event.currentTarget.value), task: undefined, trajectory: undefined, pair: undefined })}
          >
            <For each={[...view().updates.keys()]}>
              {(number) => (
                <option value={number} selected={number === props.update.update}>
                  Update {number}
                </option>
              )}
            </For>
          </select>
        </label>
        <CommandButton id="step.next" class="small" />
        <Show when={url().update !== 'live' && !view().finished}>
          <CommandButton id="step.live" class="small">
            Follow
          </CommandButton>
        </Show>
      </div>
      <Show when={record()} fallback={<span class="small text-2">being played …</span>}>
        {(done) => (
          <span class="small text-2">
            {formatRate(done().success)} of {plural(done().trajectories, 'rollout')} succeeded ·{' '}
            {plural(done().branches, 'branch', 'branches')} · {plural(done().pairs, 'discordant pair')} · skipped:{' '}
            {done().skipped['equal-reward']} equal, {done().skipped['no-difference'] + done().skipped['outside-action']} without a
            difference · {done().shaping.active ? `${plural(done().shaping.tokens, 'token')} shaped` : 'nothing shaped'}
          </span>
        )}
      </Show>
    </div>
  );
}

function Prompts(props: { readonly forests: readonly ForestView[]; readonly selected: string | undefined; readonly update: UpdateView }) {
  const { go } = usePearl();
  return (
    <ul class="prompts" aria-label="Prompts of the update">
      <For each={props.forests}>
        {({ task, trajectories }) => {
          const won = trajectories.filter(({ success }) => success).length;
          return (
            <li>
              <button
                type="button"
                class="prompt"
                aria-current={props.selected === task.id ? 'true' : undefined}
                title={task.input}
                onClick={() => go({ task: task.id, trajectory: undefined, pair: undefined, update: props.update.update }, true)}
              >
                <span class="cut">
                  <span class="type mono">{task.type}</span> {task.input}
                </span>
                <span class="num small">
                  <Mark outcome="success" /> {won} <Mark outcome="failure" /> {trajectories.length - won}
                </span>
              </button>
            </li>
          );
        }}
      </For>
    </ul>
  );
}

/** The update's discordant pairs. */
function Pairs(props: { readonly update: UpdateView }) {
  const { view, go } = usePearl();
  const matchWords = (match: { readonly cluster: number; readonly multiplier: number } | undefined) =>
    !match ? '' : match.cluster < 0 ? 'none' : `${clusterName('failure', match.cluster)} ×${match.multiplier.toFixed(2)}`;
  const table = (): TableData => ({
    columns: ['pair', 'task', 'parent', 'branch', 'turn', 'failure token', 'success token', 'cluster', 'multiplier'],
    rows: props.update.pairs.map((pair) => [
      pair.id,
      pair.taskId,
      pair.parentId,
      pair.branchId,
      pair.lower.turn + 1,
      pair.lower.tokenText,
      pair.higher.tokenText,
      pair.lowerMatch?.cluster ?? null,
      pair.lowerMatch?.multiplier ?? null,
    ]),
  });
  return (
    <div class="stack">
      <div class="row spread">
        <h3>Discordant pairs</h3>
        <Show when={props.update.pairs.length > 0}>
          <div>
            <TableActions name={`pairs-${props.update.update}`} data={table} />
          </div>
        </Show>
      </div>
      <Show
        when={props.update.pairs.length > 0}
        fallback={
          <Empty>
            {props.update.record
              ? 'No branch of this update ended differently from its parent, so nothing entered the memory.'
              : 'Branches that end differently from their parents will be listed here when the update has been played.'}
          </Empty>
        }
      >
        <div class="table-scroll">
          <table class="table pairs-table">
            <caption class="visually-hidden">Discordant pairs of update {props.update.update}</caption>
            <thead>
              <tr>
                <th scope="col">Parent and branch</th>
                <th scope="col">Failed with</th>
                <th scope="col">Succeeded with</th>
                <th scope="col">Cluster</th>
              </tr>
            </thead>
            <tbody>
              <For each={props.update.pairs}>
                {(pair) => (
                  <tr>
                    <th scope="row">
                      <button
                        type="button"
                        class="link"
                        onClick={() => go({ pair: pair.id, task: pair.taskId, update: props.update.update, trajectory: undefined })}
                      >
                        {shortId(pair.parentId)} / {shortId(pair.branchId)}, turn {pair.lower.turn + 1}
                      </button>
                      <span class="note cut">{view().tasks.get(pair.taskId)?.input ?? pair.taskId}</span>
                    </th>
                    <td class="mono">{showToken(pair.lower.tokenText)}</td>
                    <td class="mono">{showToken(pair.higher.tokenText)}</td>
                    <td class="num">{matchWords(pair.lowerMatch) || '–'}</td>
                  </tr>
                )}
              </For>
            </tbody>
          </table>
        </div>
        <p class="small text-2">Choose a pair to see both sides, or a rollout of the tree to read it whole.</p>
      </Show>
    </div>
  );
}
