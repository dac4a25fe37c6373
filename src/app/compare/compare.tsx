import { useSearchParams } from '@solidjs/router';
import { createMemo, createResource, createSignal, For, Show } from 'solid-js';
import { toPlainError } from '../../core/errors.ts';
import type { PearlResult } from '../../lab/pearl-result.ts';
import type { TextualResult } from '../../lab/result.ts';
import type { LabService, RunSummary } from '../../lab/service.ts';
import { ChartFigure } from '../chart/chart-figure.tsx';
import { TrendChart, type TrendSeries } from '../chart/trend-chart.tsx';
import { ABSENT, formatAgo, formatInterval, formatRate, plural } from '../format.ts';
import { useLab } from '../lab.ts';
import { trendTable } from '../pearl/trends.ts';
import { StatusBadge } from '../run-status.tsx';
import { Page } from '../shell/page.tsx';
import { TableActions, type TableData } from '../ui/data-table.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { Empty, Panel } from '../ui/panel.tsx';
import {
  bandOf,
  type ComparedRun,
  comparedRun,
  compareReport,
  findings,
  type Grouping,
  groupRuns,
  MEASURES,
  type Measure,
  reportSplit,
} from './compare-model.ts';
import '../ui/data-table.css';
import './compare.css';

const TONES = ['g1', 'g2', 'g3', 'g4', 'g5', 'g6'] as const;
const LISTED = Object.keys(MEASURES) as Measure[];

interface Loaded {
  readonly runs: readonly ComparedRun[];
  readonly failed: readonly { readonly name: string; readonly message: string; readonly hint: string }[];
}

/** Runs side by side: curves with bands over seeds, only what differs in their configurations, and what the numbers can tell. */
export function Compare() {
  const lab = useLab();
  const [params, setParams] = useSearchParams<{ runs?: string; reference?: string }>();
  const [all] = createResource(() => lab.listRuns());
  const chosen = createMemo(() => (params.runs ?? '').split(',').filter(Boolean));
  const source = () => {
    const known = all();
    return known ? { ids: chosen(), known } : undefined;
  };
  const [loaded] = createResource(source, ({ ids, known }) => load(lab, ids, known));
  const grouping = createMemo(() => groupRuns(loaded.latest?.runs ?? []));
  const toggle = (id: string, on: boolean) => {
    const ids = on ? [...chosen(), id] : chosen().filter((one) => one !== id);
    setParams({ runs: ids.length > 0 ? ids.join(',') : undefined }, { replace: true, scroll: false });
  };
  return (
    <Page title="Compare runs" class="compare">
      <div class="page-narrow stack">
        <div>
          <h1>Compare runs</h1>
          <p class="text-2">
            Runs of the same configuration and different seeds form one group. One seed cannot tell a small difference from chance.
          </p>
        </div>
        <Panel title="Runs" loading="Reading the runs kept in this browser …">
          <Picker runs={all() ?? []} chosen={chosen()} onToggle={toggle} />
        </Panel>
        <For each={loaded.latest?.failed}>
          {({ name, message, hint }) => <ErrorNote error={{ code: 'compare', message: `${name}: ${message}`, hint }} />}
        </For>
        <Show
          when={grouping().groups.length > 0}
          fallback={<Empty>{loaded.loading ? 'Reading the results …' : 'Tick two or more finished runs above to compare them.'}</Empty>}
        >
          <Report
            grouping={grouping()}
            reference={params.reference}
            onReference={(reference) => setParams({ reference }, { replace: true, scroll: false })}
          />
          <Differences grouping={grouping()} />
          <Charts grouping={grouping()} />
        </Show>
      </div>
    </Page>
  );
}

/** Results are rebuilt from the journals one after the other; one that fails does not hide the others. */
async function load(lab: LabService, ids: readonly string[], known: readonly RunSummary[]): Promise<Loaded> {
  const runs: ComparedRun[] = [];
  const failed: { name: string; message: string; hint: string }[] = [];
  for (const id of ids) {
    const name = known.find((run) => run.id === id)?.name ?? id;
    try {
      const { bytes } = await lab.exportRun(id, 'result');
      runs.push(comparedRun(id, name, JSON.parse(new TextDecoder().decode(bytes)) as TextualResult | PearlResult));
    } catch (cause) {
      const { message, hint } = toPlainError(cause);
      failed.push({ name, message, hint });
    }
  }
  return { runs, failed };
}

