import { ticksOf } from './axis.ts';
import { cellsOf } from './cells.ts';
import type { FilterMatch } from './filterMatch.ts';
import { addLane, glyphY, laneMetrics, type SceneParts } from './laneScene.ts';
import { rowsInView, type Layout, type Row } from './layout.ts';
import { MARK_KINDS, type AnnotationInfo, type GapInfo } from './model.ts';
import { xOf, type TimeScale } from './scale.ts';
import type { Scene, SceneRow } from './sceneTypes.ts';
import type { TimelineStore } from './store.ts';
import type { Translate } from './translate.ts';

/** What one frame shows. */
export interface SceneInput {
  readonly store: TimelineStore;
  readonly layout: Layout;
  readonly match: FilterMatch;
  readonly annotationDim: (annotation: AnnotationInfo) => boolean;
  readonly scale: TimeScale;
  /** How far the rows are scrolled, and how much of them is seen, in CSS pixels. */
  readonly top: number;
  readonly height: number;
  readonly timeZoneOffsetMin: number;
  readonly translate: Translate;
  /** Until when living incarnations are drawn. */
  readonly now: number;
}

/** The lanes of a collapsed group are summed up while there are at most this many. */
const MAX_SUMMED_LANES = 200;

/** Makes the drawing of the rows in view. Pure: the same input gives the same scene. */
export function sceneOf(input: SceneInput): Scene {
  const { layout, scale, top, height } = input;
  const parts: SceneParts = { bars: [], hatches: [], lags: [], clusters: [], glyphs: [], arcs: [], texts: [] };
  const { first, end } = rowsInView(layout, top, height);
  const rows: SceneRow[] = [];
  const context = { ...input, matched: input.match.marks, parts };
  addGaps(input, first, end, parts);
  for (let index = first; index < end; index += 1) {
    const row = layout.rows[index];
    if (row === undefined) continue;
    const y = row.y - top;
    rows.push({ type: row.type, index, y, height: row.height });
    if (row.type === 'lane') {
      const lane = input.store.lanes[row.lane];
      if (lane !== undefined) addLane(context, lane, y, row.height);
    } else if (row.collapsed) addSummary(input, row, y, parts);
  }
  addOrigins(input, first, end, parts);
  const gridX = ticksOf(scale, input.timeZoneOffsetMin).map((tick) => tick.x);
  return { width: scale.width, height, rows, gridX, ...parts };
}

/** Gaps over the lanes that they concern; neighbours are one rectangle. */
function addGaps(
  { store, layout, scale, top, height }: SceneInput,
  first: number,
  end: number,
  parts: SceneParts,
): void {
  for (const gap of store.gaps) {
    const x = Math.max(-4, xOf(scale, gap.from));
    const right = Math.min(scale.width + 4, xOf(scale, gap.to ?? Math.max(gap.from, store.lastAt)));
    if (right < 0 || x > scale.width) continue;
    const width = Math.max(2, right - x);
    let start: number | undefined;
    let bottom = 0;
    let headed = false;
    const close = (): void => {
      if (start === undefined) return;
      const low = Math.min(height, bottom);
      parts.hatches.push({ kind: 'gap', x, y: start, width, height: low - start });
      // In the head of the group there is room for words; without one they stand at the foot.
      const textX = Math.max(3, Math.min(x + width, scale.width - gap.text.length * 5) + 4);
      const textY = headed ? start + 16 : low - 5;
      if (low - start > 20) parts.texts.push({ x: textX, y: textY, text: gap.text, ink: 'muted', size: 9 });
      start = undefined;
    };
    for (let index = first; index < end; index += 1) {
      const row = layout.rows[index];
      if (row === undefined || !gapConcerns(store, gap, row)) {
        close();
        continue;
      }
      if (start === undefined) headed = row.type === 'group' && row.y >= top;
      start ??= Math.max(0, row.y - top);
      bottom = row.y - top + row.height;
    }
    close();
  }
}

/** Whether a gap is about a row. The head of a group belongs to its lanes where the whole resource was unseen. */
export function gapConcerns(store: TimelineStore, gap: GapInfo, row: Row): boolean {
  const lane = row.type === 'lane' ? store.lanes[row.lane]?.info : undefined;
  const group = store.groups[row.type === 'lane' ? (lane?.group ?? -1) : row.group];
  if (group === undefined || group.cluster !== gap.cluster) return false;
  if (group.apiGroup !== gap.scope.group || group.resource !== gap.scope.resource) return false;
  if (lane === undefined) return gap.scope.namespace === undefined && gap.scope.name === undefined;
  return (
    (gap.scope.namespace === undefined || gap.scope.namespace === lane.namespace) &&
    (gap.scope.name === undefined || gap.scope.name === lane.name)
  );
}

/** A collapsed group shows where its lanes are busy. */
function addSummary(
  { store, scale, match }: SceneInput,
  row: Row & { type: 'group' },
  y: number,
  parts: SceneParts,
): void {
  const kinds = MARK_KINDS.map((_, kind) => kind);
  const columns = new Map<number, { count: number; kind: number; matched: number }>();
  let summed = 0;
  for (const [index, lane] of store.lanes.entries()) {
    if (lane.info.group !== row.group || match.lanes[index] !== 1) continue;
    summed += 1;
    if (summed > MAX_SUMMED_LANES) break;
    for (const cell of cellsOf(lane.series, kinds, scale, 6, match.marks)) {
      const column = Math.round(cell.x / 6);
      const sum = columns.get(column);
      if (sum === undefined) columns.set(column, { count: cell.count, kind: cell.kind, matched: cell.matched });
      else {
        sum.count += cell.count;
        sum.matched += cell.matched;
        sum.kind = Math.max(sum.kind, cell.kind);
      }
    }
  }
  for (const [column, { count, kind, matched }] of columns) {
    const height = Math.min(18, 3 + Math.log2(count + 1) * 2);
    parts.clusters.push({
      kind: MARK_KINDS[kind] ?? 'unknown',
      x: column * 6 - 2.5,
      y: y + 22 - height,
      width: 5,
      height,
      dim: matched === 0,
    });
  }
}

/** Curves from what is gone to what still points at it, also across lanes. */
function addOrigins({ store, layout, scale, top }: SceneInput, first: number, end: number, parts: SceneParts): void {
  for (const annotation of store.annotations) {
    if (annotation.originLane === undefined || annotation.originAt === undefined) continue;
    const from = layout.rowOfLane.get(annotation.originLane);
    const to = layout.rowOfLane.get(annotation.lane);
    if (from === undefined || to === undefined || (from < first && to < first) || (from >= end && to >= end)) continue;
    const fromRow = layout.rows[from];
    const toRow = layout.rows[to];
    if (fromRow === undefined || toRow === undefined) continue;
    const x1 = xOf(scale, annotation.originAt);
    const x2 = xOf(scale, annotation.to);
    if (Math.max(x1, x2) < 0 || Math.min(x1, x2) > scale.width) continue;
    const fromMetrics = laneMetrics(fromRow.height);
    const below = fromRow.y < toRow.y;
    parts.arcs.push({
      kind: 'reference',
      x1,
      y1: fromRow.y - top + (below ? fromMetrics.barTop + fromMetrics.barHeight + 2 : fromMetrics.barTop - 2),
      x2,
      y2: glyphY(toRow.y - top, laneMetrics(toRow.height), annotation.glyph ?? 'finding') + (below ? -7 : 7),
    });
  }
}
