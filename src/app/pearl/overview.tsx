import { createMemo, createSignal, For, Index, Show } from 'solid-js';
import { SPLITS, type Split } from '../../core/types.ts';
import type { PolicyScore } from '../../pearl/types.ts';
import { ChartFigure } from '../chart/chart-figure.tsx';
import { TrendChart } from '../chart/trend-chart.tsx';
import { ABSENT, formatCount, formatDelta, formatInterval, formatRate, plural } from '../format.ts';
import { type ExportOffer, Exports } from '../run/exports.tsx';
import { TableActions, type TableData } from '../ui/data-table.tsx';
import { Empty } from '../ui/panel.tsx';
import { usePearl } from './state.ts';
import { trends, trendTable } from './trends.ts';
import '../ui/data-table.css';

const SPLIT_WORDS: Readonly<Record<Split, string>> = {
  train: 'Training',
  val: 'Validation',
  test: 'Test',
  unseen: 'Unseen pairs',
};

const EXPORTS: readonly ExportOffer[] = [
  { format: 'result', title: 'JSON' },
  { format: 'bundle', title: 'Bundle' },
  { format: 'banks', title: 'Banks' },
  { format: 'advantages', title: 'Advantages' },
  { format: 'weights', title: 'Weights (MLC)' },
  { format: 'safetensors', title: 'Weights (safetensors)' },
];

/** Where the run stands in a few figures, before and after on every split, and everything that is measured per update. */
export function Overview() {
  const { session, view, go } = usePearl();
  const [cursor, setCursor] = createSignal<number>();
  // The view changes with every unit; the charts only with what they draw.
  const records = createMemo(() => view().records);
  const scores = createMemo(() => view().scores);
  const started = createMemo(() => view().started);
  const charts = createMemo(() => trends({ records: records(), scores: scores(), optimiser: started()?.optimiser }));
  const domain = createMemo((): readonly [number, number] => [0, Math.max(1, started()?.updates ?? 1)]);
  const open = (update: number) => {
    if (view().updates.has(update)) go({ tab: 'update', update, task: undefined, pair: undefined, trajectory: undefined });
  };
  return (
    <div class="stack pearl-overview">
      <Figures />
      <For each={view().notices}>{(notice) => <p class="pearl-notice small">{notice.message}</p>}</For>
      <Show
        when={view().records.length > 0}
        fallback={
          <Empty>After the first update its figures will be drawn here: success, pairs, banks, clusters, shaping, gradients.</Empty>
        }
      >
        <div class="pearl-curves">
          <Index each={charts()}>
            {(chart) => (
              <ChartFigure title={chart().title} caption={chart().caption} name={`pearl-${chart().id}`} table={() => trendTable(chart())}>
                <TrendChart
                  label={`${chart().title} by update`}
                  series={chart().series}
                  xLabel="update"
                  yLabel={chart().unit}
                  xDomain={domain()}
                  yDomain={chart().domain}
                  formatY={chart().format}
                  height={124}
                  cursor={cursor()}
                  onCursor={setCursor}
                  onChoose={open}
                />
              </ChartFigure>
            )}
          </Index>
        </div>
      </Show>
      <BeforeAfter />
      <Exports session={session} offers={EXPORTS} />
    </div>
  );
}

