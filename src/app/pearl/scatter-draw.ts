import type { ClusterSnapshot } from '../../pearl/types.ts';
import { ticks } from '../chart/scale.ts';
import { clusterName, type PlacedPoint } from './derive.ts';
import { type Frame, hulls, PADDING } from './plane.ts';

/** What a point is drawn as: the mark says the outcome, the colour what became of its cluster. */
export const POINT_KINDS = ['kept', 'vetoed', 'failure-noise', 'success', 'success-noise'] as const;
export type PointKind = (typeof POINT_KINDS)[number];

export interface Palette extends Readonly<Record<PointKind, string>> {
  readonly text: string;
  readonly dim: string;
  readonly line: string;
  readonly ground: string;
  readonly accent: string;
  readonly font: string;
}

/** The kind of every point of a snapshot. Before the first fit nothing is noise yet. */
export function kindsOf(placed: readonly PlacedPoint[], snapshot: ClusterSnapshot, fitted: boolean): readonly PointKind[] {
  return placed.map(({ point, cluster }) => {
    if (point.outcome === 'success') return fitted && cluster < 0 ? 'success-noise' : 'success';
    if (!fitted) return 'kept';
    if (cluster < 0) return 'failure-noise';
    return snapshot.failure.clusters[cluster]?.kept ? 'kept' : 'vetoed';
  });
}

/** The marks as small pictures, drawn once a theme and stamped for every point. */
export function makeSprites(palette: Palette, ratio: number): Readonly<Record<PointKind, HTMLCanvasElement>> {
  const sprite = (kind: PointKind) => {
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = Math.ceil(SPRITE * ratio);
    const context = canvas.getContext('2d');
    if (!context) return canvas;
    context.scale(ratio, ratio);
    context.translate(SPRITE / 2, SPRITE / 2);
    context.strokeStyle = context.fillStyle = palette[kind];
    context.lineWidth = 1.6;
    context.lineCap = 'round';
    context.beginPath();
    if (kind === 'success' || kind === 'success-noise') {
      context.arc(0, 0, 3, 0, 2 * Math.PI);
      if (kind === 'success') context.fill();
      else context.stroke();
    } else {
      const arm = kind === 'failure-noise' ? 2.2 : 3;
      context.moveTo(-arm, -arm);
      context.lineTo(arm, arm);
      context.moveTo(arm, -arm);
      context.lineTo(-arm, arm);
      context.stroke();
    }
    return canvas;
  };
  return Object.fromEntries(POINT_KINDS.map((kind) => [kind, sprite(kind)])) as Record<PointKind, HTMLCanvasElement>;
}

const SPRITE = 11;

export interface Scene {
  readonly placed: readonly PlacedPoint[];
  readonly kinds: readonly PointKind[];
  readonly snapshot: ClusterSnapshot;
  readonly failureHulls: ReturnType<typeof hulls>;
  readonly successHulls: ReturnType<typeof hulls>;
}

export function sceneOf(placed: readonly PlacedPoint[], snapshot: ClusterSnapshot, fitted: boolean): Scene {
  return {
    placed,
    snapshot,
    kinds: kindsOf(placed, snapshot, fitted),
    failureHulls: hulls(placed, 'failure'),
    successHulls: hulls(placed, 'success'),
  };
}

