import { createMemo, For, Show } from 'solid-js';
import { CALL_ROLES } from '../../core/ledger.ts';
import { ChartFigure } from '../chart/chart-figure.tsx';
import { type ChartPoint, type ChartSeries, LineChart } from '../chart/line-chart.tsx';
import { formatInterval, formatRate, formatShort } from '../format.ts';
import { TableActions, type TableData } from '../ui/data-table.tsx';
import { DECISION_SHOWN } from './derive.ts';
import { useRun } from './state.ts';

const HEIGHT = 128;

/** Validation and tokens over the steps, and the tokens by role. */
export function Curves() {
  return (
    <div class="curves">
      <ValidationCurve />
      <TokenCurve />
      <TokensByRole />
    </div>
  );
}

function ValidationCurve() {
  const { view, go } = useRun();
  const records = createMemo(() =>
    [...view().steps.values()].flatMap(({ record }) => (record ? [record] : [])).sort((a, b) => a.step - b.step),
  );
  const reference = createMemo((): ChartPoint[] => {
    const initial = view().scores.initial.val;
    if (!initial) return [];
    const points: ChartPoint[] = [
      {
        x: 0,
        y: initial.rate,
        interval: initial.wilson,
        label: `start, reference ${formatRate(initial.rate)}, ${formatInterval(initial.wilson)}`,
      },
    ];
    for (const record of records()) {
      const score = record.decision === 'accepted' ? record.candidateScore : undefined;
      const rate = score?.rate ?? record.reference;
      points.push({ x: record.step, y: rate, label: `after step ${record.step}, reference ${formatRate(rate)}` });
    }
    return points;
  });
  const candidates = createMemo((): ChartPoint[] =>
    records().flatMap(({ step, candidateScore, decision }) =>
      candidateScore
        ? [
            {
              x: step,
              y: candidateScore.rate,
              interval: candidateScore.wilson,
              outcome: DECISION_SHOWN[decision].outcome,
              label: `step ${step}, candidate ${formatRate(candidateScore.rate)} (${formatInterval(candidateScore.wilson)}), ${decision}`,
            },
          ]
        : [],
    ),
  );
  const series = createMemo((): ChartSeries[] => [
    { title: 'reference', tone: 'accent', join: 'step', points: reference() },
    { title: 'candidate ● accepted ✕ rejected', tone: 'running', join: 'none', points: candidates() },
  ]);
  const caption = () => {
    const last = reference().at(-1);
    const first = reference()[0];
    if (!first || !last) return 'Shows success on the validation split, once the initial context is validated.';
    const n = view().scores.initial.val?.n ?? 0;
    return `Success on ${n} validation tasks: ${formatRate(first.y)} at the start, ${formatRate(last.y)} after ${last.x} of ${view().totalSteps} steps.`;
  };
  const table = (): TableData => ({
    columns: ['step', 'reference', 'candidate', 'low', 'high', 'n', 'decision', 'gained', 'lost', 'p'],
    rows: records().map((record) => [
      record.step,
      record.reference,
      record.candidateScore?.rate ?? null,
      record.candidateScore?.wilson[0] ?? null,
      record.candidateScore?.wilson[1] ?? null,
      record.candidateScore?.n ?? null,
      record.decision,
      record.gained.length,
      record.lost.length,
      record.mcnemar,
    ]),
  });
  return (
    <ChartFigure title="Validation" caption={caption()} name="validation" table={table}>
      <LineChart
        label="Validation success over steps"
        series={series()}
        xLabel="step"
        yLabel="success"
        xDomain={[0, Math.max(1, view().totalSteps)]}
        yDomain={[0, 1]}
        formatY={(value) => value.toFixed(1)}
        height={HEIGHT}
        onChoose={(step) => go({ step, cell: undefined, card: undefined })}
      />
    </ChartFigure>
  );
}

function TokenCurve() {
  const { view } = useRun();
  const entries = createMemo(() => [...view().tokensAfter].sort(([a], [b]) => a - b));
  const points = createMemo((): ChartPoint[] => [
    { x: 0, y: 0, label: 'start, 0 tokens' },
    ...entries()
      .filter(([step]) => step > 0)
      .map(([step, totals]) => ({ x: step, y: totals.iteration, label: `after step ${step}, ${formatShort(totals.iteration)} tokens` })),
  ]);
  const caption = () => {
    const last = points().at(-1);
    return last && last.x > 0
      ? `${formatShort(last.y)} tokens of optimisation after step ${last.x}; the final test is not counted.`
      : 'Shows the tokens spent on optimisation, step by step.';
  };
  const table = (): TableData => ({
    columns: ['step', 'iteration tokens', 'inference text volume'],
    rows: entries().map(([step, totals]) => [step, totals.iteration, totals.inferenceTextVolume]),
  });
  return (
    <ChartFigure title="Tokens" caption={caption()} name="tokens" table={table}>
      <LineChart
        label="Optimisation tokens over steps"
        series={[{ title: 'iteration tokens', tone: 'accent', join: 'line', points: points() }]}
        xLabel="step"
        yLabel="tokens"
        xDomain={[0, Math.max(1, view().totalSteps)]}
        formatY={formatShort}
        height={HEIGHT}
      />
    </ChartFigure>
  );
}

function TokensByRole() {
  const { view } = useRun();
  const rows = createMemo(() => {
    const totals = view().tokens;
    return totals ? CALL_ROLES.map((role) => ({ role, ...totals.byRole[role] })).filter(({ calls }) => calls > 0) : [];
  });
  const table = (): TableData => ({
    columns: ['role', 'calls', 'tokens in', 'tokens out', 'seconds'],
    rows: rows().map(({ role, calls, inputTokens, outputTokens, ms }) => [
      role,
      calls,
      inputTokens,
      outputTokens,
      Math.round(ms / 100) / 10,
    ]),
  });
  return (
    <div class="chart">
      <div class="chart-head">
        <h3>Tokens by role</h3>
        <div class="chart-tools">
          <TableActions name="tokens-by-role" data={table} />
        </div>
      </div>
      <Show when={rows().length > 0} fallback={<p class="small text-2">Every model call will be counted here, by what it was for.</p>}>
        <div class="table-scroll">
          <table class="table role-table">
            <caption class="visually-hidden">Tokens by role</caption>
            <thead>
              <tr>
                <th scope="col">Role</th>
                <th scope="col" class="num">
                  Calls
                </th>
                <th scope="col" class="num">
                  In
                </th>
                <th scope="col" class="num">
                  Out
                </th>
              </tr>
            </thead>
            <tbody>
              <For each={rows()}>
                {(row) => (
                  <tr>
                    <th scope="row">{row.role}</th>
                    <td class="num">{formatShort(row.calls)}</td>
                    <td class="num">{formatShort(row.inputTokens)}</td>
                    <td class="num">{formatShort(row.outputTokens)}</td>
                  </tr>
                )}
              </For>
            </tbody>
          </table>
        </div>
      </Show>
    </div>
  );
}
