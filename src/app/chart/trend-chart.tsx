import { createMemo, createSignal, For, onCleanup, onMount, Show } from 'solid-js';
import { linear, niceDomain, ticks } from './scale.ts';

export interface TrendPoint {
  readonly x: number;
  readonly y: number;
  readonly interval?: readonly [number, number] | undefined;
}

export interface TrendSeries {
  readonly title: string;
  readonly tone: 'accent' | 'success' | 'failure' | 'mixed' | 'running' | 'second' | 'g1' | 'g2' | 'g3' | 'g4' | 'g5' | 'g6';
  readonly points: readonly TrendPoint[];
  /** `dots` are measured now and then and joined thinly; `bars` stand on the axis. */
  readonly shape: 'line' | 'dots' | 'bars';
  readonly dashed?: boolean;
  /** Fills the intervals of the points as a band. */
  readonly band?: boolean;
}

const MARGIN = { top: 8, right: 12, bottom: 34, left: 48 } as const;

/**
 * Many points over a number axis, as one path a series, so that a thousand of them cost as little as ten. One tab stop: a
 * slider along the axis whose value is read out; charts that share `cursor` move together. Enter or a click opens the place.
 */
export function TrendChart(props: {
  readonly label: string;
  readonly series: readonly TrendSeries[];
  readonly xLabel: string;
  readonly yLabel: string;
  readonly xDomain?: readonly [number, number] | undefined;
  readonly yDomain?: readonly [number, number] | undefined;
  readonly formatY: (value: number) => string;
  readonly height: number;
  /** Place on the axis that is looked at, and how to move it. */
  readonly cursor: number | undefined;
  readonly onCursor: (x: number | undefined) => void;
  readonly onChoose?: (x: number) => void;
}) {
  let box!: HTMLDivElement;
  const [width, setWidth] = createSignal(320);
  onMount(() => {
    const observer = new ResizeObserver(([entry]) => {
      if (entry && entry.contentRect.width > 0) setWidth(Math.round(entry.contentRect.width));
    });
    observer.observe(box);
    onCleanup(() => observer.disconnect());
  });

  const xs = createMemo(() => [...new Set(props.series.flatMap(({ points }) => points.map(({ x }) => x)))].sort((a, b) => a - b));
  const x = createMemo(() => linear(props.xDomain ?? niceDomain(xs(), 8), [MARGIN.left, width() - MARGIN.right]));
  const y = createMemo(() => {
    const values = props.series.flatMap(({ points, shape }) => [
      ...(shape === 'bars' ? [0] : []),
      ...points.flatMap((point) => [point.y, ...(point.interval ?? [])]),
    ]);
    return linear(props.yDomain ?? niceDomain(values, 3), [props.height - MARGIN.bottom, MARGIN.top]);
  });
  const yTicks = () => ticks(...y().domain, Math.max(2, Math.floor((props.height - MARGIN.top - MARGIN.bottom) / 32)));
  const xTicks = () => ticks(...x().domain, Math.max(2, Math.floor(width() / 72))).filter(Number.isInteger);
  const shown = createMemo(() => {
    const cursor = props.cursor;
    return cursor === undefined ? undefined : nearest(xs(), cursor);
  });
  const valuesAt = (place: number) =>
    props.series.flatMap(({ title, points }) => {
      const point = points.find((candidate) => candidate.x === place);
      if (!point) return [];
      const range = point.interval ? ` (${props.formatY(point.interval[0])} to ${props.formatY(point.interval[1])})` : '';
      return [`${title} ${props.formatY(point.y)}${range}`];
    });
  const spoken = () => {
    const place = shown() ?? xs().at(-1);
    return place === undefined ? 'no values yet' : `${props.xLabel} ${place}: ${valuesAt(place).join(', ') || 'no value'}`;
  };
  const move = (event: KeyboardEvent) => {
    const all = xs();
    const place = shown() ?? all.at(-1);
    if (place === undefined) return;
    const at = all.indexOf(place);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, ArrowUp: at + 1, ArrowDown: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (next !== undefined) {
      event.preventDefault();
      props.onCursor(all[Math.min(all.length - 1, Math.max(0, next))]);
    } else if (event.key === 'Enter') props.onChoose?.(place);
    else if (event.key === 'Escape') props.onCursor(undefined);
  };
  const placeOf = (event: PointerEvent | MouseEvent): number | undefined => {
    const { left, width: wide } = box.getBoundingClientRect();
    const [low, high] = x().domain;
    const share = ((event.clientX - left) * (width() / wide) - MARGIN.left) / (width() - MARGIN.left - MARGIN.right);
    return nearest(xs(), low + share * (high - low));
  };

  return (
    <div ref={box} class="plot trend">
      {/* biome-ignore lint/a11y/useSemanticElements: SVG has no fieldset */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the slider inside handles the keys */}
      <svg
        width={width()}
        height={props.height}
        viewBox={`0 0 ${width()} ${props.height}`}
        role="group"
        aria-label={props.label}
        onPointerMove={(event) => props.onCursor(placeOf(event))}
        onPointerLeave={() => props.onCursor(undefined)}
        onClick={(event) => {
          const place = placeOf(event);
          if (place !== undefined) props.onChoose?.(place);
        }}
      >
        <For each={yTicks()}>
          {(tick) => (
            <g class="grid-line">
              <line x1={MARGIN.left} x2={width() - MARGIN.right} y1={y().at(tick)} y2={y().at(tick)} />
              <text x={MARGIN.left - 6} y={y().at(tick) + 4} text-anchor="end">
                {props.formatY(tick)}
              </text>
            </g>
          )}
        </For>
        <g>
          <For each={xTicks()}>
            {(tick) => (
              <text x={x().at(tick)} y={props.height - MARGIN.bottom + 14} text-anchor="middle">
                {tick}
              </text>
            )}
          </For>
          <text class="axis" x={width() - MARGIN.right} y={props.height - 4} text-anchor="end">
            {props.xLabel}
          </text>
          <text class="axis" x={MARGIN.left} y={props.height - 4}>
            {props.yLabel}
          </text>
          <For each={props.series}>
            {(series) => (
              <g class={series.tone}>
                <Show when={series.band}>
                  <path class="band" d={bandOf(series.points, x().at, y().at)} />
                </Show>
                <Show when={series.shape === 'bars'}>
                  <path class="bar" d={barsOf(series.points, x().at, y().at)} />
                </Show>
                <Show when={series.shape !== 'bars'}>
                  <path
                    class="line"
                    classList={{ thin: series.shape === 'dots', dashed: series.dashed === true }}
                    d={lineOf(series.points, x().at, y().at)}
                  />
                </Show>
                <Show when={series.shape === 'dots' || series.points.length === 1}>
                  <path class="dots" d={dotsOf(series.points, x().at, y().at)} />
                  <Show when={!series.band}>
                    <path class="whisker" d={whiskersOf(series.points, x().at, y().at)} />
                  </Show>
                </Show>
              </g>
            )}
          </For>
          <Show when={shown() !== undefined}>
            <line class="cursor" x1={x().at(shown() ?? 0)} x2={x().at(shown() ?? 0)} y1={MARGIN.top} y2={props.height - MARGIN.bottom} />
          </Show>
        </g>
        <rect
          class="slider"
          x={MARGIN.left - 2}
          y={MARGIN.top - 4}
          width={Math.max(0, width() - MARGIN.left - MARGIN.right + 4)}
          height={Math.max(0, props.height - MARGIN.top - MARGIN.bottom + 8)}
          rx="4"
          role="slider"
          tabindex="0"
          aria-label={`${props.label}, values`}
          aria-valuemin={xs()[0] ?? 0}
          aria-valuemax={xs().at(-1) ?? 0}
          aria-valuenow={shown() ?? xs().at(-1) ?? 0}
          aria-valuetext={spoken()}
          onKeyDown={move}
          onBlur={() => props.onCursor(undefined)}
        />
      </svg>
      <div class="plot-foot small">
        <Show when={shown() !== undefined} fallback={<TrendLegend series={props.series} />}>
          <span class="num" aria-hidden="true">
            {props.xLabel} {shown()}: {valuesAt(shown() ?? 0).join(' · ') || 'no value'}
          </span>
        </Show>
      </div>
    </div>
  );
}

