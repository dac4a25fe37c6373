import { createMemo, createSignal, For, onCleanup, onMount, Show } from 'solid-js';
import { MARKS, type Outcome } from '../ui/mark.tsx';
import { linear, niceDomain, ticks } from './scale.ts';

export interface ChartPoint {
  readonly x: number;
  readonly y: number;
  /** What is read out and shown when the point is focused. */
  readonly label: string;
  /** An outcome draws its mark instead of a dot. */
  readonly outcome?: Outcome;
  readonly interval?: readonly [number, number];
}

export interface ChartSeries {
  readonly title: string;
  readonly tone: 'accent' | 'success' | 'failure' | 'mixed' | 'running';
  readonly points: readonly ChartPoint[];
  /** How points are joined: not at all, straight, or level until the next point. */
  readonly join: 'none' | 'line' | 'step';
  readonly dashed?: boolean;
}

const MARGIN = { top: 8, right: 12, bottom: 34, left: 44 } as const;

/**
 * Lines and marks over a number axis, as SVG. One tab stop; left and right move along a series, up and down between series;
 * the focused point is read out and written below the plot.
 */
export function LineChart(props: {
  readonly label: string;
  readonly series: readonly ChartSeries[];
  readonly xLabel: string;
  readonly yLabel: string;
  readonly xDomain?: readonly [number, number];
  readonly yDomain?: readonly [number, number];
  readonly formatY: (value: number) => string;
  readonly height: number;
  readonly onChoose?: (x: number) => void;
}) {
  let box!: HTMLDivElement;
  const [width, setWidth] = createSignal(320);
  const [active, setActive] = createSignal<readonly [number, number]>([0, 0]);
  const [shown, setShown] = createSignal<ChartPoint>();
  onMount(() => {
    const observer = new ResizeObserver(([entry]) => {
      if (entry && entry.contentRect.width > 0) setWidth(Math.round(entry.contentRect.width));
    });
    observer.observe(box);
    onCleanup(() => observer.disconnect());
  });

  const all = createMemo(() => props.series.flatMap(({ points }) => points));
  const x = createMemo(() =>
    linear(
      props.xDomain ??
        niceDomain(
          all().map((point) => point.x),
          8,
        ),
      [MARGIN.left, width() - MARGIN.right],
    ),
  );
  const y = createMemo(() =>
    linear(
      props.yDomain ??
        niceDomain(
          all().flatMap((point) => [point.y, ...(point.interval ?? [])]),
          4,
        ),
      [props.height - MARGIN.bottom, MARGIN.top],
    ),
  );
  const yTicks = () => ticks(...y().domain, Math.max(2, Math.floor((props.height - MARGIN.top - MARGIN.bottom) / 32)));
  const xTicks = () => ticks(...x().domain, Math.max(2, Math.floor(width() / 72))).filter(Number.isInteger);

  const move = (event: KeyboardEvent) => {
    const [series, point] = active();
    const last = (props.series[series]?.points.length ?? 1) - 1;
    const next = {
      ArrowRight: [series, Math.min(last, point + 1)],
      ArrowLeft: [series, Math.max(0, point - 1)],
      ArrowUp: [(series - 1 + props.series.length) % props.series.length, point],
      ArrowDown: [(series + 1) % props.series.length, point],
      Home: [series, 0],
      End: [series, last],
    }[event.key] as readonly [number, number] | undefined;
    if (!next) return;
    event.preventDefault();
    const clamped = Math.min(next[1], (props.series[next[0]]?.points.length ?? 1) - 1);
    box.querySelector<SVGElement>(`[data-point="${next[0]}.${clamped}"]`)?.focus();
  };

  return (
    <div ref={box} class="plot">
      {/* biome-ignore lint/a11y/useSemanticElements: SVG has no fieldset */}
      <svg
        width={width()}
        height={props.height}
        viewBox={`0 0 ${width()} ${props.height}`}
        role="group"
        aria-label={props.label}
        onKeyDown={move}
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
        <For each={xTicks()}>
          {(tick) => (
            <text class="tick" x={x().at(tick)} y={props.height - MARGIN.bottom + 14} text-anchor="middle">
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
            <Show when={series.join !== 'none' && series.points.length > 1}>
              <path class={`line ${series.tone}`} classList={{ dashed: series.dashed === true }} d={pathOf(series, x().at, y().at)} />
            </Show>
          )}
        </For>
        <For each={props.series}>
          {(series, s) => (
            <For each={series.points}>
              {(point, p) => {
                const current = () => active()[0] === s() && active()[1] === p();
                return (
                  // biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: a point is a picture one moves to, not a control
                  <g
                    class={`point ${point.outcome ?? series.tone}`}
                    data-point={`${s()}.${p()}`}
                    role="img"
                    aria-label={`${series.title}: ${point.label}`}
                    tabindex={current() ? 0 : -1}
                    onFocus={() => {
                      setActive([s(), p()]);
                      setShown(point);
                    }}
                    onBlur={() => setShown(undefined)}
                    onPointerEnter={() => setShown(point)}
                    onPointerLeave={() => setShown(undefined)}
                    onClick={() => props.onChoose?.(point.x)}
                    onKeyDown={(event) => {
                      if (event.key === 'Enter') props.onChoose?.(point.x);
                    }}
                  >
                    <Show when={point.interval}>
                      {(interval) => (
                        <line
                          class="whisker"
                          x1={x().at(point.x)}
                          x2={x().at(point.x)}
                          y1={y().at(interval()[0])}
                          y2={y().at(interval()[1])}
                        />
                      )}
                    </Show>
                    <circle class="target" cx={x().at(point.x)} cy={y().at(point.y)} r="12" />
                    <Show when={point.outcome} fallback={<circle class="dot" cx={x().at(point.x)} cy={y().at(point.y)} r="3" />}>
                      {(outcome) => (
                        <text class="glyph" x={x().at(point.x)} y={y().at(point.y) + 4.5} text-anchor="middle">
                          {MARKS[outcome()].mark}
                        </text>
                      )}
                    </Show>
                  </g>
                );
              }}
            </For>
          )}
        </For>
      </svg>
      <div class="plot-foot small">
        <Show when={shown()} fallback={<Legend series={props.series} />}>
          {(point) => <span class="num">{point().label}</span>}
        </Show>
      </div>
    </div>
  );
}

function Legend(props: { readonly series: readonly ChartSeries[] }) {
  return (
    <For each={props.series}>
      {(series) => (
        <span class="legend text-2">
          <svg width="20" height="8" aria-hidden="true">
            <Show when={series.join !== 'none'} fallback={<circle class={`dot ${series.tone}`} cx="10" cy="4" r="3" />}>
              <line class={`line ${series.tone}`} classList={{ dashed: series.dashed === true }} x1="0" x2="20" y1="4" y2="4" />
            </Show>
          </svg>
          {series.title}
        </span>
      )}
    </For>
  );
}

function pathOf(series: ChartSeries, x: (value: number) => number, y: (value: number) => number): string {
  return series.points
    .map((point, i) => {
      const at = `${x(point.x).toFixed(1)} ${y(point.y).toFixed(1)}`;
      if (i === 0) return `M${at}`;
      return series.join === 'step' ? `H${x(point.x).toFixed(1)}V${y(point.y).toFixed(1)}` : `L${at}`;
    })
    .join('');
}