/** Draws everything that does not follow the pointer: axes, hulls, points, veto lines, centroids with their names. */
export function drawScene(
  context: CanvasRenderingContext2D,
  scene: Scene,
  frame: Frame,
  size: { readonly width: number; readonly height: number },
  palette: Palette,
  sprites: Readonly<Record<PointKind, HTMLCanvasElement>>,
): void {
  const { width, height } = size;
  const x = (value: number) => value * frame.scaleX + frame.offsetX;
  const y = (value: number) => value * frame.scaleY + frame.offsetY;
  context.clearRect(0, 0, width, height);
  drawAxes(context, scene.snapshot, frame, size, palette);
  context.save();
  context.beginPath();
  context.rect(PADDING.left, PADDING.top, width - PADDING.left - PADDING.right, height - PADDING.top - PADDING.bottom);
  context.clip();
  for (const [list, outcome] of [
    [scene.successHulls, 'success'],
    [scene.failureHulls, 'failure'],
  ] as const) {
    for (const [label, corners] of list) {
      const colour = outcome === 'success' ? palette.success : scene.snapshot.failure.clusters[label]?.kept ? palette.kept : palette.vetoed;
      context.beginPath();
      for (const [cx, cy] of corners) context.lineTo(x(cx), y(cy));
      context.closePath();
      context.globalAlpha = 0.08;
      context.fillStyle = colour;
      context.fill();
      context.globalAlpha = 0.5;
      context.strokeStyle = colour;
      context.lineWidth = 1;
      context.setLineDash(outcome === 'success' ? [2, 3] : []);
      context.stroke();
    }
  }
  context.setLineDash([]);
  context.globalAlpha = 0.85;
  // Successes first, so that the failures among them stay in sight.
  for (let i = scene.placed.length - 1; i >= 0; i--) {
    const point = scene.placed[i] as PlacedPoint;
    const px = x(point.x);
    const py = y(point.y);
    if (px < PADDING.left - SPRITE || px > width || py < -SPRITE || py > height) continue;
    context.drawImage(sprites[scene.kinds[i] ?? 'kept'], px - SPRITE / 2, py - SPRITE / 2, SPRITE, SPRITE);
  }
  context.globalAlpha = 1;
  drawVetoes(context, scene.snapshot, x, y, palette);
  drawCentres(context, scene.snapshot, x, y, width, palette);
  context.restore();
}

function drawAxes(
  context: CanvasRenderingContext2D,
  snapshot: ClusterSnapshot,
  frame: Frame,
  { width, height }: { readonly width: number; readonly height: number },
  palette: Palette,
): void {
  const right = width - PADDING.right;
  const bottom = height - PADDING.bottom;
  const lowX = (PADDING.left - frame.offsetX) / frame.scaleX;
  const highX = (right - frame.offsetX) / frame.scaleX;
  const lowY = (bottom - frame.offsetY) / frame.scaleY;
  const highY = (PADDING.top - frame.offsetY) / frame.scaleY;
  context.font = `12px ${palette.font}`;
  context.lineWidth = 1;
  context.strokeStyle = palette.line;
  context.fillStyle = palette.dim;
  context.textAlign = 'center';
  context.beginPath();
  for (const tick of ticks(lowX, highX, Math.max(2, width / 110))) {
    const at = tick * frame.scaleX + frame.offsetX;
    context.moveTo(at, PADDING.top);
    context.lineTo(at, bottom);
    context.fillText(label(tick), at, bottom + 14);
  }
  context.textAlign = 'right';
  for (const tick of ticks(lowY, highY, Math.max(2, height / 70))) {
    const at = tick * frame.scaleY + frame.offsetY;
    context.moveTo(PADDING.left, at);
    context.lineTo(right, at);
    context.fillText(label(tick), PADDING.left - 6, at + 4);
  }
  context.stroke();
  const [first, second] = snapshot.explained;
  context.fillText(`component 1 · ${Math.round(first * 100)}% of the variance`, right, height - 5);
  context.save();
  context.translate(14, PADDING.top);
  context.rotate(-Math.PI / 2);
  context.fillText(`component 2 · ${Math.round(second * 100)}%`, 0, 0);
  context.restore();
}

function drawVetoes(
  context: CanvasRenderingContext2D,
  { failure, success }: ClusterSnapshot,
  x: (value: number) => number,
  y: (value: number) => number,
  palette: Palette,
): void {
  context.strokeStyle = palette.text;
  context.lineWidth = 1.5;
  context.setLineDash([5, 4]);
  context.beginPath();
  failure.clusters.forEach(({ vetoedBy }, j) => {
    const from = failure.centres[j];
    const to = vetoedBy === undefined ? undefined : success.centres[vetoedBy];
    if (!from || !to) return;
    context.moveTo(x(from[0]), y(from[1]));
    context.lineTo(x(to[0]), y(to[1]));
  });
  context.stroke();
  context.setLineDash([]);
}

/** Most clusters whose names also say what became of them; beyond it the ring alone does (vetoed ones are broken). */
const WORDY = 10;

