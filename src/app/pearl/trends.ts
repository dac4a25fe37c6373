import type { OptimiserId } from '../../pearl/settings.ts';
import type { UpdateRecord } from '../../pearl/types.ts';
import type { TrendPoint, TrendSeries } from '../chart/trend-chart.tsx';
import { formatCount, formatRate, plural } from '../format.ts';
import type { TableData } from '../ui/data-table.tsx';
import type { PearlView } from './pearl-store.ts';

/** One chart of the overview. */
export interface Trend {
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  readonly caption: string;
  readonly series: readonly TrendSeries[];
  readonly format: (value: number) => string;
  readonly domain?: readonly [number, number];
}

const share: Trend['format'] = (value) => value.toFixed(2);
const whole: Trend['format'] = (value) => (Number.isInteger(value) ? formatCount(value) : value.toFixed(1));
const small: Trend['format'] = (value) => (Math.abs(value) >= 10 || value === 0 ? value.toFixed(0) : value.toPrecision(2));

/** Everything that is measured per update (§4.4), as charts; those of the memory only where there is one. */
export function trends({
  records,
  scores,
  optimiser,
}: Pick<PearlView, 'records' | 'scores'> & { readonly optimiser: OptimiserId | undefined }): readonly Trend[] {
  const last = records.at(-1);
  if (!last) return [];
  const line = (title: string, tone: TrendSeries['tone'], of: (record: UpdateRecord) => number, dashed = false): TrendSeries => ({
    title,
    tone,
    points: records.map((record): TrendPoint => ({ x: record.update, y: of(record) })),
    shape: 'line',
    dashed,
  });
  const measured = [scores.initial.val, ...scores.during, scores.final.val].flatMap((score) =>
    score ? [{ x: score.update, y: score.rate, interval: score.wilson }] : [],
  );
  const tested = [scores.initial.test, scores.final.test].flatMap((score) =>
    score ? [{ x: score.update, y: score.rate, interval: score.wilson }] : [],
  );
  const series = (title: string, tone: TrendSeries['tone'], points: readonly TrendPoint[]): readonly TrendSeries[] =>
    points.length === 0 ? [] : [{ title, tone, points, shape: 'dots' }];
  const base: Trend[] = [
    {
      id: 'success',
      title: 'Success',
      unit: 'rate',
      caption: `${formatRate(last.success)} of ${plural(last.trajectories, 'training rollout')} in update ${last.update}${
        measured.length > 0 ? `; greedy validation ${formatRate(measured.at(-1)?.y)}` : ''
      }.`,
      series: [
        line('training rollouts', 'accent', ({ success }) => success),
        ...series('validation', 'success', measured),
        ...series('test', 'mixed', tested),
      ],
      format: share,
      domain: [0, 1],
    },
    {
      id: 'pairs',
      title: 'Discordant pairs',
      unit: 'count',
      caption: `${plural(last.pairs, 'pair')} from ${plural(last.branches, 'branch', 'branches')}; ${plural(last.degenerate, 'prompt')} of ${last.taskIds.length} with equal rewards only.`,
      series: [line('pairs', 'accent', ({ pairs }) => pairs), line('degenerate prompts', 'running', ({ degenerate }) => degenerate, true)],
      format: whole,
    },
  ];
  const memory: Trend[] = [
    {
      id: 'shaping',
      title: 'Shaped tokens',
      unit: 'tokens',
      caption: `Shaping was active in ${last.shaping.activeUpdates} of ${plural(records.length, 'update')}${
        last.shaping.active
          ? `; in the last one ${plural(last.shaping.tokens, 'token')}, ×${last.shaping.meanMultiplier.toFixed(2)} on average`
          : ''
      }.`,
      series: [{ ...line('tokens', 'accent', ({ shaping }) => shaping.tokens), shape: 'bars' }],
      format: whole,
    },
    {
      id: 'banks',
      title: 'Banks',
      unit: 'entries',
      caption: `${plural(last.banks.failure, 'failure entry', 'failure entries')} and ${formatCount(last.banks.success)} of success within the window.`,
      series: [line('failure', 'failure', ({ banks }) => banks.failure), line('success', 'success', ({ banks }) => banks.success, true)],
      format: whole,
    },
    {
      id: 'clusters',
      title: 'Clusters',
      unit: 'count',
      caption: `At the latest fit ${plural(last.clusters.failure, 'failure cluster')}: ${last.clusters.kept} kept, ${last.clusters.vetoed} vetoed by ${plural(last.clusters.success, 'success cluster')}.`,
      series: [
        line('kept', 'accent', ({ clusters }) => clusters.kept),
        line('vetoed', 'mixed', ({ clusters }) => clusters.vetoed, true),
        line('success', 'success', ({ clusters }) => clusters.success, true),
      ],
      format: whole,
    },
    {
      id: 'noise',
      title: 'Noise',
      unit: 'share of failures',
      caption: `${formatRate(last.noise)} of the failure bank is noise; its largest cluster holds ${formatRate(last.largestShare)}.`,
      series: [line('noise', 'running', ({ noise }) => noise, true), line('largest cluster', 'accent', ({ largestShare }) => largestShare)],
      format: share,
      domain: [0, 1],
    },
  ];
  const learning: Trend[] = [
    {
      id: 'entropy',
      title: 'Entropy',
      unit: 'nats',
      caption: `Mean over the sampled tokens; ${last.entropy.toFixed(3)} in the last update.`,
      series: [line('entropy', 'accent', ({ entropy }) => entropy)],
      format: small,
    },
    {
      id: 'clip',
      title: 'Clip fraction',
      unit: 'share of tokens',
      caption: `${last.clipFraction.toFixed(3)} of the trained tokens were clipped in the last update.`,
      series: [line('clipped', 'accent', ({ clipFraction }) => clipFraction)],
      format: small,
    },
    {
      id: 'gradient',
      title: 'Gradient norm',
      unit: 'before clipping',
      caption: `${last.gradientNorm.toFixed(3)} in the last update, ${plural(last.optimiserSteps, 'optimiser step')}.`,
      series: [line('norm', 'accent', ({ gradientNorm }) => gradientNorm)],
      format: small,
    },
    {
      id: 'length',
      title: 'Response length',
      unit: 'tokens',
      caption: `${last.responseLength.toFixed(1)} sampled tokens a rollout in the last update.`,
      series: [line('tokens', 'accent', ({ responseLength }) => responseLength)],
      format: small,
    },
    {
      id: 'seconds',
      title: 'Seconds by phase',
      unit: 'seconds',
      caption: `The last update took ${small(Object.values(last.seconds).reduce((sum: number, value: number) => sum + value, 0))} s.`,
      series: [
        line('rollouts', 'accent', ({ seconds }) => seconds.rollouts),
        line('training', 'mixed', ({ seconds }) => seconds.training, true),
        line('features and clusters', 'running', ({ seconds }) => seconds.features + seconds.clustering),
      ],
      format: small,
    },
  ];
  const [success, ...others] = base as [Trend, ...Trend[]];
  return optimiser === 'pearl' ? [success, ...memory.slice(0, 1), ...others, ...memory.slice(1), ...learning] : [...base, ...learning];
}

/** The values behind a chart: one row an update, one column a series, intervals beside their values. */
export function trendTable({ series }: Pick<Trend, 'series'>): TableData {
  const places = [...new Set(series.flatMap(({ points }) => points.map(({ x }) => x)))].sort((a, b) => a - b);
  const maps = series.map(({ points }) => new Map(points.map((point) => [point.x, point])));
  const ranged = series.map(({ points }) => points.some(({ interval }) => interval !== undefined));
  return {
    columns: ['update', ...series.flatMap(({ title }, s) => (ranged[s] ? [title, `${title} low`, `${title} high`] : [title]))],
    rows: places.map((place) => [
      place,
      ...maps.flatMap((map, s) => {
        const point = map.get(place);
        const value = point?.y ?? null;
        return ranged[s] ? [value, point?.interval?.[0] ?? null, point?.interval?.[1] ?? null] : [value];
      }),
    ]),
  };
}
