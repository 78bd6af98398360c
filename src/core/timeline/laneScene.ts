import type { ActorMarks } from './actorMarks.ts';
import { cellsOf, isAboveBar, type Cell, type LaneSeries } from './cells.ts';
import { firstWhere } from './firstWhere.ts';
import { hasMatch, laneLabels, type GapWords, type LabelInput } from './laneLabels.ts';
import { glyphY, laneMetrics, type LaneMetrics } from './laneMetrics.ts';
import { kindCode, LINK_KINDS, MARK_KINDS, type AnnotationInfo } from './model.ts';
import { drawnSpan, xOf, type Span, type TimeScale } from './scale.ts';
import type { SceneArc, SceneBar, SceneCluster, SceneGlyph, SceneHatch, SceneLag, SceneText } from './sceneTypes.ts';
import type { StoredLane, StoredLink } from './storedLane.ts';

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
export interface LaneContext extends LabelInput {
  readonly parts: SceneParts;
}

/** The width of a cell: two glyphs side by side do not overlap. */
const CELL_PX = 10;
const CELL_ABOVE_PX = 12;
/** More curves in view than this on one row would cover everything: none is drawn. */
export const MAX_ARCS = 40;

const ON_BAR: readonly number[] = MARK_KINDS.map((_, kind) => kind).filter((kind) => !isAboveBar(kind));
const ABOVE_BAR: readonly number[] = MARK_KINDS.map((_, kind) => kind).filter((kind) => isAboveBar(kind));

/** The cells of a lane or a track as they are drawn and hit: above the bar, and on it. */
export function laneCells(
  lane: { readonly series: LaneSeries },
  scale: TimeScale,
  matched: Uint8Array | undefined,
): { readonly above: Cell[]; readonly onBar: Cell[] } {
  return {
    above: cellsOf(lane.series, ABOVE_BAR, scale, CELL_ABOVE_PX, matched),
    onBar: cellsOf(lane.series, ON_BAR, scale, CELL_PX, matched),
  };
}

/** Adds all that is drawn of one lane whose top is at `y`; `gaps` are words about gaps that have no other place. */
export function addLane(
  context: LaneContext,
  lane: StoredLane,
  y: number,
  height: number,
  gaps: readonly GapWords[] = [],
): void {
  const metrics = laneMetrics(height);
  const cells = laneCells(lane, context.scale, context.matched);
  addBars(context, lane, y, metrics);
  addLags(context, lane, y + metrics.barTop + metrics.barHeight + 1.5);
  addCells(context, cells.onBar, y + metrics.onBar, metrics.tallest);
  addCells(context, cells.above, y + metrics.above, 10);
  addFindingGlyphs(context, lane.annotations, y, metrics);
  for (const { text } of laneLabels(context, lane, metrics, cells, gaps))
    context.parts.texts.push({ ...text, y: y + text.y });
  addArcs(context, lane, y, metrics);
}

/** The stretch in which an actor did anything. */
export function addBand(
  { scale, parts }: LaneContext,
  marks: Pick<ActorMarks, 'firstAt' | 'lastAt'>,
  y: number,
  metrics: LaneMetrics,
): void {
  const left = xOf(scale, marks.firstAt);
  const right = xOf(scale, marks.lastAt);
  if (right < -8 || left > scale.width + 8) return;
  const x = Math.max(-8, left - BAND_PX);
  parts.bars.push({
    x,
    y: y + metrics.onBar - 1,
    width: Math.min(scale.width + 8, right + BAND_PX) - x,
    height: 2,
    incarnation: 0,
    openLeft: left < 0,
    openRight: right > scale.width,
    dim: false,
  });
}

/** Lives that begin and end closer to each other than this are not told apart. */
const APART_PX = 0.5;
/** How far a band reaches beyond its first and last mark. */
const BAND_PX = 8;

