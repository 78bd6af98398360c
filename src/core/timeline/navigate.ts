import { isAboveBar } from './cells.ts';
import type { LaneSeries } from './cells.ts';
import type { FilterMatch } from './filterMatch.ts';
import type { Layout, Row } from './layout.ts';
import type { TimelineStore } from './store.ts';
import { trackKey, trackMarks } from './tracks.ts';

/** A mark and its lane, each by its place; and whether one stands on the row of its actor, not on that of its object. */
export interface MarkPlace {
  readonly lane: number;
  readonly mark: number;
  readonly onTrack?: boolean;
}

/** What has marks in order of time: a lane, or a track. */
interface Marks {
  readonly series: LaneSeries;
}

/** The marks of a row; undefined where it has none. */
export function marksOfRow(store: TimelineStore, match: FilterMatch, row: Row | undefined): Marks | undefined {
  if (row?.type === 'lane') return store.lanes[row.lane];
  return row?.type === 'track' ? trackMarks(store, match, row) : undefined;
}

/** The row that a mark is seen on: that of its object, or, where one stands on it or there is no other, that of its actor. */
export function rowOfMark(
  store: TimelineStore,
  layout: Layout,
  { lane, mark, onTrack }: Pick<MarkPlace, 'lane' | 'onTrack'> & { readonly mark?: number | undefined },
): number | undefined {
  const own = layout.rowOfLane.get(lane);
  if (mark === undefined || (onTrack !== true && own !== undefined)) return own;
  const actor = store.marks.actor.at(mark);
  const narrow = layout.rowOfTrack.get(trackKey({ actor, lane }));
  return (onTrack === true ? narrow : undefined) ?? layout.rowOfTrack.get(trackKey({ actor })) ?? own;
}

/** The mark of a lane that is nearest after (`1`) or before (`-1`) a time, among those that match; equal times by place. */
export function neighbour(
  store: TimelineStore,
  lane: Marks,
  from: { readonly at: number; readonly mark: number },
  direction: 1 | -1,
  matched: Uint8Array | undefined,
): number | undefined {
  let best: number | undefined;
  for (const series of lane.series) {
    if (series === undefined) continue;
    const start = series.lowerBound(from.at);
    for (
      let index = direction === 1 ? start : series.lowerBound(from.at + 1) - 1;
      index >= 0 && index < series.length;
      index += direction
    ) {
      const mark = series.markAt(index);
      if (!isBeyond(store, mark, from, direction) || (matched !== undefined && matched[mark] !== 1)) continue;
      if (best === undefined || isBeyond(store, best, { at: store.marks.at.at(mark), mark }, direction)) best = mark;
      break;
    }
  }
  return best;
}

function isBeyond(
  store: TimelineStore,
  mark: number,
  from: { readonly at: number; readonly mark: number },
  direction: 1 | -1,
): boolean {
  const difference = store.marks.at.at(mark) - from.at || mark - from.mark;
  return direction === 1 ? difference > 0 : difference < 0;
}

/** The first (`1`) or last (`-1`) mark of a lane that matches. */
export function outermost(
  store: TimelineStore,
  lane: Marks,
  direction: 1 | -1,
  matched: Uint8Array | undefined,
): number | undefined {
  const at = direction === 1 ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER;
  return neighbour(store, lane, { at, mark: direction === 1 ? -1 : Number.MAX_SAFE_INTEGER }, direction, matched);
}

/** The mark of a lane that is nearest to a time. */
export function nearestInTime(
  store: TimelineStore,
  lane: Marks,
  at: number,
  matched: Uint8Array | undefined,
): number | undefined {
  const after = neighbour(store, lane, { at, mark: -1 }, 1, matched);
  const before = neighbour(store, lane, { at, mark: Number.MAX_SAFE_INTEGER }, -1, matched);
  if (after === undefined || before === undefined) return after ?? before;
  return store.marks.at.at(after) - at < at - store.marks.at.at(before) ? after : before;
}

/** The next row below (`1`) or above (`-1`) that has a matching mark, with its mark nearest to a time. */
export function rowBeside(
  store: TimelineStore,
  layout: Layout,
  start: number | undefined,
  direction: 1 | -1,
  at: number,
  match: FilterMatch,
): MarkPlace | undefined {
  let index = start === undefined ? (direction === 1 ? 0 : layout.rows.length - 1) : start + direction;
  for (; index >= 0 && index < layout.rows.length; index += direction) {
    const row = layout.rows[index];
    const marks = marksOfRow(store, match, row);
    const mark = marks === undefined ? undefined : nearestInTime(store, marks, at, match.marks);
    if (mark === undefined) continue;
    const onTrack = row?.type === 'track' && row.lane !== undefined;
    return { lane: store.marks.lane.at(mark), mark, ...(onTrack ? { onTrack } : {}) };
  }
  return undefined;
}

/** The mark of an event. The columns are in order of arrival, so that event numbers rise. */
export function markOfEvent(store: TimelineStore, event: number): number | undefined {
  const { marks } = store;
  let low = 0;
  let high = marks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (marks.event.at(middle) < event) low = middle + 1;
    else high = middle;
  }
  return low < marks.length && marks.event.at(low) === event ? low : undefined;
}

/** The mark of the version that a refused write lost to, where it was seen. */
export function winnerOf(store: TimelineStore, mark: number): number | undefined {
  const { marks } = store;
  const lane = store.lanes[marks.lane.at(mark)];
  const at = lane?.winnerAt(marks.event.at(mark));
  if (lane === undefined || at === undefined) return undefined;
  for (const [kind, series] of lane.series.entries()) {
    const index = series?.lowerBound(at) ?? 0;
    if (!isAboveBar(kind) && series !== undefined && index < series.length && series.timeAt(index) === at)
      return series.markAt(index);
  }
  return undefined;
}

/** How many marks came after an event. */
export function marksAfter({ marks }: TimelineStore, event: number): number {
  let low = 0;
  let high = marks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (marks.event.at(middle) <= event) low = middle + 1;
    else high = middle;
  }
  return marks.length - low;
}

/** The number of the last event at or before a time; undefined where everything is later. */
export function eventBefore(store: TimelineStore, at: number): number | undefined {
  let event: number | undefined;
  for (let mark = 0; mark < store.marks.length; mark += 1) {
    if (store.marks.at.at(mark) <= at) event = Math.max(event ?? 0, store.marks.event.at(mark));
  }
  return event;
}
