import { ActorMarks } from './actorMarks.ts';
import { cellsOf, type Cell } from './cells.ts';
import {
  laneCells,
  addBand,
  addBars,
  addCells,
  addFindingGlyphs,
  arcX,
  MAX_ARCS,
  type LaneContext,
} from './laneScene.ts';
import { trackLabels } from './laneLabels.ts';
import { laneMetrics, type LaneMetrics } from './laneMetrics.ts';
import type { Layout, Row } from './layout.ts';
import { kindCode } from './model.ts';
import { winnerOf } from './navigate.ts';
import type { MarkSeries } from './series.ts';
import type { SceneInput } from './scene.ts';
import type { SceneArc } from './sceneTypes.ts';
import { trackKey, trackMarks, type Track } from './tracks.ts';

/** How far below the line reads are, and how close together they are one stroke. */
export const READ_PX = 4;
const READ_HEIGHT_PX = 3;
const READ_CELL_PX = 3;

/** The reads of a track as they are drawn and hit; marks of these cells are places in the columns of reads. */
export function readCells(
  { store, match, scale }: Pick<SceneInput, 'store' | 'match' | 'scale'>,
  track: Track,
): Cell[] {
  const reads = store.readsOf(match);
  const series = reads.of(track);
  return series === undefined ? [] : cellsOf([series], [0], scale, READ_CELL_PX, reads.matched);
}

/** The height at which the reads of a row stand. */
export function readY(y: number, metrics: LaneMetrics): number {
  return y + metrics.onBar + READ_PX + READ_HEIGHT_PX / 2;
}

const CONFLICT = kindCode('conflict');

/** Adds what one actor did, on a row whose top is at `y`. */
export function addTrack(context: LaneContext & SceneInput, row: Row & { type: 'track' }, y: number): void {
  const { store, match, scale, parts } = context;
  const marks = trackMarks(store, match, row) ?? NO_MARKS;
  const metrics = laneMetrics(row.height);
  addReads(context, row, y + metrics.onBar + READ_PX);
  const cells = laneCells(marks, scale, match.marks);
  const lane = row.lane === undefined ? undefined : store.lanes[row.lane];
  if (lane === undefined) addBand(context, marks.count > 0 ? marks : spanOf(store.readsOf(match).of(row)), y, metrics);
  else addBars(context, lane, y, metrics);
  addCells(context, cells.onBar, y + metrics.onBar, metrics.tallest);
  addCells(context, cells.above, y + metrics.above, metrics.tallest);
  const findings = store.findingsByActor.get(row.actor)?.own ?? [];
  const own = lane === undefined ? findings : findings.filter((finding) => finding.lane === row.lane);
  addFindingGlyphs(context, own, y, metrics);
  for (const { text } of trackLabels(context, metrics, cells)) parts.texts.push({ ...text, y: y + text.y });
}

const NO_MARKS = new ActorMarks();

/** From the first to the last. */
function spanOf(series: MarkSeries | undefined): { readonly firstAt: number; readonly lastAt: number } {
  return { firstAt: series?.timeAt(0) ?? 0, lastAt: series?.timeAt(series.length - 1) ?? 0 };
}

/** Small strokes below the line: when an actor was given something. */
function addReads(context: LaneContext & SceneInput, track: Track, y: number): void {
  const { scale, parts } = context;
  for (const { first, last, matched } of readCells(context, track)) {
    if (last < 0 || first > scale.width) continue;
    const dim = matched === 0;
    parts.clusters.push({ kind: 'metadata', x: first - 0.5, y, width: last - first + 1, height: READ_HEIGHT_PX, dim });
  }
}

/** Curves from the refused writes of an actor to the rows of those who won against it. */
export function addWinnerArcs(input: SceneInput, row: Row & { type: 'track' }, arcs: SceneArc[]): void {
  const { store, match, layout, scale, top } = input;
  const refused = trackMarks(store, match, row)?.series[CONFLICT];
  if (refused === undefined) return;
  const first = refused.lowerBound(scale.from);
  const end = refused.lowerBound(scale.to);
  if (end - first > MAX_ARCS) return;
  for (let index = first; index < end; index += 1) {
    const winner = winnerOf(store, refused.markAt(index));
    const to = winner === undefined ? undefined : rowOf(layout, { ...row, actor: store.marks.actor.at(winner) });
    if (winner === undefined || to === undefined) continue;
    arcs.push({
      kind: 'winner',
      x1: arcX(scale, refused.timeAt(index)),
      y1: row.y - top + laneMetrics(row.height).above,
      x2: arcX(scale, store.marks.at.at(winner)),
      y2: to.y - top + laneMetrics(to.height).onBar,
      ...(to === row ? {} : { across: true }),
    });
  }
}

function rowOf(layout: Layout, { actor, lane }: Track): Row | undefined {
  return layout.rows[layout.rowOfTrack.get(trackKey(lane === undefined ? { actor } : { actor, lane })) ?? -1];
}
