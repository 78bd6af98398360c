import { cellsOf, isAboveBar, type Cell } from './cells.ts';
import { COMPACT_LANE_HEIGHT } from './layout.ts';
import { kindCode, LINK_KINDS, MARK_KINDS, type AnnotationInfo, type BarInfo, type MarkKind } from './model.ts';
import { xOf, type TimeScale } from './scale.ts';
import type { SceneArc, SceneBar, SceneCluster, SceneGlyph, SceneHatch, SceneLag, SceneText } from './sceneTypes.ts';
import type { TimelineStore } from './store.ts';
import type { StoredLane, StoredLink } from './storedLane.ts';
import type { Translate } from './translate.ts';

/** The parts of a scene while it is being made. */
export interface SceneParts {
  readonly bars: SceneBar[];
  readonly hatches: SceneHatch[];
  readonly lags: SceneLag[];
  readonly clusters: SceneCluster[];
  readonly glyphs: SceneGlyph[];
  readonly arcs: SceneArc[];
  readonly texts: SceneText[];
}

/** What the scene of one lane is made from. */
export interface LaneContext {
  readonly store: TimelineStore;
  readonly scale: TimeScale;
  readonly matched: Uint8Array | undefined;
  readonly translate: Translate;
  /** Until when an incarnation that has not ended is drawn. */
  readonly now: number;
  /** Whether the whole lane is dimmed: nothing on it can match. */
  readonly annotationDim: (annotation: AnnotationInfo) => boolean;
  readonly parts: SceneParts;
}

/** Where things are on a lane of a height, from its top. */
export interface LaneMetrics {
  readonly barTop: number;
  readonly barHeight: number;
  readonly onBar: number;
  readonly above: number;
  readonly labels: boolean;
}

/** The width of a cell: two glyphs side by side do not overlap. */
export const CELL_PX = 10;
const CELL_ABOVE_PX = 12;
const MAX_ARCS = 40;
const CHARACTER_PX = 5.6;

const ON_BAR: readonly number[] = MARK_KINDS.map((_, kind) => kind).filter((kind) => !isAboveBar(kind));
const ABOVE_BAR: readonly number[] = MARK_KINDS.map((_, kind) => kind).filter((kind) => isAboveBar(kind));

/** The metrics of a lane by its height. */
export function laneMetrics(height: number): LaneMetrics {
  if (height <= COMPACT_LANE_HEIGHT) return { barTop: 12, barHeight: 12, onBar: 18, above: 6, labels: false };
  return { barTop: 21, barHeight: 18, onBar: 30, above: 11, labels: true };
}

/** The cells of a lane as they are drawn and hit: above the bar, and on it. */
export function laneCells(
  lane: StoredLane,
  scale: TimeScale,
  matched: Uint8Array | undefined,
): { readonly above: Cell[]; readonly onBar: Cell[] } {
  return {
    above: cellsOf(lane.series, ABOVE_BAR, scale, CELL_ABOVE_PX, matched),
    onBar: cellsOf(lane.series, ON_BAR, scale, CELL_PX, matched),
  };
}

/** Adds all that is drawn of one lane whose top is at `y`. */
export function addLane(context: LaneContext, lane: StoredLane, y: number, height: number): void {
  const metrics = laneMetrics(height);
  const cells = laneCells(lane, context.scale, context.matched);
  const below: Span[] = [];
  const taken = metrics.labels ? addAnnotationWords(context, lane, y, metrics, spansOf(cells.above), below) : [];
  if (metrics.labels) taken.push(...addRefusals(context, cells.above, y + metrics.above + 4, taken));
  addBars(context, lane, y, metrics, taken);
  addLags(context, lane, y + metrics.barTop + metrics.barHeight + 1.5);
  addCells(context, cells.onBar, y + metrics.onBar, metrics.barHeight - 4);
  addCells(context, cells.above, y + metrics.above, 10);
  addAnnotationGlyphs(context, lane, y, metrics);
  if (metrics.labels) addGenerations(context, cells.onBar, y + metrics.barTop + metrics.barHeight + 13, below);
  addArcs(context, lane, y, metrics);
}

