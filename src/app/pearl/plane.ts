import type { Outcome } from '../../pearl/types.ts';
import type { PlacedPoint } from './derive.ts';

/** The geometry of the scatter: data → pixels, hulls, and which point a key or a pointer means. All pure. */

/** Zoom and shift on top of the picture that shows everything; `zoom` 1 and no shift is that picture. */
export interface Viewport {
  readonly zoom: number;
  readonly shiftX: number;
  readonly shiftY: number;
}

export const WHOLE: Viewport = { zoom: 1, shiftX: 0, shiftY: 0 };
const MAX_ZOOM = 64;

/** Data to pixels: x·scale + offset on each axis; y grows upwards in the data. */
export interface Frame {
  readonly scaleX: number;
  readonly offsetX: number;
  readonly scaleY: number;
  readonly offsetY: number;
}

export const PADDING = { left: 52, right: 16, top: 14, bottom: 36 } as const;

/** The frame in which all points are seen, moved by the viewport. Each axis has its own scale; both are labelled. */
export function frameOf(
  points: readonly { readonly x: number; readonly y: number }[],
  width: number,
  height: number,
  view: Viewport,
): Frame {
  let [minX, maxX, minY, maxY] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { x, y } of points) {
    if (x < minX) minX = x;
    if (x > maxX) maxX = x;
    if (y < minY) minY = y;
    if (y > maxY) maxY = y;
  }
  if (minX > maxX) [minX, maxX, minY, maxY] = [-1, 1, -1, 1];
  const spanX = maxX - minX || 1;
  const spanY = maxY - minY || 1;
  const innerX = Math.max(1, width - PADDING.left - PADDING.right);
  const innerY = Math.max(1, height - PADDING.top - PADDING.bottom);
  // A twentieth of room on every side.
  const baseX = innerX / (spanX * 1.1);
  const baseY = innerY / (spanY * 1.1);
  const centreX = PADDING.left + innerX / 2;
  const centreY = PADDING.top + innerY / 2;
  const scaleX = baseX * view.zoom;
  const scaleY = -baseY * view.zoom;
  return {
    scaleX,
    scaleY,
    offsetX: centreX + view.shiftX - scaleX * ((minX + maxX) / 2),
    offsetY: centreY + view.shiftY - scaleY * ((minY + maxY) / 2),
  };
}

/** The viewport zoomed by `factor` so that the pixel (x, y) stays where it is, within a picture of the given size. */
export function zoomAt(view: Viewport, factor: number, x: number, y: number, width: number, height: number): Viewport {
  const zoom = Math.min(MAX_ZOOM, Math.max(1, view.zoom * factor));
  if (zoom === 1) return WHOLE;
  const ratio = zoom / view.zoom;
  const fromX = x - (PADDING.left + (width - PADDING.left - PADDING.right) / 2);
  const fromY = y - (PADDING.top + (height - PADDING.top - PADDING.bottom) / 2);
  return { zoom, shiftX: fromX - (fromX - view.shiftX) * ratio, shiftY: fromY - (fromY - view.shiftY) * ratio };
}

/** Index of the point nearest to a pixel within `radius` pixels, −1 for none. */
export function pointAt(points: readonly PlacedPoint[], frame: Frame, x: number, y: number, radius: number): number {
  let best = -1;
  let least = radius * radius;
  points.forEach((point, i) => {
    const distance = (point.x * frame.scaleX + frame.offsetX - x) ** 2 + (point.y * frame.scaleY + frame.offsetY - y) ** 2;
    if (distance <= least) {
      least = distance;
      best = i;
    }
  });
  return best;
}

/** The next point in a direction: the nearest one inside the quadrant of the arrow, straight ahead preferred. −1 for none. */
export function pointTowards(points: readonly PlacedPoint[], frame: Frame, from: number, dx: number, dy: number): number {
  const here = points[from];
  if (!here) return points.length > 0 ? 0 : -1;
  let best = -1;
  let least = Number.POSITIVE_INFINITY;
  points.forEach((point, i) => {
    if (i === from) return;
    const x = (point.x - here.x) * frame.scaleX;
    const y = (point.y - here.y) * frame.scaleY;
    const ahead = x * dx + y * dy;
    const aside = Math.abs(x * dy) + Math.abs(y * dx);
    if (ahead <= 0.01 || aside > ahead) return;
    const cost = ahead + 2 * aside;
    if (cost < least) {
      least = cost;
      best = i;
    }
  });
  return best;
}

/** Corners of the convex hull (Andrew's monotone chain), counter-clockwise; fewer than three points are their own hull. */
export function convexHull(points: readonly (readonly [number, number])[]): readonly (readonly [number, number])[] {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  if (sorted.length < 3) return sorted;
  const half = (list: readonly (readonly [number, number])[]) => {
    const chain: (readonly [number, number])[] = [];
    for (const point of list) {
      while (chain.length >= 2 && cross(chain.at(-2)!, chain.at(-1)!, point) <= 0) chain.pop();
      chain.push(point);
    }
    chain.pop();
    return chain;
  };
  return [...half(sorted), ...half([...sorted].reverse())];
}

function cross(o: readonly [number, number], a: readonly [number, number], b: readonly [number, number]): number {
  return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
}

/** The hull of every cluster of one bank, by label. */
export function hulls(points: readonly PlacedPoint[], outcome: Outcome): ReadonlyMap<number, readonly (readonly [number, number])[]> {
  const groups = new Map<number, (readonly [number, number])[]>();
  for (const { point, cluster, x, y } of points) {
    if (point.outcome !== outcome || cluster < 0) continue;
    const group = groups.get(cluster) ?? [];
    group.push([x, y]);
    groups.set(cluster, group);
  }
  return new Map([...groups].map(([label, group]) => [label, convexHull(group)]));
}