function Picker(props: {
  readonly runs: readonly RunSummary[];
  readonly chosen: readonly string[];
  readonly onToggle: (id: string, on: boolean) => void;
}) {
  const ended = (run: RunSummary) => run.recorded || run.status === 'finished' || run.status === 'stopped';
  const sorted = () => [...props.runs].sort((a, b) => b.createdAt - a.createdAt);
  return (
    <Show when={props.runs.length > 0} fallback={<Empty>Runs will be listed here once there are any. Start one on the home page.</Empty>}>
      <ul class="compare-runs">
        <For each={sorted()}>
          {(run) => (
            <li>
              <label class="check">
                <input
                  type="checkbox"
                  checked={props.chosen.includes(run.id)}
                  disabled={!ended(run) && !props.chosen.includes(run.id)}
                  onChange={(event) => props.onToggle(run.id, event.currentTarget.checked)}
                />
                <span>
                  {run.name} <span class="text-2 num small">seed {run.seed}</span>{' '}
                  <span class="text-2 small">
                    {run.kind === 'pearl' ? 'training' : 'TextualRL'} · {formatAgo(run.createdAt, Date.now())}
                  </span>
                </span>
              </label>
              <Show when={!ended(run)}>
                <StatusBadge status={run.status} />
              </Show>
            </li>
          )}
        </For>
      </ul>
    </Show>
  );
}

/** The numbers with what they rest on, and in words whether a difference is more than noise. */
function Report(props: {
  readonly grouping: Grouping;
  readonly reference: string | undefined;
  readonly onReference: (label: string) => void;
}) {
  const groups = () => props.grouping.groups;
  const reference = () => groups().find(({ label }) => label === props.reference)?.label ?? groups()[0]?.label ?? '';
  const report = createMemo(() => compareReport(props.grouping, reference()));
  const split = createMemo(() => reportSplit(groups().flatMap(({ runs }) => runs)));
  const sentences = () => {
    const known = report();
    return known ? findings(known) : [];
  };
  const rows = createMemo(() =>
    groups().map((group) => {
      const name = split();
      const scores = group.runs.flatMap((run) => (name && run.final[name] ? [run.final[name]] : []));
      const mean = scores.reduce((sum, { rate }) => sum + rate, 0) / Math.max(1, scores.length);
      return { group, scores, mean, arm: report()?.arms.find(({ arm }) => arm === group.label) };
    }),
  );
  const table = (): TableData => ({
    columns: [
      'group',
      'seeds',
      'tasks',
      'mean success',
      'standard deviation over seeds',
      'difference (points)',
      '95% margin (points)',
      'verdict',
    ],
    rows: rows().map(({ group, scores, mean, arm }) => [
      group.label,
      group.runs.map(({ seed }) => seed).join(' '),
      scores[0]?.n ?? null,
      scores.length > 0 ? mean : null,
      arm ? arm.final.sd : null,
      arm?.difference?.points ?? null,
      arm?.difference?.margin ?? null,
      arm?.difference?.verdict ?? null,
    ]),
  });
  return (
    <Panel
      title={split() ? `Success on the ${split() === 'test' ? 'test' : 'validation'} tasks` : 'Success'}
      actions={<TableActions name="comparison" data={table} />}
    >
      <Show when={split()} fallback={<p class="text-2">These runs have no split in common on which all were scored at their end.</p>}>
        <div class="stack">
          <Show when={groups().length > 1}>
            <label class="row">
              <span class="text-2">Compared with</span>
              <select class="input" value={reference()} onChange={(event) => props.onReference(event.currentTarget.value)}>
                <For each={groups()}>
                  {({ label }) => (
                    <option value={label} selected={label === reference()}>
                      {label}
                    </option>
                  )}
                </For>
              </select>
            </label>
          </Show>
          <div class="table-scroll">
            <table class="table compare-table">
              <caption class="visually-hidden">Success of every group at its end</caption>
              <thead>
                <tr>
                  <th scope="col">Group</th>
                  <th scope="col">Seeds</th>
                  <th scope="col" class="num">
                    Success
                  </th>
                  <th scope="col" class="num">
                    Difference
                  </th>
                </tr>
              </thead>
              <tbody>
                <For each={rows()}>
                  {({ group, scores, mean, arm }, g) => (
                    <tr>
                      <th scope="row" class="wrap">
                        <GroupKey index={g()} /> {group.label}
                      </th>
                      <td>
                        <For each={group.runs}>
                          {(run) => (
                            <a class="num seed-link" href={`#/run/${run.id}`}>
                              <span class="visually-hidden">Run with seed </span>
                              {run.seed}
                            </a>
                          )}
                        </For>
                      </td>
                      <td class="num">
                        {formatRate(mean)}
                        <span class="text-2 note">
                          {scores.length === 1 && scores[0]
                            ? `${plural(scores[0].n, 'task')} · ${formatInterval(scores[0].wilson)}`
                            : `${scores.length} seeds × ${plural(scores[0]?.n ?? 0, 'task')} · ${formatInterval(extent(scores.map(({ rate }) => rate)))}`}
                        </span>
                      </td>
                      <td class="num">
                        <Show when={arm?.difference} fallback={groups().length > 1 ? 'reference' : ABSENT}>
                          {(difference) => (
                            <>
                              {signedPoints(difference().points)}
                              <span class="text-2 note">
                                {difference().margin === undefined ? '' : `±${difference().margin?.toFixed(1)} · `}
                                {difference().verdict}
                              </span>
                            </>
                          )}
                        </Show>
                      </td>
                    </tr>
                  )}
                </For>
              </tbody>
            </table>
          </div>
          <ul class="sentences small">
            <For each={sentences()}>{(sentence) => <li>{sentence}</li>}</For>
            <Show when={groups().some(({ runs }) => runs.length > 1)}>
              <li class="text-2">Differences are between means over seeds, in points, with Welch's 95% margin.</li>
            </Show>
          </ul>
        </div>
      </Show>
    </Panel>
  );
}

