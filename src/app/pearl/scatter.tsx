import { createEffect, createMemo, createSignal, createUniqueId, onCleanup, onMount, Show } from 'solid-js';
import type { ClusterSnapshot } from '../../pearl/types.ts';
import { formatCount } from '../format.ts';
import { theme } from '../theme.ts';
import { clusterName, neighbours, type PlacedPoint } from './derive.ts';
import { frameOf, pointAt, pointTowards, type Viewport, WHOLE, zoomAt } from './plane.ts';
import { drawHover, drawScene, makeSprites, type Palette, POINT_KINDS, type PointKind, sceneOf } from './scatter-draw.ts';

/** As in the style sheet. */
const SCATTER_HEIGHT = 384;
const NEIGHBOURS = 5;
const HIT_RADIUS = 12;

const KIND_SHOWN: Readonly<Record<PointKind, { readonly tone: string; readonly mark: string; readonly title: string }>> = {
  kept: { tone: 'failure', mark: '✕', title: 'failure, kept cluster' },
  vetoed: { tone: 'mixed', mark: '✕', title: 'failure, vetoed' },
  'failure-noise': { tone: 'running', mark: '✕', title: 'failure, noise' },
  success: { tone: 'success', mark: '●', title: 'success' },
  'success-noise': { tone: 'running', mark: '○', title: 'success, noise' },
};

export interface ScatterApi {
  picture(): Promise<Blob>;
}

/**
 * Both banks in one plane. Points are drawn once a frame at most, into a canvas of their own; what follows the pointer or the
 * keyboard is a second canvas above. One tab stop: arrows go to the next point in that direction, plus and minus zoom.
 */
