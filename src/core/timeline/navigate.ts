import { isAboveBar } from './cells.ts';
import type { Layout } from './layout.ts';
import { LINK_KINDS } from './model.ts';
import type { TimelineStore } from './store.ts';
import type { StoredLane } from './storedLane.ts';

/** A mark and its lane, each by its place. */
export interface MarkPlace {
  readonly lane: number;
  readonly mark: number;
}

/** The mark of a lane that is nearest after (`1`) or before (`-1`) a time, among those that match; equal times by place. */
export function neighbour(
  store: TimelineStore,
  lane: StoredLane,
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
  lane: StoredLane,
  direction: 1 | -1,
  matched: Uint8Array | undefined,
): number | undefined {
  const at = direction === 1 ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER;
  return neighbour(store, lane, { at, mark: direction === 1 ? -1 : Number.MAX_SAFE_INTEGER }, direction, matched);
}

/** The mark of a lane that is nearest to a time. */
export function nearestInTime(
  store: TimelineStore,
  lane: StoredLane,
  at: number,
  matched: Uint8Array | undefined,
): number | undefined {
  const after = neighbour(store, lane, { at, mark: -1 }, 1, matched);
  const before = neighbour(store, lane, { at, mark: Number.MAX_SAFE_INTEGER }, -1, matched);
  if (after === undefined || before === undefined) return after ?? before;
  return store.marks.at.at(after) - at < at - store.marks.at.at(before) ? after : before;
}

/** The next lane below (`1`) or above (`-1`) that has a matching mark, with its mark nearest to a time. */
export function laneBeside(
  store: TimelineStore,
  layout: Layout,
  lane: number | undefined,
  direction: 1 | -1,
  at: number,
  matched: Uint8Array | undefined,
): MarkPlace | undefined {
  const start = lane === undefined ? undefined : layout.rowOfLane.get(lane);
  let index = start === undefined ? (direction === 1 ? 0 : layout.rows.length - 1) : start + direction;
  for (; index >= 0 && index < layout.rows.length; index += direction) {
    const row = layout.rows[index];
    if (row?.type !== 'lane') continue;
    const stored = store.lanes[row.lane];
    const mark = stored === undefined ? undefined : nearestInTime(store, stored, at, matched);
    if (mark !== undefined) return { lane: row.lane, mark };
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
  const event = marks.event.at(mark);
  const link = lane?.links.find((one) => one.event === event && LINK_KINDS[one.kind] === 'winner');
  if (lane === undefined || link === undefined) return undefined;
  for (const [kind, series] of lane.series.entries()) {
    const index = series?.lowerBound(link.toAt) ?? 0;
    if (!isAboveBar(kind) && series !== undefined && index < series.length && series.timeAt(index) === link.toAt)
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
