import { ticksOf } from './axis.ts';
import { cellsOf } from './cells.ts';
import { gapText } from './gaps.ts';
import { isInScope, type FilterMatch } from './filterMatch.ts';
import { estimateWidth, LabelLine, type Measure } from './labels.ts';
import type { GapWords } from './laneLabels.ts';
import { glyphY, laneMetrics } from './laneMetrics.ts';
import { addLane, arcX, type SceneParts } from './laneScene.ts';
import { rowsInView, type Layout, type Row } from './layout.ts';
import { MARK_KINDS, type AnnotationInfo, type GapInfo } from './model.ts';
import { foldedWords, groupTitle } from './rowWords.ts';
import { drawnSpan, type Span, type TimeScale } from './scale.ts';
import type { Scene, SceneRow } from './sceneTypes.ts';
import type { TimelineStore } from './store.ts';
import { addTrack, addWinnerArcs } from './trackScene.ts';
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
  /** How wide words are drawn; left out: an estimate. */
  readonly measure?: Measure;
  /** How wide the column of names is: titles of groups reach from there into the lanes. */
  readonly namesWidth?: number;
  /** Until when living incarnations are drawn. */
  readonly now: number;
}

/** No more lanes of a collapsed group than this are summed up. */
const MAX_SUMMED_LANES = 200;

/** Makes the drawing of the rows in view. Pure: the same input gives the same scene. */
export function sceneOf(input: SceneInput): Scene {
  const { layout, scale, top, height } = input;
  const parts: SceneParts = { bars: [], hatches: [], lags: [], clusters: [], glyphs: [], arcs: [], texts: [] };
  const { first, end } = rowsInView(layout, top, height);
  const rows: SceneRow[] = [];
  const context = { ...input, matched: input.match.marks, parts };
  const gapWords = addGaps(input, first, end, parts);
  for (let index = first; index < end; index += 1) {
    const row = layout.rows[index];
    if (row === undefined) continue;
    const y = row.y - top;
    rows.push({ type: row.type, index, y, height: row.height });
    if (row.type === 'lane') {
      const lane = input.store.lanes[row.lane];
      if (lane !== undefined) addLane(context, lane, y, row.height, gapWords.get(index));
    } else if (row.type === 'track') {
      addTrack(context, row, y);
      addWinnerArcs(input, row, parts.arcs);
    } else if (row.type === 'group' && row.collapsed) addSummary(input, row, y, parts);
  }
  addOrigins(input, first, end, parts);
  const gridX = ticksOf(scale, input.timeZoneOffsetMin).map((tick) => tick.x);
  return { width: scale.width, height, rows, gridX, ...parts };
}

/**
 * Gaps over the lanes that they concern; neighbours are one rectangle. The words stand in the head of the group, where there
 * is room; those of gaps without a head in view are given back, for the first lane of each.
 */
function addGaps(input: SceneInput, first: number, end: number, parts: SceneParts): Map<number, GapWords[]> {
  const { store, layout, scale, top, height, translate, measure = estimateWidth } = input;
  const words = new Map<number, GapWords[]>();
  const heads = new Map<number, LabelLine>();
  for (const gap of store.gaps) {
    const { from, to } = drawnSpan(input, gap);
    if (to < 0 || from > scale.width) continue;
    const x = Math.max(-4, from);
    const width = Math.min(scale.width + 4, to) - x;
    for (const run of runsOf(layout.rows, first, end, (row) => gapConcerns(store, gap, row))) {
      const y = Math.max(0, run.y - top);
      const bottom = Math.min(height, run.bottom - top);
      parts.hatches.push({ kind: 'gap', x, y, width, height: bottom - y });
      const beginning = Math.max(3, x + 4);
      const head = layout.rows[run.index];
      if (head?.type === 'group' && run.y >= top) {
        const line = heads.get(run.index) ?? new LabelLine(scale.width, titleSpans(input, head));
        heads.set(run.index, line);
        addHeadWords(parts, line, beginning, y + 16, gapText(gap, translate), measure);
      } else words.set(run.index, [...(words.get(run.index) ?? []), { x: beginning, text: gapText(gap, translate) }]);
    }
  }
  return words;
}

/** What the title of a group takes of the lanes. */
function titleSpans(
  { store, namesWidth, translate, measure = estimateWidth }: SceneInput,
  row: Row & { type: 'group' },
): Span[] {
  if (namesWidth === undefined) return [];
  const title = `${groupTitle(store.groups[row.group]?.label ?? '')} ${row.lanes.length}${foldedWords(row, translate)}`;
  return [{ from: 0, to: measure(title, TITLE_PX, false) * BOLD + TITLE_INDENT_PX - namesWidth }];
}

/** The size of titles; how much wider than plain words they are in bold and spaced; what stands before and after them. */
const TITLE_PX = 11;
const BOLD = 1.15;
const TITLE_INDENT_PX = 40;
const GAP_TEXT = { ink: 'muted', size: 9 } as const;

function addHeadWords(parts: SceneParts, line: LabelLine, x: number, y: number, text: string, measure: Measure): void {
  const widthOf = (words: string): number => measure(words, GAP_TEXT.size, false);
  const placed =
    line.whole(text, widthOf(text), { x, side: 'right' }) ??
    line.whole(text, widthOf(text), { x: x - 8, side: 'left' }) ??
    line.shortened(text, widthOf, { x, side: 'right' });
  if (placed !== undefined) parts.texts.push({ x: placed.from, y, text: placed.text, ...GAP_TEXT });
}

/** Neighbouring rows that are alike: the index of the first, and where the run begins and ends. */
function runsOf(
  rows: readonly Row[],
  first: number,
  end: number,
  belongs: (row: Row) => boolean,
): { readonly index: number; readonly y: number; bottom: number }[] {
  const runs: { index: number; y: number; bottom: number }[] = [];
  let open: { index: number; y: number; bottom: number } | undefined;
  for (let index = first; index < end; index += 1) {
    const row = rows[index];
    if (row === undefined || !belongs(row)) open = undefined;
    else if (open === undefined) {
      open = { index, y: row.y, bottom: row.y + row.height };
      runs.push(open);
    } else open.bottom = row.y + row.height;
  }
  return runs;
}

/** Whether a gap is about a row. The head of a group belongs to its lanes where the whole resource was unseen. */
export function gapConcerns(store: TimelineStore, gap: GapInfo, row: Row): boolean {
  if (row.type === 'more' || row.type === 'readers') return false;
  if (row.type !== 'group') {
    const lane = store.lanes[row.lane ?? -1]?.info;
    return lane !== undefined && isInScope(store, gap, lane);
  }
  const group = store.groups[row.group];
  const { scope } = gap;
  return (
    scope.namespace === undefined &&
    scope.name === undefined &&
    group?.cluster === gap.cluster &&
    group.apiGroup === scope.group &&
    group.resource === scope.resource
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
  for (const lane of row.lanes.slice(0, MAX_SUMMED_LANES)) {
    for (const cell of cellsOf(store.lanes[lane]?.series ?? [], kinds, scale, 6, match.marks)) {
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
    const x1 = arcX(scale, annotation.originAt);
    const x2 = arcX(scale, annotation.to);
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