/** The state of the run as figures with what they rest on. */
function Figures() {
  const { view } = usePearl();
  const last = () => view().records.at(-1);
  const scored = () => {
    const { initial, final, during } = view().scores;
    const split: Split = initial.test && (final.test || !view().finished) && final.test ? 'test' : 'val';
    const after = split === 'test' ? final.test : (final.val ?? during.at(-1));
    return { split, before: initial[split], after };
  };
  const isPearl = () => view().started?.optimiser === 'pearl';
  return (
    <dl class="figures">
      <div class="figure-wide">
        <dt>{scored().split === 'test' ? 'Test success, greedy' : 'Validation success, greedy'}</dt>
        <dd>
          <span class="num figure-value">
            <span class="text-2">{formatRate(scored().before?.rate)}</span> → <strong>{formatRate(scored().after?.rate)}</strong>
          </span>
          <span class="small text-2 num">
            <Show when={scored().after ?? scored().before} fallback="not measured yet">
              {(score) => (
                <>
                  {plural(score().n, 'task')} · {formatInterval(score().wilson)}
                </>
              )}
            </Show>
          </span>
        </dd>
      </div>
      <Figure
        title="Update"
        value={`${formatCount(view().records.length)} of ${formatCount(view().started?.updates ?? 0)}`}
        note={last() ? `${formatRate(last()?.success)} of rollouts won` : 'none finished yet'}
      />
      <Figure
        title="Discordant pairs"
        value={formatCount(view().records.reduce((sum, { pairs }) => sum + pairs, 0))}
        note={last() ? `${formatCount(last()?.pairs ?? 0)} in the last` : ''}
      />
      <Show when={isPearl()}>
        <Figure
          title="Memory"
          value={`${formatCount(view().banks.failure.size)} ✕ · ${formatCount(view().banks.success.size)} ●`}
          note="failures and successes"
        />
        <Figure
          title="Failure clusters"
          value={last() ? `${last()?.clusters.kept} of ${last()?.clusters.failure} kept` : ABSENT}
          note={last() ? `${last()?.clusters.vetoed} vetoed by success` : ''}
        />
        <Figure
          title="Shaped updates"
          value={`${formatCount(last()?.shaping.activeUpdates ?? 0)} of ${formatCount(view().records.length)}`}
          note={last()?.shaping.active ? `×${last()?.shaping.meanMultiplier.toFixed(2)} in the last` : 'not in the last'}
        />
      </Show>
    </dl>
  );
}

function Figure(props: { readonly title: string; readonly value: string; readonly note: string }) {
  return (
    <div>
      <dt>{props.title}</dt>
      <dd>
        <span class="num figure-value">{props.value}</span>
        <span class="small text-2">{props.note}</span>
      </dd>
    </div>
  );
}

/** Success of the policy before the first and after the last update. */
function BeforeAfter() {
  const { view } = usePearl();
  const rows = createMemo(() => {
    const { initial, final } = view().scores;
    return SPLITS.map((split) => ({ split, before: initial[split], after: final[split] })).filter(({ before, after }) => before || after);
  });
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
    <Show when={rows().length > 0}>
      <div>
        <div class="row spread">
          <h3>Before and after</h3>
          <div>
            <TableActions name="pearl-before-after" data={table} />
          </div>
        </div>
        <div class="table-scroll">
          <table class="table result-table">
            <caption class="visually-hidden">Greedy success of the policy before and after training, with 95% intervals</caption>
            <thead>
              <tr>
                <th scope="col">Split</th>
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
                {({ split, before, after }) => (
                  <tr>
                    <th scope="row">{SPLIT_WORDS[split]}</th>
                    <td class="num">{after?.n ?? before?.n}</td>
                    <td class="num">
                      <Rate score={before} />
                    </td>
                    <td class="num">
                      <Rate score={after} />
                    </td>
                    <td class="num">{before && after ? formatDelta(after.rate - before.rate) : ABSENT}</td>
                  </tr>
                )}
              </For>
            </tbody>
          </table>
        </div>
        <p class="small text-2">
          Greedy success with its 95% Wilson interval over tasks. It says nothing about other seeds: compare runs of several for that.
        </p>
      </div>
    </Show>
  );
}

function Rate(props: { readonly score: PolicyScore | undefined }) {
  return (
    <Show when={props.score} fallback={ABSENT}>
      {(score) => (
        <>
          <span>{formatRate(score().rate)}</span>
          <span class="text-2 interval"> {formatInterval(score().wilson)}</span>
        </>
      )}
    </Show>
  );
}
