import { isAboveBar, type Cell } from './cells.ts';
import { GLYPHS } from './glyphs.ts';
import { glyphY, laneCells, laneMetrics } from './laneScene.ts';
import { rowAt, type Layout } from './layout.ts';
import type { AnnotationInfo, GapInfo } from './model.ts';
import { timeAt, xOf, type TimeScale } from './scale.ts';
import { gapConcerns } from './scene.ts';
import type { TimelineStore } from './store.ts';

/** What is under a place. */
export type Hit =
  | { readonly type: 'cell'; readonly lane: number; readonly cell: Cell; readonly x: number; readonly y: number }
  | {
      readonly type: 'annotation';
      readonly lane: number;
      readonly annotation: AnnotationInfo;
      readonly x: number;
      readonly y: number;
    }
  | { readonly type: 'bar'; readonly lane: number; readonly bar: number }
  | { readonly type: 'gap'; readonly gap: GapInfo }
  | { readonly type: 'lane'; readonly lane: number }
  | { readonly type: 'group'; readonly group: number };

/** How far from a mark it is still hit, in pixels. */
const REACH = 7;

/** What is at (x, y) of the drawing area when the rows are scrolled by `top`; the nearest mark wins, findings before marks. */
export function hitTest(
  store: TimelineStore,
  layout: Layout,
  scale: TimeScale,
  matched: Uint8Array | undefined,
  place: { readonly x: number; readonly y: number; readonly top: number },
): Hit | undefined {
  const row = rowAt(layout, place.y + place.top);
  if (row === undefined) return undefined;
  if (row.type === 'group') return { type: 'group', group: row.group };
  const lane = store.lanes[row.lane];
  if (lane === undefined) return undefined;
  const metrics = laneMetrics(row.height);
  const y = place.y + place.top - row.y;
  const marked = nearestAnnotation(lane.annotations, scale, metrics, place.x, y) ?? undefined;
  const rowY = row.y - place.top;
  if (marked !== undefined) {
    const at = glyphY(rowY, metrics, marked.glyph ?? 'finding');
    return { type: 'annotation', lane: row.lane, annotation: marked, x: xOf(scale, marked.to), y: at };
  }
  const cells = laneCells(lane, scale, matched);
  const above = y < metrics.barTop - 1;
  const cell =
    nearestCell(above ? cells.above : cells.onBar, place.x) ?? nearestCell(above ? [] : cells.above, place.x, 3);
  if (cell !== undefined) {
    const cellY = rowY + (isAboveBar(cell.kind) ? metrics.above : metrics.onBar);
    return { type: 'cell', lane: row.lane, cell, x: cell.x, y: cellY };
  }
  const at = timeAt(scale, place.x);
  const gap = store.gaps.find(
    (one) => at >= one.from && at <= (one.to ?? store.lastAt) && gapConcerns(store, one, row),
  );
  if (gap !== undefined) return { type: 'gap', gap };
  const bar = lane.info.bars.findLastIndex((one) => at >= one.from && at <= (one.to ?? store.lastAt));
  if (bar >= 0 && y >= metrics.barTop && y <= metrics.barTop + metrics.barHeight)
    return { type: 'bar', lane: row.lane, bar };
  return { type: 'lane', lane: row.lane };
}

function nearestCell(cells: readonly Cell[], x: number, reach = REACH): Cell | undefined {
  let best: Cell | undefined;
  let bestDistance = reach;
  for (const cell of cells) {
    const inside = x >= cell.first && x <= cell.last;
    const distance = inside ? 0 : Math.min(Math.abs(x - cell.first), Math.abs(x - cell.last));
    if (distance <= bestDistance) {
      best = cell;
      bestDistance = distance;
    }
  }
  return best;
}

function nearestAnnotation(
  annotations: readonly AnnotationInfo[],
  scale: TimeScale,
  metrics: ReturnType<typeof laneMetrics>,
  x: number,
  y: number,
): AnnotationInfo | undefined {
  return annotations.findLast((annotation) => {
    if (annotation.glyph === undefined) return false;
    const radius = GLYPHS[annotation.glyph].radius + 2;
    return (
      Math.abs(x - xOf(scale, annotation.to)) <= radius && Math.abs(y - glyphY(0, metrics, annotation.glyph)) <= radius
    );
  });
}