/** One bar for each incarnation. */
export function addBars(context: LaneContext, lane: StoredLane, y: number, metrics: LaneMetrics): void {
  const { scale, parts, matched } = context;
  const top = y + metrics.barTop;
  const { bars } = lane.info;
  const dim = lane.count > 0 && !hasMatch(lane, matched);
  let drawn: Span = { from: Number.NaN, to: Number.NaN };
  for (const [index, bar] of bars.entries()) {
    const { from: left, to: right } = drawnSpan(context, bar);
    if (right < -1 || left > scale.width + 1) continue;
    const x = Math.max(-8, left);
    const until = Math.min(scale.width + 8, right);
    // Many short lives in one place: one is seen.
    if (Math.abs(x - drawn.from) < APART_PX && Math.abs(until - drawn.to) < APART_PX) continue;
    drawn = { from: x, to: until };
    parts.bars.push({
      x,
      y: top,
      width: until - x,
      height: metrics.barHeight,
      incarnation: index,
      openLeft: left < 0 || bar.began === 'earlier',
      openRight: right > scale.width || bar.to === undefined,
      dim,
    });
    if (bar.terminatingAt !== undefined) {
      const from = Math.max(x, xOf(scale, bar.terminatingAt));
      if (until > from)
        parts.hatches.push({ kind: 'terminating', x: from, y: top, width: until - from, height: metrics.barHeight });
    }
  }
}

function addLags({ scale, now, parts, matched }: LaneContext, lane: StoredLane, y: number): void {
  let lastX = Number.NEGATIVE_INFINITY;
  const { lags } = lane;
  // A lag is no mark: where a filter chooses among marks, it is not what is looked for.
  const dim = matched === undefined ? {} : { dim: true };
  const first = firstWhere(lags.length, (index) => (lags[index]?.to ?? 0) >= scale.from);
  for (let index = first; index < lags.length; index += 1) {
    const lag = lags[index];
    if (lag === undefined || lag.from > scale.to) break;
    const x = xOf(scale, lag.from);
    const right = xOf(scale, lag.to);
    if (right - lastX < 1) continue;
    parts.lags.push({
      x: Math.max(0, x),
      y,
      width: Math.max(1, Math.min(scale.width, right) - Math.max(0, x)),
      ...dim,
    });
    lastX = right;
  }
  const open = lane.info.lagFrom;
  if (open === undefined || open > scale.to) return;
  const x = Math.max(0, xOf(scale, open));
  parts.lags.push({ x, y, width: Math.max(1, Math.min(scale.width, xOf(scale, now)) - x), ...dim });
}

/** Marks, and blocks of many, around a height. */
export function addCells({ parts, scale }: LaneContext, cells: readonly Cell[], y: number, tallest: number): void {
  for (const cell of cells) {
    if (cell.last < -8 || cell.first > scale.width + 8) continue;
    const kind = MARK_KINDS[cell.kind] ?? 'unknown';
    const dim = cell.matched === 0;
    if (cell.count > 1) {
      // Taller for more of them, by the logarithm: 2 and 2,000 are told apart.
      const height = Math.min(tallest, 4 + Math.log2(cell.count) * 1.6);
      const left = Math.max(cell.first - 2, cell.x - CELL_PX / 2 + 0.5);
      const width = Math.min(CELL_PX - 1, Math.max(4, cell.last - cell.first + 4));
      parts.clusters.push({ kind, x: left, y: y - height / 2, width, height, dim, mark: cell.mark });
      if (cell.kind < SPEAKING) continue;
    }
    parts.glyphs.push({ kind, x: cell.x, y, dim, mark: cell.mark });
  }
}

/** From this kind on, a cluster shows its glyph too. */
const SPEAKING = kindCode('spec');

/** The glyphs of findings. */
export function addFindingGlyphs(
  { scale, parts, annotationDim }: LaneContext,
  annotations: readonly AnnotationInfo[],
  y: number,
  metrics: LaneMetrics,
): void {
  for (const annotation of annotations) {
    const { glyph, to, repeats } = annotation;
    if (glyph === undefined) continue;
    for (const at of [...repeats, to]) {
      const x = xOf(scale, at);
      if (x < -8 || x > scale.width + 8) continue;
      const dim = annotationDim(annotation);
      parts.glyphs.push({ kind: glyph, x, y: glyphY(y, metrics, glyph), dim, finding: annotation.key });
    }
  }
}

/** The pixel of an end of a curve: not much further out than the view is wide, as each dash on the way there costs time. */
export function arcX(scale: TimeScale, at: number): number {
  return Math.max(-scale.width, Math.min(2 * scale.width, xOf(scale, at)));
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
    const x1 = arcX(scale, link.fromAt);
    const x2 = arcX(scale, link.toAt);
    if (Math.abs(x2 - x1) < 3) continue;
    const refused =
      kind === 'winner'
        ? { y1: y + metrics.above, y2: y + metrics.onBar }
        : { y1: y + metrics.onBar, y2: y + metrics.above };
    parts.arcs.push({ kind, x1, x2, ...refused });
  }
}