function Differences(props: { readonly grouping: Grouping }) {
  const groups = () => props.grouping.groups;
  const table = (): TableData => ({
    columns: ['setting', ...groups().map(({ label }) => label)],
    rows: props.grouping.differences.map(({ path, values }) => [path, ...values.map((value) => (value === null ? null : String(value)))]),
  });
  return (
    <Panel title="Only what differs" actions={<TableActions name="differences" data={table} />}>
      <Show
        when={props.grouping.differences.length > 0}
        fallback={
          <p class="text-2">
            {groups().length > 1
              ? 'Nothing differs but names.'
              : 'All these runs share one configuration; they differ in their seeds alone.'}
          </p>
        }
      >
        <div class="table-scroll">
          <table class="table">
            <caption class="visually-hidden">Settings in which the groups differ</caption>
            <thead>
              <tr>
                <th scope="col">Setting</th>
                <For each={groups()}>
                  {({ label }, g) => (
                    <th scope="col" class="wrap">
                      <GroupKey index={g()} /> {label}
                    </th>
                  )}
                </For>
              </tr>
            </thead>
            <tbody>
              <For each={props.grouping.differences}>
                {({ path, values }) => (
                  <tr>
                    <th scope="row" class="mono">
                      {path}
                    </th>
                    <For each={values}>{(value) => <td class="mono wrap">{value === null ? ABSENT : String(value)}</td>}</For>
                  </tr>
                )}
              </For>
            </tbody>
          </table>
        </div>
      </Show>
    </Panel>
  );
}

function Charts(props: { readonly grouping: Grouping }) {
  const [cursor, setCursor] = createSignal<number>();
  const kinds = createMemo(() => new Set(props.grouping.groups.flatMap(({ runs }) => runs.map(({ config }) => config.kind))));
  const charts = createMemo(() =>
    LISTED.flatMap((measure) => {
      const series = props.grouping.groups.flatMap((group, g): TrendSeries[] => {
        const points = bandOf(group, measure);
        if (points.length === 0) return [];
        return [{ title: group.label, tone: TONES[g % TONES.length] ?? 'g1', points, shape: 'line', band: group.runs.length > 1 }];
      });
      return series.length === 0 ? [] : [{ measure, series }];
    }),
  );
  return (
    <Show
      when={kinds().size < 2}
      fallback={
        <p class="text-2">
          TextualRL changes a text in steps and training changes weights in updates: their curves have no axis in common, so only their
          scores are compared.
        </p>
      }
    >
      <Panel title="Curves" loading="Drawing the curves …">
        <div class="compare-curves">
          <For each={charts()}>
            {({ measure, series }) => {
              const { title, unit, digits } = MEASURES[measure];
              const banded = series.some(({ band }) => band);
              return (
                <ChartFigure
                  title={title}
                  caption={
                    banded
                      ? 'Line: mean over the seeds of a group; band: from its lowest seed to its highest.'
                      : 'One seed a group, so no band.'
                  }
                  name={`compare-${measure}`}
                  table={() => trendTable({ series })}
                >
                  <TrendChart
                    label={`${title} of the compared groups`}
                    series={series}
                    xLabel={kinds().has('pearl') ? 'update' : 'step'}
                    yLabel={unit}
                    yDomain={unit === 'rate' ? [0, 1] : undefined}
                    formatY={(value) => value.toFixed(Number.isInteger(value) && digits === 0 ? 0 : digits || 1)}
                    height={168}
                    cursor={cursor()}
                    onCursor={setCursor}
                  />
                </ChartFigure>
              );
            }}
          </For>
        </div>
      </Panel>
    </Show>
  );
}

/** The line of a group as the charts draw it. */
function GroupKey(props: { readonly index: number }) {
  return (
    <svg width="20" height="8" aria-hidden="true" class={`group-key ${TONES[props.index % TONES.length] ?? ''}`}>
      <path class="line" d="M0 4H20" />
    </svg>
  );
}

function extent(values: readonly number[]): readonly [number, number] {
  return [Math.min(...values), Math.max(...values)];
}

function signedPoints(points: number): string {
  const text = Math.abs(points).toFixed(1);
  return text === '0.0' ? '±0.0' : `${points > 0 ? '+' : '−'}${text}`;
}
