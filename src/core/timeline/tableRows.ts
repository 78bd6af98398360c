import { annotationMatches, gapMatches, textMatches, type FilterMatch } from './filterMatch.ts';
import type { Layout } from './layout.ts';
import { FLAG, NO_LANE, type AnnotationInfo, type GapInfo, type NoteInfo } from './model.ts';
import { eventOfStop, timeOfStop, type Stop } from './navigate.ts';
import type { TimelineStore } from './store.ts';

/** What is neither a mark nor a read: a gap, a finding on a lane, or what was noted about no object. */
export type Aside =
  | { readonly type: 'gap'; readonly gap: GapInfo }
  | { readonly type: 'annotation'; readonly lane: number; readonly annotation: AnnotationInfo }
  | { readonly type: 'note'; readonly note: NoteInfo };

/** What a row begins with. */
export type TableItem = Stop | Aside;

const [MARK, READ, ASIDE] = [0, 1, 2] as const;

/** The rows of the table: marks, reads and asides in order of arrival, runs folded into their first. */
export interface TableRows {
  readonly length: number;
  /** 0 where a row is of marks, 1 of reads, 2 an aside. */
  readonly kind: Uint8Array;
  readonly asides: readonly Aside[];
  /** The first mark or read of a row, by its place in its columns, or the place of an aside. */
  readonly place: Uint32Array;
  /** How many a row stands for. */
  readonly count: Uint32Array;
  /** The last that it stands for. */
  readonly last: Uint32Array;
}

/** No rows. */
export const NO_ROWS: TableRows = {
  length: 0,
  kind: new Uint8Array(),
  asides: [],
  place: new Uint32Array(),
  count: new Uint32Array(),
  last: new Uint32Array(),
};

/** What a row begins with. */
export function itemOf({ marks, reads }: TimelineStore, rows: TableRows, row: number): TableItem | undefined {
  const place = rows.place[row] ?? 0;
  if (row >= rows.length) return undefined;
  if (rows.kind[row] === ASIDE) return rows.asides[place];
  return rows.kind[row] === READ
    ? { type: 'read', lane: reads.lane.at(place), read: place, onTrack: true }
    : { type: 'mark', lane: marks.lane.at(place), mark: place };
}

/** When it was, ms since the epoch. */
export function timeOfItem(store: TimelineStore, item: TableItem): number {
  if (item.type === 'gap') return item.gap.from;
  if (item.type === 'annotation') return item.annotation.to;
  return item.type === 'note' ? item.note.at : timeOfStop(store, item);
}

/** The event that it stands at: a finding at the last that proves it. */
export function eventOfItem(store: TimelineStore, item: TableItem): number {
  if (item.type === 'gap') return item.gap.event;
  if (item.type === 'annotation') return item.annotation.events.at(-1) ?? 0;
  return item.type === 'note' ? item.note.event : eventOfStop(store, item);
}

/** The row that something stands in: of a mark or a read, the last that begins at or before it on its lane. */
export function rowOfItem(store: TimelineStore, rows: TableRows, wanted: TableItem): number | undefined {
  const event = eventOfItem(store, wanted);
  const eventOfRow = (row: number): number => {
    const item = itemOf(store, rows, row);
    return item === undefined ? 0 : eventOfItem(store, item);
  };
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (eventOfRow(middle) <= event) low = middle + 1;
    else high = middle;
  }
  for (let row = low - 1; row >= 0; row -= 1) {
    const item = itemOf(store, rows, row);
    if (item === undefined) continue;
    if (isSameItem(item, wanted)) return row;
    // Asides stand alone, where they came.
    if (wanted.type !== 'mark' && wanted.type !== 'read') {
      if (eventOfItem(store, item) < event) return undefined;
    } else if (item.type === wanted.type && item.lane === wanted.lane) return row;
  }
  return undefined;
}

/** Whether two are the same thing. */
export function isSameItem(a: TableItem, b: TableItem): boolean {
  if (a.type === 'mark') return b.type === 'mark' && a.mark === b.mark;
  if (a.type === 'read') return b.type === 'read' && a.read === b.read;
  if (a.type === 'gap') return b.type === 'gap' && a.gap.id === b.gap.id;
  if (a.type === 'note') return b.type === 'note' && a.note.event === b.note.event;
  return b.type === 'annotation' && a.annotation.key === b.annotation.key;
}

/** Gaps, findings and notes that a filter shows, in order of arrival. */
function asidesOf(store: TimelineStore, match: FilterMatch): Aside[] {
  const { filter } = match;
  const all = filter.terms.length === 0;
  const asides: Aside[] = [
    ...store.gaps.filter((gap) => all || gapMatches(store, match, gap)).map((gap) => ({ type: 'gap' as const, gap })),
    ...store.annotations
      .filter((annotation) => all || annotationMatches(store, filter, annotation))
      .map((annotation) => ({ type: 'annotation' as const, lane: annotation.lane, annotation })),
    ...store.notes
      .filter(({ text }) => all || textMatches(filter, text))
      .map((note) => ({ type: 'note' as const, note })),
  ];
  return asides.sort((a, b) => eventOfItem(store, a) - eventOfItem(store, b));
}

