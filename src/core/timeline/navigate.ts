import { isAboveBar } from './cells.ts';
import type { LaneSeries } from './cells.ts';
import type { MarkTable, ReadTable } from './columns.ts';
import type { ObjectRef } from './detailTypes.ts';
import type { FilterMatch } from './filterMatch.ts';
import { firstWhere } from './firstWhere.ts';
import type { Layout } from './layout.ts';
import type { MarkSeries } from './series.ts';
import type { TimelineStore } from './store.ts';
import { trackKey, trackMarks, type Track } from './tracks.ts';

/** A mark and its lane, each by its place; and whether one stands on the row of its actor, not on that of its object. */
export interface MarkPlace {
  readonly lane: number;
  readonly mark: number;
  readonly onTrack?: boolean;
}

/** A read and its lane, each by its place; it stands on a row of its actor. */
export interface ReadPlace {
  readonly lane: number;
  readonly read: number;
  readonly onTrack?: boolean;
}

/** Where one can stand: on a mark, or on a read. */
export type Stop = (MarkPlace & { readonly type: 'mark' }) | (ReadPlace & { readonly type: 'read' });

/** What one can go through in order of time: the marks of a lane or of a track, and the reads of a track. */
export interface Stops {
  readonly marks: LaneSeries;
  readonly reads?: MarkSeries | undefined;
  /** Which of the marks and reads match; undefined where all do. */
  readonly matched: Uint8Array | undefined;
  readonly matchedReads?: Uint8Array | undefined;
  readonly onTrack: boolean;
}

/** What a row is of: where it stands does not matter. */
export type RowSubject =
  | { readonly type: 'lane'; readonly lane: number }
  | (Track & { readonly type: 'track' })
  | { readonly type: 'group' | 'more' | 'readers' };

