import { createMemo, For, Show } from 'solid-js';
import { SPLITS, type Split } from '../../core/types.ts';
import type { Score } from '../../textual/types.ts';
import { formatDelta, formatInterval, formatRate, plural } from '../format.ts';
import { TableActions, type TableData } from '../ui/data-table.tsx';
import { Empty } from '../ui/panel.tsx';
import { improvementSentence, typeRows } from './result-text.ts';
import { useRun } from './state.ts';
import '../ui/data-table.css';

const SPLIT_WORDS: Readonly<Record<Split, string>> = {
  train: 'Training',
  val: 'Validation',
  test: 'Test',
  unseen: 'Unseen pairs',
};

/** What the run found: before and after on every split, what it means in a sentence, and where the gain comes from. */
export function Result() {
  const { view } = useRun();
  const rows = createMemo(() =>
    SPLITS.map((split) => ({ split, before: view().scores.initial[split], after: view().scores.best[split] ?? unchanged(split) })).filter(
      ({ before, after }) => before || after,
    ),
  );
  /** Where no candidate was accepted, the best context is the initial one. */
  function unchanged(split: Split): Score | undefined {
    return view().finished && view().bestStep === 0 ? view().scores.initial[split] : undefined;
  }
  const table = (): TableData => ({
    columns: ['split', 'n', 'before', 'before low', 'before high', 'after', 'after low', 'after high', 'difference'],
    rows: rows().map(({ split, before, after }) => [
      split,
      after?.n ?? before?.n ?? null,
      before?.rate ?? null,
      before?.wilson[0] ?? null,
      before?.wilson[1] ?? null,
      after?.rate ?? null,
      after?.wilson[0] ?? null,
      after?.wilson[1] ?? null,
      before && after ? after.rate - before.rate : null,
    ]),
  });
  return (
    <div class="tab-panel stack">
      <Show when={rows().length > 0} fallback={<Empty>The result will appear here once the last step is tested.</Empty>}>
        <Headline />
        <div>
          <div class="row spread">
            <h3>Before and after</h3>
            <div>
              <TableActions name="before-after" data={table} />
            </div>
          </div>
          <div class="table-scroll">
            <table class="table result-table">
              <caption class="visually-hidden">Success before and after on every split, with 95% intervals</caption>
              <thead>
                <tr>
                  <th scope="col">Split</th>
                  <th scope="col" class="num">
                    Tasks
                  </th>
                  <th scope="col" class="num">
                    Initial context
                  </th>
                  <th scope="col" class="num">
                    Best context
                  </th>
                  <th scope="col" class="num">
                    Difference
                  </th>
                </tr>
              </thead>
              <tbody>
                <For each={rows()}>
                  {({ split, before, after }) => (
                    <tr>
                      <th scope="row">{SPLIT_WORDS[split]}</th>
                      <td class="num">{after?.n ?? before?.n}</td>
                      <td class="num">
                        <Rate score={before} />
                      </td>
                      <td class="num">
                        <Rate score={after} strong />
                      </td>
                      <td class="num">{before && after ? formatDelta(after.rate - before.rate) : '–'}</td>
                    </tr>
                  )}
                </For>
              </tbody>
            </table>
          </div>
          <p class="small text-2">
            Success rate at the evaluation temperature with its 95% Wilson interval. Only validation was used to choose.
          </p>
        </div>
        <ByType />
      </Show>
    </div>
  );
}

function Rate(props: { readonly score: Score | undefined; readonly strong?: boolean }) {
  return (
    <Show when={props.score} fallback="–">
      {(score) => (
        <>
          <span classList={{ strong: props.strong === true }}>{formatRate(score().rate)}</span>
          <span class="text-2 interval"> {formatInterval(score().wilson)}</span>
        </>
      )}
    </Show>
  );
}

function Headline() {
  const { view } = useRun();
  const split = () => (view().scores.initial.test ? ('test' as const) : ('val' as const));
  const pair = () => {
    const before = view().scores.initial[split()];
    const after = view().scores.best[split()] ?? (view().bestStep === 0 ? before : undefined);
    return before && after ? { before, after } : undefined;
  };
  return (
    <Show when={pair()}>
      {(scores) => (
        <div class="headline">
          <p class="headline-figures num">
            <span class="text-2">{formatRate(scores().before.rate)}</span>
            <span class="text-2" aria-hidden="true">
              {' '}
              →{' '}
            </span>
            <strong>{formatRate(scores().after.rate)}</strong>
          </p>
          <p>{improvementSentence(scores().before, scores().after, split())}</p>
          <Show when={view().finished}>
            {(finished) => (
              <p class="text-2">
                {finished().best.step === 0
                  ? 'No candidate passed the gate, so the initial context is the result.'
                  : `The best context comes from step ${finished().best.step} of ${plural(view().totalSteps, 'step')}.`}
                {finished().stopped ? ' The run was stopped early.' : ''}
              </p>
            )}
          </Show>
        </div>
      )}
    </Show>
  );
}

function ByType() {
  const { view } = useRun();
  const rows = createMemo(() => typeRows(view().scores.initial.test, view().scores.best.test ?? view().scores.initial.test));
  return (
    <Show when={rows().length > 0}>
      <div>
        <h3>Test by type of task</h3>
        <div class="table-scroll">
          <table class="table">
            <caption class="visually-hidden">Test success by type of task, before and after</caption>
            <thead>
              <tr>
                <th scope="col">Type</th>
                <th scope="col" class="num">
                  Tasks
                </th>
                <th scope="col" class="num">
                  Before
                </th>
                <th scope="col" class="num">
                  After
                </th>
                <th scope="col" class="num">
                  Difference
                </th>
              </tr>
            </thead>
            <tbody>
              <For each={rows()}>
                {(row) => (
                  <tr>
                    <th scope="row" class="mono">
                      {row.type}
                    </th>
                    <td class="num">{row.n}</td>
                    <td class="num">{formatRate(row.before)}</td>
                    <td class="num">{formatRate(row.after)}</td>
                    <td class="num">{formatDelta(row.after - row.before)}</td>
                  </tr>
                )}
              </For>
            </tbody>
          </table>
        </div>
      </div>
    </Show>
  );
}