interface Centre {
  readonly at: readonly [number, number];
  readonly text: string;
  readonly colour: string;
  readonly broken: boolean;
  readonly below: boolean;
  readonly size: number;
}

/** Rings at the centroids, and the names that have room: large clusters first. Zooming in makes room for more. */
function drawCentres(
  context: CanvasRenderingContext2D,
  { failure, success }: ClusterSnapshot,
  x: (value: number) => number,
  y: (value: number) => number,
  width: number,
  palette: Palette,
): void {
  const wordy = failure.clusters.length + success.clusters.length <= WORDY;
  const centres: Centre[] = [
    ...failure.clusters.map(({ label: number, kept, size }, j) => ({
      at: failure.centres[j] ?? ([0, 0] as const),
      text: `${clusterName('failure', number)}${wordy ? (kept ? ' kept' : ' vetoed') : ''}`,
      colour: kept ? palette.kept : palette.vetoed,
      broken: !kept,
      below: false,
      size,
    })),
    ...success.clusters.map(({ label: number, size }, j) => ({
      at: success.centres[j] ?? ([0, 0] as const),
      text: clusterName('success', number),
      colour: palette.success,
      broken: false,
      below: true,
      size,
    })),
  ];
  for (const { at, colour, broken } of centres) {
    context.beginPath();
    context.arc(x(at[0]), y(at[1]), 6, 0, 2 * Math.PI);
    context.setLineDash([]);
    context.lineWidth = 4;
    context.strokeStyle = palette.ground;
    context.stroke();
    context.setLineDash(broken ? [3, 2] : []);
    context.lineWidth = 2;
    context.strokeStyle = colour;
    context.stroke();
  }
  context.setLineDash([]);
  context.lineWidth = 4;
  context.lineJoin = 'round';
  context.strokeStyle = palette.ground;
  context.fillStyle = palette.text;
  context.textAlign = 'center';
  context.font = `600 12px ${palette.font}`;
  const taken: { readonly left: number; readonly right: number; readonly top: number }[] = [];
  for (const { at, text, below } of centres.sort((a, b) => b.size - a.size)) {
    const px = x(at[0]);
    const base = y(at[1]) + (below ? 20 : -11);
    const half = context.measureText(text).width / 2 + 2;
    // A name stays inside the picture as long as its centroid does.
    const outside = px < PADDING.left || px > width - PADDING.right;
    const middle = outside ? px : Math.min(width - PADDING.right - half, Math.max(PADDING.left + half, px));
    const box = { left: middle - half, right: middle + half, top: base };
    if (taken.some(({ left, right, top }) => box.left < right && box.right > left && Math.abs(top - base) < 13)) continue;
    taken.push(box);
    context.strokeText(text, middle, base);
    context.fillText(text, middle, base);
  }
}

/** The layer above: a ring around the shown and the opened point, and lines to the neighbours of the shown one. */
export function drawHover(
  context: CanvasRenderingContext2D,
  frame: Frame,
  size: { readonly width: number; readonly height: number },
  palette: Palette,
  what: {
    readonly shown: PlacedPoint | undefined;
    readonly opened: PlacedPoint | undefined;
    readonly near: readonly PlacedPoint[];
  },
): void {
  const x = (point: PlacedPoint) => point.x * frame.scaleX + frame.offsetX;
  const y = (point: PlacedPoint) => point.y * frame.scaleY + frame.offsetY;
  context.clearRect(0, 0, size.width, size.height);
  const { shown, opened, near } = what;
  if (shown) {
    context.strokeStyle = palette.accent;
    context.globalAlpha = 0.7;
    context.lineWidth = 1;
    context.beginPath();
    for (const point of near) {
      context.moveTo(x(shown), y(shown));
      context.lineTo(x(point), y(point));
    }
    context.stroke();
    context.globalAlpha = 1;
  }
  for (const [point, radius, width] of [
    [opened, 8, 3],
    [shown, 7, 2],
  ] as const) {
    if (!point) continue;
    context.beginPath();
    context.arc(x(point), y(point), radius, 0, 2 * Math.PI);
    context.lineWidth = width;
    context.strokeStyle = palette.accent;
    context.stroke();
  }
}

function label(value: number): string {
  return String(value).replace('-', '−');
}