/** What one can stand on in a row; undefined where there is nothing. */
export function stopsOfRow(store: TimelineStore, match: FilterMatch, row: RowSubject | undefined): Stops | undefined {
  if (row?.type === 'lane') {
    const lane = store.lanes[row.lane];
    return lane === undefined ? undefined : { marks: lane.series, matched: match.marks, onTrack: false };
  }
  if (row?.type !== 'track') return undefined;
  const reads = store.readsOf(match);
  return {
    marks: trackMarks(store, match, row)?.series ?? [],
    reads: reads.of(row),
    matched: match.marks,
    matchedReads: reads.matched,
    onTrack: row.lane !== undefined,
  };
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

/** The row that a read is seen on: one of its actor, else that of its object. */
export function rowOfRead(
  { reads }: TimelineStore,
  layout: Layout,
  { lane, read, onTrack }: ReadPlace,
): number | undefined {
  const actor = reads.actor.at(read);
  const narrow = layout.rowOfTrack.get(trackKey({ actor, lane }));
  const wide = layout.rowOfTrack.get(trackKey({ actor }));
  return (onTrack === true ? narrow : wide) ?? narrow ?? wide ?? layout.rowOfLane.get(lane);
}

/** A moment in a log: times may be equal, numbers of events are not. */
interface Moment {
  readonly at: number;
  readonly event: number;
}

/** What stands nearest after (`1`) or before (`-1`) a moment, among what matches. */
export function neighbour(store: TimelineStore, stops: Stops, from: Moment, direction: 1 | -1): Stop | undefined {
  let best: (Moment & { readonly place: number; readonly type: Stop['type'] }) | undefined;
  const look = (series: MarkSeries | undefined, type: Stop['type'], matched: Uint8Array | undefined): void => {
    if (series === undefined) return;
    const events = (type === 'mark' ? store.marks : store.reads).event;
    const place = nextIn(series, events, from, direction, matched);
    if (place === undefined) return;
    const moment = { at: series.timeAt(place), event: events.at(series.markAt(place)) };
    if (best === undefined || isBeyond(best, moment, direction))
      best = { ...moment, place: series.markAt(place), type };
  };
  for (const series of stops.marks) look(series, 'mark', stops.matched);
  look(stops.reads, 'read', stops.matchedReads);
  return best === undefined ? undefined : stopAt(store, stops, best);
}

function stopAt(
  { marks, reads }: TimelineStore,
  { onTrack }: Stops,
  { type, place }: { readonly type: Stop['type']; readonly place: number },
): Stop {
  const how = onTrack ? { onTrack } : {};
  return type === 'mark'
    ? { type, lane: marks.lane.at(place), mark: place, ...how }
    : { type, lane: reads.lane.at(place), read: place, ...how };
}

/** The place in a series of what comes next after, or before, a moment. */
function nextIn(
  series: MarkSeries,
  events: { at(place: number): number },
  from: Moment,
  direction: 1 | -1,
  matched: Uint8Array | undefined,
): number | undefined {
  const start = direction === 1 ? series.lowerBound(from.at) : series.lowerBound(from.at + 1) - 1;
  for (let index = start; index >= 0 && index < series.length; index += direction) {
    const place = series.markAt(index);
    const moment = { at: series.timeAt(index), event: events.at(place) };
    if (isBeyond(moment, from, direction) && (matched === undefined || matched[place] === 1)) return index;
  }
  return undefined;
}

function isBeyond(moment: Moment, from: Moment, direction: 1 | -1): boolean {
  const difference = moment.at - from.at || moment.event - from.event;
  return direction === 1 ? difference > 0 : difference < 0;
}

/** The first (`1`) or last (`-1`) that one can stand on, among what matches. */
export function outermost(store: TimelineStore, stops: Stops, direction: 1 | -1): Stop | undefined {
  const at = direction === 1 ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER;
  return neighbour(store, stops, { at, event: direction === 1 ? -1 : Number.MAX_SAFE_INTEGER }, direction);
}

/** What stands nearest to a time, among what matches. */
export function nearestInTime(store: TimelineStore, stops: Stops, at: number): Stop | undefined {
  const after = neighbour(store, stops, { at, event: -1 }, 1);
  const before = neighbour(store, stops, { at, event: Number.MAX_SAFE_INTEGER }, -1);
  return nearer(store, after, before, at);
}

function nearer(store: TimelineStore, after: Stop | undefined, before: Stop | undefined, at: number): Stop | undefined {
  if (after === undefined || before === undefined) return after ?? before;
  return timeOfStop(store, after) - at < at - timeOfStop(store, before) ? after : before;
}

/** The time of a mark or a read, ms since the epoch. */
export function timeOfStop({ marks, reads }: TimelineStore, stop: Stop): number {
  return stop.type === 'mark' ? marks.at.at(stop.mark) : reads.at.at(stop.read);
}

/** The number of the event of a mark or a read. */
export function eventOfStop({ marks, reads }: TimelineStore, stop: Stop): number {
  return stop.type === 'mark' ? marks.event.at(stop.mark) : reads.event.at(stop.read);
}

/** The lane of an object; undefined where it is not on the timeline. */
export function laneOfObject(store: TimelineStore, object: ObjectRef): number | undefined {
  const groups = store.groups.map(
    ({ cluster, apiGroup, resource }) =>
      cluster === object.cluster && apiGroup === object.group && resource === object.resource,
  );
  const lane = store.lanes.findIndex(
    ({ info }) => groups[info.group] === true && info.name === object.name && info.namespace === object.namespace,
  );
  return lane < 0 ? undefined : lane;
}

/** What stands nearest to a time on a lane: of an incarnation, where the lane has marks of it. */
export function stopOfObject(
  store: TimelineStore,
  match: FilterMatch,
  lane: number,
  uid: string,
  at: number,
): Stop | undefined {
  const stops = stopsOfRow(store, match, { type: 'lane', lane });
  if (stops === undefined) return undefined;
  const bar = store.lanes[lane]?.info.bars.find((one) => one.uid === uid);
  if (bar === undefined) return nearestInTime(store, stops, at);
  const [from, to] = [bar.from, bar.to ?? store.lastAt];
  const inside = Math.max(from, Math.min(to, at));
  // The life of the next may begin where this one ends.
  const ofIt = (direction: 1 | -1): Stop | undefined => {
    let stop = neighbour(
      store,
      stops,
      { at: inside, event: direction === 1 ? -1 : Number.MAX_SAFE_INTEGER },
      direction,
    );
    while (stop !== undefined && stop.type === 'mark' && store.text(store.marks.uid.at(stop.mark)) !== uid) {
      const moment = { at: timeOfStop(store, stop), event: eventOfStop(store, stop) };
      if (moment.at < from || moment.at > to) return undefined;
      stop = neighbour(store, stops, moment, direction);
    }
    return stop;
  };
  return nearer(store, ofIt(1), ofIt(-1), inside) ?? nearestInTime(store, stops, inside);
}

/** The next row below (`1`) or above (`-1`) that has something to stand on, and what of it is nearest to a time. */
export function rowBeside(
  store: TimelineStore,
  layout: Layout,
  start: number | undefined,
  direction: 1 | -1,
  at: number,
  match: FilterMatch,
): Stop | undefined {
  let index = start === undefined ? (direction === 1 ? 0 : layout.rows.length - 1) : start + direction;
  for (; index >= 0 && index < layout.rows.length; index += direction) {
    const stops = stopsOfRow(store, match, layout.rows[index]);
    const stop = stops === undefined ? undefined : nearestInTime(store, stops, at);
    if (stop !== undefined) return stop;
  }
  return undefined;
}

/** The mark of an event. The columns are in order of arrival, so that event numbers rise. */
export function markOfEvent({ marks }: TimelineStore, event: number): number | undefined {
  const place = firstOfEvent(marks, event);
  return place < marks.length && marks.event.at(place) === event ? place : undefined;
}

/** A read of an event: that of an object where there is one, else the first. */
export function readOfEvent({ reads }: TimelineStore, event: number, lane?: number): number | undefined {
  const first = firstOfEvent(reads, event);
  let place = first;
  for (; place < reads.length && reads.event.at(place) === event; place += 1)
    if (reads.lane.at(place) === lane) return place;
  return place === first ? undefined : first;
}

function firstOfEvent(table: Pick<MarkTable | ReadTable, 'event' | 'length'>, event: number): number {
  return firstWhere(table.length, (place) => table.event.at(place) >= event);
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
  return marks.length - firstOfEvent(marks, event + 1);
}

/** The number of the last event at or before a time; undefined where everything is later. */
export function eventBefore(store: TimelineStore, at: number): number | undefined {
  let event: number | undefined;
  for (let mark = 0; mark < store.marks.length; mark += 1) {
    if (store.marks.at.at(mark) <= at) event = Math.max(event ?? 0, store.marks.event.at(mark));
  }
  return event;
}
