import type { FilterMatch } from './filterMatch.ts';
import type { Layout } from './layout.ts';
import { FLAG, NO_LANE } from './model.ts';
import type { TimelineStore } from './store.ts';

/** The rows of the table: marks and reads in order of arrival, runs folded into their first. */
export interface TableRows {
  readonly length: number;
  /** 1 where a row is of reads, 0 where it is of marks. */
  readonly isRead: Uint8Array;
  /** The first mark or read of a row, by its place in its columns. */
  readonly place: Uint32Array;
  /** How many a row stands for. */
  readonly count: Uint32Array;
  /** The last that it stands for. */
  readonly last: Uint32Array;
}

/** The rows that were opened, by their first mark or read. */
export interface OpenedRows {
  readonly marks: ReadonlySet<number>;
  readonly reads: ReadonlySet<number>;
}

/**
 * The marks that match, and those reads that `showsRead` chooses. Runs of status-only changes and renewals of one actor are
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
  const most = marks.length + reads.length;
  const rows = {
    isRead: new Uint8Array(most),
    place: new Uint32Array(most),
    count: new Uint32Array(most),
    last: new Uint32Array(most),
  };
  /** The row that the run of each lane stands in, plus one; of reads that are of no lane the last. */
  const open = new Uint32Array(store.lanes.length + 1);
  let length = 0;
  const add = (isRead: 0 | 1, place: number): number => {
    rows.isRead[length] = isRead;
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
    const continues = (flags & FLAG.continuesRun) !== 0 && row >= 0 && rows.isRead[row] === 0;
    if (continues && !opened.marks.has(rows.place[row] ?? 0)) {
      fold(row, mark);
      return;
    }
    const added = add(0, mark);
    if (!continues) open[lane] = (flags & FLAG.foldable) === 0 ? 0 : added;
  };
  const addRead = (read: number): void => {
    if (!showsRead(read)) return;
    const lane = reads.lane.at(read);
    const own = lane === NO_LANE ? store.lanes.length : lane;
    const row = (open[own] ?? 0) - 1;
    const before = rows.place[row] ?? 0;
    const continues = row >= 0 && rows.isRead[row] === 1 && isAlike(store, before, read);
    if (continues && !opened.reads.has(before)) {
      fold(row, read);
      return;
    }
    const added = add(1, read);
    if (!continues) open[own] = added;
  };
  let read = 0;
  for (let mark = 0; mark < marks.length; mark += 1) {
    for (; read < reads.length && reads.event.at(read) < marks.event.at(mark); read += 1) addRead(read);
    addMark(mark);
  }
  for (; read < reads.length; read += 1) addRead(read);
  return {
    length,
    isRead: rows.isRead.slice(0, length),
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
