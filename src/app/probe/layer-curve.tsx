import { createMemo, Show } from 'solid-js';
import type { ProbeResult } from '../../lab/service.ts';
import { ChartFigure } from '../chart/chart-figure.tsx';
import { type ChartSeries, LineChart } from '../chart/line-chart.tsx';
import type { TableData } from '../ui/data-table.tsx';
import { Empty } from '../ui/panel.tsx';
import { showToken } from './token-text.ts';

/** The logit of the chosen token after every layer, raw and with the final norm applied. */
export function LayerCurve(props: { readonly result: ProbeResult; readonly index: number }) {
  const token = () => props.result.tokens[props.index];
  const series = createMemo((): ChartSeries[] => {
    const current = token();
    if (!current) return [];
    const points = (values: readonly number[], name: string) =>
      values.map((y, layer) => ({ x: layer + 1, y, label: `layer ${layer + 1}, ${name} ${y.toFixed(3)}` }));
    return [
      { title: 'normed: ⟨norm(h), W[y]⟩', tone: 'accent', join: 'line', points: points(current.normed, 'normed') },
      { title: 'raw: ⟨h, W[y]⟩', tone: 'mixed', join: 'line', dashed: true, points: points(current.raw, 'raw') },
    ];
  });
  const caption = () => {
    const current = token();
    if (!current) return '';
    const rise = current.normed.map((value, layer) => value - (current.normed[layer - 1] ?? 0)).slice(1);
    const steepest = rise.indexOf(Math.max(...rise)) + 2;
    return `Logit of “${showToken(current.text)}” at the place that predicts it, layer by layer. It rises most in layer ${steepest} and ends at ${current.normed.at(-1)?.toFixed(2)}.`;
  };
  const table = (): TableData => ({
    columns: ['layer', 'raw', 'normed'],
    rows: (token()?.normed ?? []).map((normed, layer) => [layer + 1, token()?.raw[layer] ?? null, normed]),
  });
  return (
    <Show
      when={(token()?.normed.length ?? 0) > 0 && token()?.logprob !== undefined}
      fallback={<Empty>Nothing stands before the first token, so no layer predicts it. Choose a later one.</Empty>}
    >
      <ChartFigure title="Layers" caption={caption()} name="layer-logits" table={table}>
        <LineChart
          label="Logit of the chosen token by layer"
          series={series()}
          xLabel="layer"
          yLabel="logit"
          xDomain={[1, Math.max(2, props.result.layers)]}
          formatY={(value) => String(value).replace('-', '−')}
          height={240}
        />
      </ChartFigure>
    </Show>
  );
}