function addBars(
  { scale, now, translate, parts, matched }: LaneContext,
  lane: StoredLane,
  y: number,
  metrics: LaneMetrics,
  taken: readonly Span[],
): void {
  const top = y + metrics.barTop;
  const { bars } = lane.info;
  const dim = matched !== undefined && lane.count > 0 && !hasMatch(lane, matched);
  for (const [index, bar] of bars.entries()) {
    const left = xOf(scale, bar.from);
    const right = xOf(scale, bar.to ?? Math.max(now, bar.from));
    if (right < -1 || left > scale.width + 1) continue;
    const x = Math.max(-8, left);
    const width = Math.max(3, Math.min(scale.width + 8, right) - x);
    parts.bars.push({
      x,
      y: top,
      width,
      height: metrics.barHeight,
      incarnation: index,
      openLeft: left < 0 || bar.began === 'earlier',
      openRight: right > scale.width || bar.to === undefined,
      dim,
    });
    if (bar.terminatingAt !== undefined) {
      const from = Math.max(x, xOf(scale, bar.terminatingAt));
      const until = Math.min(scale.width + 8, right);
      if (until > from)
        parts.hatches.push({ kind: 'terminating', x: from, y: top, width: until - from, height: metrics.barHeight });
      if (metrics.labels && until - from > 30) {
        parts.texts.push({
          x: (from + until) / 2,
          y: top - 4,
          text: translate('terminating'),
          ink: 'muted',
          size: 9,
          mono: true,
          anchor: 'middle',
        });
      }
    }
    if (!metrics.labels) continue;
    addBarWords(
      parts,
      bar,
      { index, x: Math.max(left, 0) + 5, width, top, height: metrics.barHeight },
      taken,
      translate,
    );
  }
}

interface Span {
  readonly from: number;
  readonly to: number;
}

function addBarWords(
  parts: SceneParts,
  bar: BarInfo,
  place: { index: number; x: number; width: number; top: number; height: number },
  taken: readonly Span[],
  translate: Translate,
): void {
  const span = { from: place.x, to: place.x + 8 * 6 };
  if (place.width > 56 && !taken.some((other) => overlaps(other, span))) {
    parts.texts.push({ x: place.x, y: place.top - 4, text: shortUid(bar.uid), ink: 'faint', size: 9, mono: true });
  }
  if (place.index === 0 || place.width < 24) return;
  const words = bar.began === 'in-gap' ? translate('↻ recreated, within the gap') : translate('↻ recreated');
  if (place.width > 60)
    parts.texts.push({ x: place.x - 2, y: place.top + place.height + 13, text: words, ink: 'text', size: 10 });
}

/** The first part of a UID: enough for a person to tell two apart; the whole one is in the details. */
export function shortUid(uid: string): string {
  return uid.slice(0, 8);
}

function hasMatch(lane: StoredLane, matched: Uint8Array): boolean {
  return lane.series.some((series) => series !== undefined && series.matchedIn(0, series.length, matched) > 0);
}

function addLags({ scale, now, parts }: LaneContext, lane: StoredLane, y: number): void {
  let lastX = Number.NEGATIVE_INFINITY;
  const { lags } = lane;
  for (let index = firstEndingAfter(lags, scale.from); index < lags.length; index += 1) {
    const lag = lags[index];
    if (lag === undefined || lag.from > scale.to) break;
    const x = xOf(scale, lag.from);
    const right = xOf(scale, lag.to);
    if (right - lastX < 1) continue;
    parts.lags.push({ x: Math.max(0, x), y, width: Math.max(1, Math.min(scale.width, right) - Math.max(0, x)) });
    lastX = right;
  }
  const open = lane.info.lagFrom;
  if (open === undefined || open > scale.to) return;
  const x = Math.max(0, xOf(scale, open));
  parts.lags.push({ x, y, width: Math.max(1, Math.min(scale.width, xOf(scale, now)) - x) });
}