/** The rows that were opened, by their first mark or read. */
export interface OpenedRows {
  readonly marks: ReadonlySet<number>;
  readonly reads: ReadonlySet<number>;
}

/**
 * The marks that match, with the gaps, findings and notes that do, and those reads that `showsRead` chooses. Runs of status-only changes and renewals of one actor are
 * folded into one row with a count, as are reads of one actor with nothing else on their lane in between; changes of the
 * desired state are never folded. Rows that are opened stand for one each.
 */
export function tableRows(
  store: TimelineStore,
  match: FilterMatch,
  showsRead: (read: number) => boolean,
  opened: OpenedRows,
): TableRows {
  const { marks, reads } = store;
  const asides = asidesOf(store, match);
  const most = marks.length + reads.length + asides.length;
  const rows = {
    kind: new Uint8Array(most),
    place: new Uint32Array(most),
    count: new Uint32Array(most),
    last: new Uint32Array(most),
  };
  /** The row that the run of each lane stands in, plus one; of reads that are of no lane the last. */
  const open = new Uint32Array(store.lanes.length + 1);
  let length = 0;
  const add = (kind: number, place: number): number => {
    rows.kind[length] = kind;
    rows.place[length] = place;
    rows.count[length] = 1;
    rows.last[length] = place;
    length += 1;
    return length;
  };
  const fold = (row: number, place: number): void => {
    rows.count[row] = (rows.count[row] ?? 0) + 1;
    rows.last[row] = place;
  };
  const addMark = (mark: number): void => {
    const lane = marks.lane.at(mark);
    if (match.lanes[lane] !== 1 || (match.marks !== undefined && match.marks[mark] !== 1)) return;
    const row = (open[lane] ?? 0) - 1;
    const flags = marks.flags.at(mark);
    const continues = (flags & FLAG.continuesRun) !== 0 && row >= 0 && rows.kind[row] === MARK;
    if (continues && !opened.marks.has(rows.place[row] ?? 0)) {
      fold(row, mark);
      return;
    }
    const added = add(MARK, mark);
    if (!continues) open[lane] = (flags & FLAG.foldable) === 0 ? 0 : added;
  };
  const addRead = (read: number): void => {
    if (!showsRead(read)) return;
    const lane = reads.lane.at(read);
    const own = lane === NO_LANE ? store.lanes.length : lane;
    const row = (open[own] ?? 0) - 1;
    const before = rows.place[row] ?? 0;
    const continues = row >= 0 && rows.kind[row] === READ && isAlike(store, before, read);
    if (continues && !opened.reads.has(before)) {
      fold(row, read);
      return;
    }
    const added = add(READ, read);
    if (!continues) open[own] = added;
  };
  let [read, aside] = [0, 0];
  const addUntil = (event: number): void => {
    const addReads = (end: number): void => {
      for (; read < reads.length && reads.event.at(read) < end; read += 1) addRead(read);
    };
    for (let next = asides[aside]; next !== undefined; next = asides[aside]) {
      const at = eventOfItem(store, next);
      if (at >= event) break;
      addReads(at + 1);
      add(ASIDE, aside);
      aside += 1;
    }
    addReads(event);
  };
  for (let mark = 0; mark < marks.length; mark += 1) {
    addUntil(marks.event.at(mark));
    addMark(mark);
  }
  addUntil(Number.POSITIVE_INFINITY);
  return {
    length,
    asides,
    kind: rows.kind.slice(0, length),
    place: rows.place.slice(0, length),
    count: rows.count.slice(0, length),
    last: rows.last.slice(0, length),
  };
}

/** Whether two reads of one lane are by one actor, in one way. */
function isAlike({ reads }: TimelineStore, a: number, b: number): boolean {
  return reads.actor.at(a) === reads.actor.at(b) && reads.verb.at(a) === reads.verb.at(b);
}

/** Chooses the reads that are drawn, on rows of their actors, or that the filter asks for. */
export function readsShown(store: TimelineStore, layout: Layout, match: FilterMatch): (read: number) => boolean {
  const { reads } = store;
  const { matched } = store.readsOf(match);
  const asked = match.filter.terms.some(({ key, value, negated }) => key === 'is' && value === 'read' && !negated);
  const [actors, lanes] = [new Set<number>(), new Set<number>()];
  for (const row of layout.rows) {
    if (row.type !== 'track') continue;
    if (row.lane === undefined) actors.add(row.actor);
    else lanes.add(row.lane);
  }
  return (read) => {
    if (matched !== undefined && matched[read] !== 1) return false;
    const lane = reads.lane.at(read);
    if (lane !== NO_LANE && match.lanes[lane] !== 1) return false;
    return asked || lanes.has(lane) || actors.has(reads.actor.at(read));
  };
}