function TrendLegend(props: { readonly series: readonly TrendSeries[] }) {
  return (
    <For each={props.series}>
      {(series) => (
        <span class="legend text-2">
          <svg width="20" height="8" aria-hidden="true" class={series.tone}>
            <Show when={series.shape === 'bars'}>
              <path class="bar" d="M4 8V3M10 8V0M16 8V4" />
            </Show>
            <Show when={series.shape !== 'bars'}>
              <path class="line" classList={{ thin: series.shape === 'dots', dashed: series.dashed === true }} d="M0 4H20" />
            </Show>
            <Show when={series.shape === 'dots'}>
              <path class="dots" d="M10 4h0" />
            </Show>
          </svg>
          {series.title}
        </span>
      )}
    </For>
  );
}

type Scaled = (value: number) => number;

function lineOf(points: readonly TrendPoint[], x: Scaled, y: Scaled): string {
  return points.map((point, i) => `${i === 0 ? 'M' : 'L'}${x(point.x).toFixed(1)} ${y(point.y).toFixed(1)}`).join('');
}

function barsOf(points: readonly TrendPoint[], x: Scaled, y: Scaled): string {
  const ground = y(0).toFixed(1);
  return points.flatMap((point) => (point.y === 0 ? [] : [`M${x(point.x).toFixed(1)} ${ground}V${y(point.y).toFixed(1)}`])).join('');
}

/** Lines of no length: round ends make them dots. */
function dotsOf(points: readonly TrendPoint[], x: Scaled, y: Scaled): string {
  return points.map((point) => `M${x(point.x).toFixed(1)} ${y(point.y).toFixed(1)}h0`).join('');
}

function whiskersOf(points: readonly TrendPoint[], x: Scaled, y: Scaled): string {
  return points
    .flatMap(({ x: at, interval }) => (interval ? [`M${x(at).toFixed(1)} ${y(interval[0]).toFixed(1)}V${y(interval[1]).toFixed(1)}`] : []))
    .join('');
}

function bandOf(points: readonly TrendPoint[], x: Scaled, y: Scaled): string {
  const edge = (side: 0 | 1) =>
    points.flatMap((point) => (point.interval ? [`${x(point.x).toFixed(1)} ${y(point.interval[side]).toFixed(1)}`] : []));
  const outline = [...edge(1), ...edge(0).reverse()];
  return outline.length < 4 ? '' : `M${outline.join('L')}Z`;
}

/** The value nearest to `to` in an ascending list. */
function nearest(values: readonly number[], to: number): number | undefined {
  let best: number | undefined;
  for (const value of values) if (best === undefined || Math.abs(value - to) < Math.abs(best - to)) best = value;
  return best;
}

/** No points, one object: an empty series never looks changed. */
export const NO_POINTS: readonly TrendPoint[] = [];