export function Scatter(props: {
  readonly placed: readonly PlacedPoint[];
  readonly snapshot: ClusterSnapshot;
  /** Whether the snapshot was clustered, or only places the points. */
  readonly fitted: boolean;
  readonly opened: PlacedPoint | undefined;
  readonly onOpen: (point: PlacedPoint) => void;
  readonly api: (api: ScatterApi) => void;
}) {
  const optionId = createUniqueId();
  let box!: HTMLDivElement;
  let legend!: HTMLUListElement;
  let points!: HTMLCanvasElement;
  let above!: HTMLCanvasElement;
  const [width, setWidth] = createSignal(0);
  const [viewport, setViewport] = createSignal<Viewport>(WHOLE);
  const [active, setActive] = createSignal(-1);
  const [hovered, setHovered] = createSignal(-1);
  const [focused, setFocused] = createSignal(false);
  const [scheme, setScheme] = createSignal(0);
  const size = () => ({ width: width(), height: SCATTER_HEIGHT });
  const scene = createMemo(() => sceneOf(props.placed, props.snapshot, props.fitted));
  const frame = createMemo(() => frameOf(props.placed, width(), SCATTER_HEIGHT, viewport()));
  const shown = () => props.placed[hovered() >= 0 ? hovered() : focused() ? active() : -1];
  const near = createMemo(() => {
    const one = shown();
    return one ? neighbours(props.placed, one.point, NEIGHBOURS) : [];
  });
  const palette = createMemo((): Palette | undefined => {
    theme();
    scheme();
    return width() > 0 ? readPalette(legend) : undefined;
  });
  const ratio = () => Math.min(2, window.devicePixelRatio || 1);
  const sprites = createMemo(() => {
    const colours = palette();
    return colours && makeSprites(colours, ratio());
  });

  /** Any number of changes between two frames make one drawing. */
  const perFrame = (draw: () => void) => {
    let frameId: number | undefined;
    onCleanup(() => {
      if (frameId !== undefined) cancelAnimationFrame(frameId);
    });
    return () => {
      frameId ??= requestAnimationFrame(() => {
        frameId = undefined;
        draw();
      });
    };
  };
  const prepare = (canvas: HTMLCanvasElement) => {
    const context = canvas.getContext('2d');
    const wide = Math.round(width() * ratio());
    const high = Math.round(SCATTER_HEIGHT * ratio());
    if (canvas.width !== wide || canvas.height !== high) {
      canvas.width = wide;
      canvas.height = high;
    }
    context?.setTransform(ratio(), 0, 0, ratio(), 0, 0);
    return context;
  };
  const drawPoints = perFrame(() => {
    const context = prepare(points);
    const colours = palette();
    const stamps = sprites();
    if (context && colours && stamps) drawScene(context, scene(), frame(), size(), colours, stamps);
  });
  const drawAbove = perFrame(() => {
    const context = prepare(above);
    const colours = palette();
    if (!context || !colours) return;
    drawHover(context, frame(), size(), colours, { shown: shown(), opened: props.opened, near: near().map(({ placed }) => placed) });
  });
  onMount(() => {
    const observer = new ResizeObserver(([entry]) => {
      if (entry && entry.contentRect.width > 0) setWidth(Math.round(entry.contentRect.width));
    });
    observer.observe(box);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const onScheme = () => setScheme((count) => count + 1);
    dark.addEventListener('change', onScheme);
    onCleanup(() => {
      observer.disconnect();
      dark.removeEventListener('change', onScheme);
    });
    createEffect(() => {
      scene();
      frame();
      sprites();
      drawPoints();
    });
    createEffect(() => {
      shown();
      near();
      frame();
      palette();
      void props.opened;
      drawAbove();
    });
    props.api({
      picture: () => pictureOf(points, above, palette()?.ground ?? 'white'),
    });
  });

  const zoom = (factor: number, x = width() / 2, y = SCATTER_HEIGHT / 2) =>
    setViewport((view) => zoomAt(view, factor, x, y, width(), SCATTER_HEIGHT));
  const shift = (dx: number, dy: number) => setViewport((view) => ({ ...view, shiftX: view.shiftX + dx, shiftY: view.shiftY + dy }));
  const onKey = (event: KeyboardEvent) => {
    const arrow = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] as
      | [number, number]
      | undefined;
    if (arrow && event.shiftKey) shift(-40 * arrow[0], -40 * arrow[1]);
    else if (arrow) {
      const next = pointTowards(props.placed, frame(), active(), arrow[0], arrow[1]);
      if (next >= 0) setActive(next);
    } else if (event.key === 'Home') setActive(0);
    else if (event.key === 'End') setActive(props.placed.length - 1);
    else if (event.key === '+' || event.key === '=') zoom(1.5);
    else if (event.key === '-') zoom(1 / 1.5);
    else if (event.key === '0') setViewport(WHOLE);
    else if (event.key === 'Enter' || event.key === ' ') {
      const point = props.placed[active()];
      if (point) props.onOpen(point);
    } else return;
    event.preventDefault();
    event.stopPropagation();
    setHovered(-1);
  };

  // One finger or the mouse pans, two fingers zoom.
  const fingers = new Map<number, { x: number; y: number }>();
  let moved = 0;
  const local = (event: MouseEvent) => {
    const { left, top } = box.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  const onDown = (event: PointerEvent) => {
    if (fingers.size === 0) moved = 0;
    fingers.set(event.pointerId, local(event));
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
  };
  const onMove = (event: PointerEvent) => {
    const at = local(event);
    const before = fingers.get(event.pointerId);
    if (!before) {
      setHovered(pointAt(props.placed, frame(), at.x, at.y, HIT_RADIUS));
      return;
    }
    moved += Math.abs(at.x - before.x) + Math.abs(at.y - before.y);
    const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const apart = Math.hypot(before.x - other.x, before.y - other.y);
      if (apart > 0) zoom(Math.hypot(at.x - other.x, at.y - other.y) / apart, other.x, other.y);
    } else if (viewport().zoom > 1) shift(at.x - before.x, at.y - before.y);
    fingers.set(event.pointerId, at);
  };
  const onUp = (event: PointerEvent) => {
    if (!fingers.delete(event.pointerId) || moved > 6 || event.type === 'pointercancel') return;
    const at = local(event);
    const found = pointAt(props.placed, frame(), at.x, at.y, HIT_RADIUS);
    const point = props.placed[found];
    if (!point) return;
    setActive(found);
    props.onOpen(point);
  };
  onMount(() => {
    // A wheel scrolls the page unless a key is held or the plot was chosen; only then is it taken.
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey && !focused()) return;
      event.preventDefault();
      const at = local(event);
      zoom(Math.exp(-event.deltaY / 300), at.x, at.y);
    };
    box.addEventListener('wheel', onWheel, { passive: false });
    onCleanup(() => box.removeEventListener('wheel', onWheel));
  });
  const current = () => Math.max(0, active());
  const describe = (placed: PlacedPoint) => {
    const { point, cluster } = placed;
    return `${clusterName(point.outcome, cluster)} · ${point.action} · ${point.outcome}, update ${point.update}`;
  };

  return (
    <div class="scatter">
      <div ref={box} class="scatter-box">
        <canvas ref={points} />
        <canvas ref={above} />
        {/* biome-ignore lint/a11y/useAriaActivedescendantWithTabindex: it has a tab index, in lower case */}
        <div
          class="scatter-keys"
          classList={{ zoomed: viewport().zoom > 1 }}
          role="listbox"
          tabindex="0"
          aria-label="Decisions in the memory. Arrow keys go from point to point, Enter opens one, plus and minus zoom, 0 shows all."
          aria-activedescendant={`${optionId}-${current()}`}
          onKeyDown={onKey}
          onFocus={() => {
            setFocused(true);
            if (active() < 0) setActive(props.opened ? props.placed.indexOf(props.opened) : 0);
          }}
          onBlur={() => setFocused(false)}
          onPointerDown={onDown}
          onPointerMove={onMove}
          onPointerUp={onUp}
          onPointerCancel={onUp}
          onPointerLeave={() => setHovered(-1)}
        >
          {/* biome-ignore lint/a11y/useFocusableInteractive: focus stays on the list, which names this option as its active one */}
          <div
            id={`${optionId}-${current()}`}
            role="option"
            aria-selected={props.opened === props.placed[current()]}
            class="visually-hidden"
          >
            <Show when={props.placed[current()]} fallback="no decision">
              {(one) => (
                <>
                  {describe(one())}, point {current() + 1} of {props.placed.length}
                </>
              )}
            </Show>
          </div>
        </div>
        <div class="scatter-tools">
          <button type="button" class="button small" aria-label="Zoom in" onClick={() => zoom(1.5)}>
            +
          </button>
          <button type="button" class="button small" aria-label="Zoom out" onClick={() => zoom(1 / 1.5)}>
            −
          </button>
          <button type="button" class="button small" disabled={viewport().zoom === 1} onClick={() => setViewport(WHOLE)}>
            All
          </button>
        </div>
      </div>
      <p class="scatter-line small" aria-hidden="true">
        <Show
          when={shown()}
          fallback={<span class="text-2">Point at a mark, or press Tab and use the arrows. Ctrl and the wheel zoom.</span>}
        >
          {(one) => <>{describe(one())}</>}
        </Show>
      </p>
      <ul ref={legend} class="scatter-legend small" aria-label="Marks">
        {POINT_KINDS.map((kind) => (
          <li data-kind={kind} classList={{ gone: !props.fitted && kind !== 'kept' && kind !== 'success' }}>
            <span class={`mark ${KIND_SHOWN[kind].tone}`} aria-hidden="true">
              {KIND_SHOWN[kind].mark}
            </span>{' '}
            {!props.fitted && kind === 'kept' ? 'failure' : KIND_SHOWN[kind].title}{' '}
            <span class="num text-2">{formatCount(scene().kinds.filter((one) => one === kind).length)}</span>
          </li>
        ))}
        <li classList={{ gone: !props.fitted }}>
          <span class="mark" aria-hidden="true">
            ┄
          </span>{' '}
          veto
        </li>
      </ul>
    </div>
  );
}

/** The colours of the theme that is on, read off elements that wear them. */
function readPalette(legend: HTMLElement): Palette {
  const colourOf = (element: Element | null) => (element ? getComputedStyle(element).color : 'gray');
  const kinds = Object.fromEntries(
    POINT_KINDS.map((kind) => [kind, colourOf(legend.querySelector(`[data-kind="${kind}"] > .mark`))]),
  ) as Record<PointKind, string>;
  const own = getComputedStyle(legend);
  return {
    ...kinds,
    text: own.color,
    dim: colourOf(legend.querySelector('.text-2')),
    line: own.borderTopColor,
    ground: own.backgroundColor,
    accent: own.outlineColor,
    font: own.fontFamily,
  };
}

function pictureOf(points: HTMLCanvasElement, above: HTMLCanvasElement, ground: string): Promise<Blob> {
  const canvas = document.createElement('canvas');
  canvas.width = points.width;
  canvas.height = points.height;
  const context = canvas.getContext('2d');
  if (!context) return Promise.reject(new Error('This browser gives no 2D canvas.'));
  context.fillStyle = ground;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(points, 0, 0);
  context.drawImage(above, 0, 0);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('The picture could not be encoded.'))), 'image/png'),
  );
}
