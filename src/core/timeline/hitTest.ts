import type { Cell } from './cells.ts';
import { GLYPHS } from './glyphs.ts';
import { laneLabels } from './laneLabels.ts';
import { glyphY, laneMetrics, markY, type LaneMetrics } from './laneMetrics.ts';
import { laneCells } from './laneScene.ts';
import { rowAt, type Row } from './layout.ts';
import type { AnnotationInfo, BarInfo, GapInfo } from './model.ts';
import { drawnSpan, timeAt, xOf, type TimeScale } from './scale.ts';
import { gapConcerns, type SceneInput } from './scene.ts';
import type { StoredLane } from './storedLane.ts';
import { readCells, READ_PX, readY } from './trackScene.ts';
import { trackMarks, type Track } from './tracks.ts';

/** What is under a place. */
export type Hit =
  | {
      readonly type: 'cell';
      readonly lane: number;
      readonly cell: Cell;
      readonly x: number;
      readonly y: number;
      /** On the row of its actor beneath that of its object, or the other way round. */
      readonly onTrack?: boolean;
    }
  | {
      readonly type: 'annotation';
      readonly lane: number;
      readonly annotation: AnnotationInfo;
      readonly x: number;
      readonly y: number;
    }
  | {
      readonly type: 'bar';
      readonly lane: number;
      readonly bar: number;
      /** The time in which observedGeneration lagged; `to` is absent while it does. */
      readonly lag?: { readonly from: number; readonly to?: number };
    }
  | { readonly type: 'gap'; readonly gap: GapInfo }
  | { readonly type: 'lane'; readonly lane: number }
  | { readonly type: 'track'; readonly actor: number }
  | {
      readonly type: 'read';
      readonly read: number;
      readonly lane: number;
      readonly track: Track;
      /** Its marks are places in the columns of reads. */
      readonly cell: Cell;
      readonly x: number;
      readonly y: number;
      readonly onTrack?: boolean;
    }
  | { readonly type: 'group' | 'more'; readonly group: number }
  | { readonly type: 'readers'; readonly of: Partial<Track> };

/** How far from a mark it is still hit, in pixels. */
const REACH = 7;
const NEAR = 3;

/** How far a line of words reaches above and below its baseline. */
const ASCENT_PX = 9;
const DESCENT_PX = 3;

/**
 * What is at (x, y) of the drawing area; the nearest mark wins, findings and their words before marks. By the geometry that
 * the scene is drawn with.
 */
export function hitTest(input: SceneInput, place: { readonly x: number; readonly y: number }): Hit | undefined {
  const { store, layout, scale, top } = input;
  const row = rowAt(layout, place.y + top);
  if (row === undefined) return undefined;
  if (row.type === 'track') return hitTrack(input, row, place);
  if (row.type === 'readers') return { type: 'readers', of: row.of };
  if (row.type !== 'lane') return { type: row.type, group: row.group };
  const lane = store.lanes[row.lane];
  if (lane === undefined) return undefined;
  const metrics = laneMetrics(row.height);
  const y = place.y + top - row.y;
  const cells = laneCells(lane, scale, input.match.marks);
  const rowY = row.y - top;
  const words = laneLabels(input, lane, metrics, cells).find(
    ({ from, to, text, annotation }) =>
      annotation !== undefined &&
      place.x >= from &&
      place.x <= to &&
      y >= text.y - ASCENT_PX &&
      y <= text.y + DESCENT_PX,
  );
  const marked = nearestAnnotation(lane.annotations, scale, metrics, place.x, y) ?? words?.annotation;
  if (marked !== undefined) {
    return annotationHit(marked, scale, place.x, glyphY(rowY, metrics, marked.glyph ?? 'finding'));
  }
  const cell = cellAt(cells, metrics, place.x, y);
  if (cell !== undefined) {
    return { type: 'cell', lane: row.lane, cell, x: cell.x, y: markY(rowY, metrics, cell.kind) };
  }
  const isOn = (one: GapInfo | BarInfo): boolean => {
    const { from, to } = drawnSpan(input, one);
    return place.x >= from && place.x <= to;
  };
  const gap = store.gaps.find((one) => isOn(one) && gapConcerns(store, one, row));
  if (gap !== undefined) return { type: 'gap', gap };
  const bar = lane.info.bars.findLastIndex(isOn);
  if (bar >= 0 && y >= metrics.barTop && y <= metrics.barTop + metrics.barHeight + NEAR) {
    const lag = lagAt(lane, timeAt(scale, place.x));
    return { type: 'bar', lane: row.lane, bar, ...(lag === undefined ? {} : { lag }) };
  }
  return { type: 'lane', lane: row.lane };
}

