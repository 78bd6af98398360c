import { MARK_KINDS } from './model.ts';
import { msPerPixel, xOf, type TimeScale } from './scale.ts';
import type { MarkSeries } from './series.ts';

/** Marks that fall on one place of a lane: one of them, or a cluster. */
export interface Cell {
  /** The pixel of its only mark, or the middle of its marks. */
  readonly x: number;
  /** The pixels of its first and last mark. */
  readonly first: number;
  readonly last: number;
  /** The most important kind in it, a place in MARK_KINDS. */
  readonly kind: number;
  readonly count: number;
  /** How many of them match the filter. */
  readonly matched: number;
  /** The first mark of the most important kind, by its place in the columns. */
  readonly mark: number;
}

/** The marks of a lane: a series for each kind, by its place in MARK_KINDS. */
export type LaneSeries = (MarkSeries | undefined)[];

/** A place in MARK_KINDS from which marks stand above the bar: writes that were refused. */
const FIRST_ABOVE = MARK_KINDS.indexOf('refused');

/** Whether marks of a kind stand above the bar instead of on it. */
export function isAboveBar(kind: number): boolean {
  return kind >= FIRST_ABOVE;
}

/**
 * The cells of some kinds of a lane that are in view, from left to right. A cell is `cellPx` wide and begins at a multiple
 * of its own length of time, so that it holds the same marks while one pans. The work depends on the width, not on the
 * number of marks.
 */
export function cellsOf(
  lane: LaneSeries,
  kinds: readonly number[],
  scale: TimeScale,
  cellPx: number,
  matched: Uint8Array | undefined,
): Cell[] {
  const cellMs = msPerPixel(scale) * cellPx;
  const firstCell = Math.floor(scale.from / cellMs) - 1;
  const count = Math.ceil((scale.to - scale.from) / cellMs) + 3;
  const open: (OpenCell | undefined)[] = [];
  for (const kind of kinds) {
    const series = lane[kind];
    if (series !== undefined && series.length > 0) gather(series, kind, firstCell, count, cellMs, matched, open);
  }
  const cells: Cell[] = [];
  for (const cell of open) if (cell !== undefined) cells.push(closed(cell, scale));
  return cells;
}

interface OpenCell {
  kind: number;
  count: number;
  matched: number;
  mark: number;
  firstAt: number;
  lastAt: number;
}

/** Walks the marks of one kind cell by cell, each time jumping to the first mark after the cell. */
function gather(
  series: MarkSeries,
  kind: number,
  firstCell: number,
  count: number,
  cellMs: number,
  matched: Uint8Array | undefined,
  open: (OpenCell | undefined)[],
): void {
  const end = series.lowerBound((firstCell + count) * cellMs);
  let index = series.lowerBound(firstCell * cellMs);
  while (index < end) {
    const at = series.timeAt(index);
    const place = Math.min(count - 1, Math.max(0, Math.floor(at / cellMs) - firstCell));
    const next = Math.max(index + 1, nextIndex(series, index, end, (firstCell + place + 1) * cellMs));
    const lastAt = series.timeAt(next - 1);
    const inside = series.matchedIn(index, next, matched);
    const cell = open[place];
    if (cell === undefined) {
      open[place] = { kind, count: next - index, matched: inside, mark: series.markAt(index), firstAt: at, lastAt };
    } else {
      // Kinds come the least important first: a later one takes the cell, unless only the earlier ones match the filter.
      if (inside > 0 || cell.matched === 0) {
        cell.kind = kind;
        cell.mark = series.markAt(index);
      }
      cell.count += next - index;
      cell.matched += inside;
      cell.firstAt = Math.min(cell.firstAt, at);
      cell.lastAt = Math.max(cell.lastAt, lastAt);
    }
    index = next;
  }
}

/** Steps over few marks, searches over many. */
function nextIndex(series: MarkSeries, index: number, end: number, before: number): number {
  for (let step = 1; step <= 4; step += 1) {
    if (index + step >= end || series.timeAt(index + step) >= before) return index + step;
  }
  return Math.min(end, series.lowerBound(before, index + 4));
}

function closed(cell: OpenCell, scale: TimeScale): Cell {
  const first = xOf(scale, cell.firstAt);
  const last = xOf(scale, cell.lastAt);
  return {
    x: (first + last) / 2,
    first,
    last,
    kind: cell.kind,
    count: cell.count,
    matched: cell.matched,
    mark: cell.mark,
  };
}