function firstEndingAfter(lags: readonly { readonly to: number }[], at: number): number {
  let low = 0;
  let high = lags.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((lags[middle]?.to ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

function addCells({ parts, scale }: LaneContext, cells: readonly Cell[], y: number, tallest: number): void {
  for (const cell of cells) {
    if (cell.last < -8 || cell.first > scale.width + 8) continue;
    const kind = MARK_KINDS[cell.kind] ?? 'unknown';
    const dim = cell.matched === 0;
    if (cell.count > 1) {
      // Taller for more of them, by the logarithm: 2 and 2,000 are told apart.
      const height = Math.min(tallest, 4 + Math.log2(cell.count) * 1.6);
      const left = Math.max(cell.first - 2, cell.x - CELL_PX / 2 + 0.5);
      const width = Math.min(CELL_PX - 1, Math.max(4, cell.last - cell.first + 4));
      parts.clusters.push({ kind, x: left, y: y - height / 2, width, height, dim });
      if (cell.kind < SPEAKING) continue;
    }
    parts.glyphs.push({ kind, x: cell.x, y, dim });
  }
}

/** From this kind on, a cluster shows its glyph too. */
const SPEAKING = kindCode('spec');

/** Generation numbers below the marks that raised it, as far as they fit. */
function addGenerations(
  { store, parts, scale }: LaneContext,
  cells: readonly Cell[],
  y: number,
  taken: readonly Span[],
): void {
  let end = Number.NEGATIVE_INFINITY;
  for (const cell of cells) {
    const text = store.text(store.marks.label.at(cell.mark));
    if (text === '' || text.length > 12 || cell.x < 0 || cell.x > scale.width) continue;
    const half = (text.length * CHARACTER_PX) / 2;
    if (cell.x - half < end + 4 || taken.some((other) => overlaps(other, { from: cell.x - half, to: cell.x + half }))) {
      continue;
    }
    end = cell.x + half;
    parts.texts.push({ x: cell.x, y, text, ink: 'spec', size: 9, anchor: 'middle' });
  }
}

/** The words of a refused write beside its mark, where nothing follows it closely; gives the places that are taken. */
function addRefusals({ store, parts }: LaneContext, cells: readonly Cell[], y: number, taken: readonly Span[]): Span[] {
  const spans = spansOf(cells);
  for (const [index, cell] of cells.entries()) {
    const text = store.text(store.marks.label.at(cell.mark));
    if (text === '' || cell.count > 1) continue;
    const span = { from: cell.x + 11, to: cell.x + 11 + text.length * CHARACTER_PX };
    const next = cells[index + 1];
    if ((next !== undefined && next.x < span.to + 6) || taken.some((other) => overlaps(other, span))) continue;
    parts.texts.push({ x: span.from, y, text, ink: MARK_KINDS[cell.kind] ?? 'text', size: 10 });
    spans.push(span);
  }
  return spans;
}

/** The places that marks take. */
function spansOf(cells: readonly Cell[]): Span[] {
  return cells.map((cell) => ({ from: cell.first - 7, to: cell.last + 7 }));
}

function overlaps(a: Span, b: Span): boolean {
  return a.from < b.to && b.from < a.to;
}

/**
 * Words of findings; gives the places that they take above the bar. Where marks stand above the bar, they go below it and
 * are added to `below`.
 */
function addAnnotationWords(
  { scale, parts, annotationDim }: LaneContext,
  lane: StoredLane,
  y: number,
  metrics: LaneMetrics,
  marks: readonly Span[],
  below: Span[],
): Span[] {
  const taken: Span[] = [];
  for (const annotation of lane.annotations) {
    const from = xOf(scale, annotation.from);
    const to = xOf(scale, annotation.to);
    if (to < 0 || from > scale.width || annotationDim(annotation)) continue;
    const stretch = annotation.glyph === undefined;
    const width = annotation.text.length * CHARACTER_PX;
    const beside = to + 12 + width > scale.width && to > width + 12 ? to - 12 - width : to + 12;
    const anchorX = stretch ? Math.max(0, Math.min(scale.width - width, (from + to - width) / 2)) : beside;
    const span = { from: anchorX, to: anchorX + width };
    const lowered = !stretch && marks.some((other) => overlaps(other, span));
    const others = lowered ? below : taken;
    if (others.some((other) => overlaps(other, span))) continue;
    others.push(span);
    const ink = annotation.glyph ?? (annotation.id.includes('conflict') ? 'conflict' : annotation.severity);
    const line = lowered ? metrics.barTop + metrics.barHeight + 13 : metrics.barTop - 4;
    const baseline = y + (stretch ? 2 : line);
    parts.texts.push({ x: anchorX, y: baseline, text: annotation.text, ink, size: 10 });
  }
  return taken;
}

function addAnnotationGlyphs(
  { scale, parts, annotationDim }: LaneContext,
  lane: StoredLane,
  y: number,
  metrics: LaneMetrics,
): void {
  for (const annotation of lane.annotations) {
    const { glyph } = annotation;
    const x = xOf(scale, annotation.to);
    if (glyph === undefined || x < -8 || x > scale.width + 8) continue;
    parts.glyphs.push({ kind: glyph, x, y: glyphY(y, metrics, glyph), dim: annotationDim(annotation) });
  }
}

/** The height at which the glyph of a finding stands. */
export function glyphY(y: number, metrics: LaneMetrics, glyph: MarkKind): number {
  return glyph === 'finding' ? y + metrics.above : y + metrics.onBar;
}

function addArcs({ scale, parts }: LaneContext, lane: StoredLane, y: number, metrics: LaneMetrics): void {
  const visible: StoredLink[] = [];
  for (let index = lane.links.length - 1; index >= 0; index -= 1) {
    const link = lane.links[index];
    if (link === undefined || Math.max(link.fromAt, link.toAt) < scale.from) break;
    if (Math.min(link.fromAt, link.toAt) > scale.to) continue;
    visible.push(link);
    if (visible.length > MAX_ARCS) return;
  }
  for (const link of visible) {
    const kind = LINK_KINDS[link.kind] ?? 'read';
    const x1 = xOf(scale, link.fromAt);
    const x2 = xOf(scale, link.toAt);
    if (Math.abs(x2 - x1) < 3) continue;
    const refused =
      kind === 'winner'
        ? { y1: y + metrics.above, y2: y + metrics.onBar }
        : { y1: y + metrics.onBar, y2: y + metrics.above };
    parts.arcs.push({ kind, x1, x2, ...refused });
  }
}