/** A finding where it was hit: at the nearest of its occurrences. */
function annotationHit(annotation: AnnotationInfo, scale: TimeScale, place: number, y: number): Hit {
  const places = [...annotation.repeats, annotation.to].map((at) => xOf(scale, at));
  const x = places.reduce((best, one) => (Math.abs(one - place) < Math.abs(best - place) ? one : best));
  return { type: 'annotation', lane: annotation.lane, annotation, x, y };
}

function lagAt({ lags, info: { lagFrom } }: StoredLane, at: number): { from: number; to?: number } | undefined {
  if (lagFrom !== undefined && at >= lagFrom) return { from: lagFrom };
  return lags.find(({ from, to }) => at >= from && at <= to);
}

function cellAt(cells: ReturnType<typeof laneCells>, metrics: LaneMetrics, x: number, y: number): Cell | undefined {
  const above = y < metrics.barTop - 1;
  return nearestCell(above ? cells.above : cells.onBar, x) ?? nearestCell(above ? [] : cells.above, x, NEAR);
}

function hitTrack(
  input: SceneInput,
  row: Row & { type: 'track' },
  place: { readonly x: number; readonly y: number },
): Hit {
  const { store, match, scale, top } = input;
  const metrics = laneMetrics(row.height);
  const y = place.y + top - row.y;
  const marks = trackMarks(store, match, row);
  const { own = [] } = store.findingsByActor.get(row.actor) ?? {};
  const annotations = row.lane === undefined ? own : own.filter(({ lane }) => lane === row.lane);
  const found = nearestAnnotation(annotations, scale, metrics, place.x, y);
  if (found !== undefined)
    return annotationHit(found, scale, place.x, glyphY(row.y - top, metrics, found.glyph ?? 'finding'));
  const cell = marks === undefined ? undefined : cellAt(laneCells(marks, scale, match.marks), metrics, place.x, y);
  const onTrack = row.lane === undefined ? {} : { onTrack: true };
  const read = y < metrics.onBar ? undefined : readAt(input, row, place.x, cell, y - metrics.onBar);
  if (read !== undefined) {
    const lane = row.lane ?? store.reads.lane.at(read.mark);
    const at = readY(row.y - top, metrics);
    return { type: 'read', read: read.mark, lane, track: row, cell: read, x: read.x, y: at, ...onTrack };
  }
  if (cell === undefined) return { type: 'track', actor: row.actor };
  const lane = store.marks.lane.at(cell.mark);
  return { type: 'cell', lane, cell, x: cell.x, y: markY(row.y - top, metrics, cell.kind), ...onTrack };
}

/** The read at a place below the line: right on its stroke, else near it where no mark is. */
function readAt(input: SceneInput, track: Track, x: number, cell: Cell | undefined, below: number): Cell | undefined {
  const reach = below > READ_PX / 2 ? NEAR : cell === undefined ? REACH : -1;
  return reach < 0 ? undefined : nearestCell(readCells(input, track), x, reach);
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
  metrics: LaneMetrics,
  x: number,
  y: number,
): AnnotationInfo | undefined {
  return annotations.findLast((annotation) => {
    if (annotation.glyph === undefined) return false;
    const radius = GLYPHS[annotation.glyph].radius + 2;
    if (Math.abs(y - glyphY(0, metrics, annotation.glyph)) > radius) return false;
    return [...annotation.repeats, annotation.to].some((at) => Math.abs(x - xOf(scale, at)) <= radius);
  });
}
