import { compareTexts } from './compareTexts.ts';
import type { FilterMatch } from './filterMatch.ts';
import { firstWhere } from './firstWhere.ts';
import type { TimelineStore } from './store.ts';
import {
  actorTracks,
  onlyReaders,
  onlyReadKey,
  openKey,
  rankOfReads,
  trackKey,
  tracksOfLane,
  type Track,
} from './tracks.ts';

/** Heights in CSS pixels. */
const GROUP_HEIGHT = 26;
export const LANE_HEIGHT = 58;
export const COMPACT_LANE_HEIGHT = 30;
export const TRACK_HEIGHT = 28;

/** How many rows those have who only read, beneath one row, until somebody asks for all: anybody may read. */
export const MAX_ONLY_READ = 20;

/** How the lanes of a group are ordered. */
export const SORTS = ['name', 'activity', 'findings', 'recent'] as const;
export type Sort = (typeof SORTS)[number];

/** What a lane is of: an object, or an actor. */
export const GROUPINGS = ['object', 'actor'] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** What the person chose about rows. */
export interface LayoutOptions {
  /** Left out: by object. */
  readonly grouping?: Grouping;
  /** Objects whose actors have rows of their own, and actors whose objects do, by `openKey`; all that read, by `onlyReadKey`. */
  readonly expanded?: ReadonlySet<string>;
  readonly sort: Sort;
  readonly collapsed: ReadonlySet<string>;
  /** Groups whose folded lanes the person opened; left out: nothing is folded unasked. */
  readonly opened?: ReadonlySet<string>;
  readonly compact: boolean;
}

/** Why lanes are folded unasked: noise by the nature of their resource, or lanes that nobody watches and nothing happened on. */
export type Folded = 'noise' | 'unwatched';

/**
 * One row: the head of a group, a lane, a track (what one actor did, to one object or to all), how many more lanes of a
 * group are folded, or how many more there are that only read. `y` is from the top of all rows.
 */
export type Row =
  | {
      readonly type: 'group';
      readonly group: number;
      readonly y: number;
      readonly height: number;
      /** What the filter shows of it. */
      readonly lanes: readonly number[];
      readonly collapsed: boolean;
      /** Why the whole group is folded although nobody asked. */
      readonly folded?: Folded;
    }
  | {
      readonly type: 'lane';
      readonly lane: number;
      readonly y: number;
      readonly height: number;
      /** Its actors have rows of their own. */
      readonly open?: boolean;
    }
  | (Track & {
      readonly type: 'track';
      readonly y: number;
      readonly height: number;
      /** Beneath what it stands: the lane of its object, or that of its actor; absent where it is a lane itself. */
      readonly under?: Grouping;
      readonly open?: boolean;
    })
  | {
      readonly type: 'more';
      readonly group: number;
      readonly y: number;
      readonly height: number;
      readonly count: number;
    }
  | {
      readonly type: 'readers';
      /** The lane that they read, or the actor that reads; all actors where neither is named. */
      readonly of: Partial<Track>;
      readonly y: number;
      readonly height: number;
      readonly count: number;
    };

/** All rows from top to bottom. */
export interface Layout {
  readonly rows: readonly Row[];
  readonly height: number;
  /** The row of each lane that has one. */
  readonly rowOfLane: ReadonlyMap<number, number>;
  /** The row of each track that has one, by `trackKey`. */
  readonly rowOfTrack: ReadonlyMap<string, number>;
  /** Lanes that the filter leaves out. */
  readonly hidden: number;
}

/** Lays out what the filter shows, by object or by actor. */
export function layOut(store: TimelineStore, match: FilterMatch, options: LayoutOptions): Layout {
  return options.grouping === 'actor' ? byActor(store, match, options) : byObject(store, match, options);
}

/** Rows while they are laid out, one below the other. */
class RowList {
  private readonly rows: Row[] = [];
  private readonly rowOfLane = new Map<number, number>();
  private readonly rowOfTrack = new Map<string, number>();
  /** Where the next row begins. */
  y = 0;

  /** Adds a row that begins there. */
  add(row: Row): void {
    if (row.type === 'lane') this.rowOfLane.set(row.lane, this.rows.length);
    else if (row.type === 'track') this.rowOfTrack.set(trackKey(row), this.rows.length);
    this.rows.push(row);
    this.y += row.height;
  }

  laidOut(hidden: number): Layout {
    const { rows, y: height, rowOfLane, rowOfTrack } = this;
    return { rows, height, rowOfLane, rowOfTrack, hidden };
  }
}

/**
 * The lanes that the filter shows, grouped by cluster and resource, groups and lanes in a fixed order. Groups that somebody
 * watches come first; those known from others' requests alone, such as a sandbox's feed, come after them. Of these, lanes on
 * which nothing happened but what is normal are folded while something is watched, and their number is said.
 */
function byObject(store: TimelineStore, match: FilterMatch, options: LayoutOptions): Layout {
  const { byGroup, watched, hidden } = grouped(store, match);
  const order = Array.from(byGroup.keys()).sort(
    (a, b) =>
      Number(watched.has(b)) - Number(watched.has(a)) || compareTexts(labelOf(store, a), labelOf(store, b)) || a - b,
  );
  const compare = comparison(store, options.sort);
  const list = new RowList();
  // Where lanes are asked for by kind or name, only noise is folded unasked.
  const asked = match.filter.terms.some(({ key, negated }) => !negated && (key === 'kind' || key === 'name'));
  for (const group of order) {
    const lanes = byGroup.get(group) ?? [];
    const key = store.groups[group]?.key ?? '';
    const closed = options.opened?.has(key) === false;
    const noise = closed && !watched.has(group) && isNoise(store, group);
    const shown =
      closed && !noise && !asked && watched.size > 0
        ? lanes.filter((lane) => store.lanes[lane]?.isIncidental === false)
        : lanes;
    const folded: Folded | undefined = noise ? 'noise' : shown.length === 0 ? 'unwatched' : undefined;
    const collapsed = folded !== undefined || options.collapsed.has(key);
    const why = folded === undefined ? {} : { folded };
    list.add({ type: 'group', y: list.y, group, height: GROUP_HEIGHT, lanes, collapsed, ...why });
    if (collapsed) continue;
    for (const lane of shown.sort(compare)) addLane(list, store, match, lane, options);
    const count = lanes.length - shown.length;
    if (count > 0) list.add({ type: 'more', y: list.y, group, height: GROUP_HEIGHT, count });
  }
  return list.laidOut(hidden);
}

function addLane(list: RowList, store: TimelineStore, match: FilterMatch, lane: number, options: LayoutOptions): void {
  const { compact, expanded, sort } = options;
  const height = compact ? COMPACT_LANE_HEIGHT : LANE_HEIGHT;
  if (expanded === undefined || expanded.size === 0 || !expanded.has(openKey(store, { lane }))) {
    list.add({ type: 'lane', y: list.y, lane, height });
    return;
  }
  list.add({ type: 'lane', y: list.y, lane, height, open: true });
  const place = (track: Track): void =>
    list.add({ type: 'track', y: list.y, ...track, height: TRACK_HEIGHT, under: 'object' });
  tracksOfLane(store, lane, sort).forEach(place);
  addOnlyRead(list, store, { lane }, onlyReaders(store, match, sort, lane), options, place);
}

/** Places who, or what, was only read: the first of them, and how many more there are. */
function addOnlyRead(
  list: RowList,
  store: TimelineStore,
  of: Partial<Track>,
  tracks: readonly Track[],
  { expanded }: LayoutOptions,
  place: (track: Track) => void,
): void {
  const most = expanded?.has(onlyReadKey(store, of)) === true ? tracks.length : MAX_ONLY_READ;
  tracks.slice(0, most).forEach(place);
  const count = tracks.length - most;
  if (count > 0) list.add({ type: 'readers', y: list.y, of, height: GROUP_HEIGHT, count });
}

/** A lane for each actor, and beneath one that is opened a row for each object that it did something to, or read. */
function byActor(store: TimelineStore, match: FilterMatch, options: LayoutOptions): Layout {
  const { compact, expanded, sort } = options;
  const list = new RowList();
  const height = compact ? COMPACT_LANE_HEIGHT : LANE_HEIGHT;
  const compare = comparison(store, sort);
  const placeActor = ({ actor }: Track): void => {
    const open = expanded?.has(openKey(store, { actor })) === true;
    list.add({ type: 'track', y: list.y, actor, height, ...(open ? { open } : {}) });
    if (!open) return;
    const place = (track: Track): void =>
      list.add({ type: 'track', y: list.y, ...track, height: TRACK_HEIGHT, under: 'actor' });
    const lanes = new Set(store.actors(match).lanesOf(actor));
    for (const lane of [...lanes].sort(compare)) place({ actor, lane });
    const reads = store.readsOf(match);
    const rank = (lane: number): number => rankOfReads(sort, reads.of({ actor, lane }));
    const onlyRead = reads.lanesOf(actor).filter((lane) => !lanes.has(lane));
    onlyRead.sort((a, b) => rank(b) - rank(a) || byName(store, a, b));
    addOnlyRead(
      list,
      store,
      { actor },
      onlyRead.map((lane) => ({ actor, lane })),
      options,
      place,
    );
  };
  actorTracks(store, match, sort).forEach(placeActor);
  addOnlyRead(list, store, {}, onlyReaders(store, match, sort), options, placeActor);
  return list.laidOut(grouped(store, match).hidden);
}

/** The lanes that the filter shows by group, the groups that somebody watches, and how many lanes the filter leaves out. */
function grouped(
  store: TimelineStore,
  match: FilterMatch,
): { readonly byGroup: Map<number, number[]>; readonly watched: Set<number>; readonly hidden: number } {
  const byGroup = new Map<number, number[]>();
  const watched = new Set<number>();
  let hidden = 0;
  store.lanes.forEach((lane, index) => {
    if (lane.info.watched) watched.add(lane.info.group);
    if (match.lanes[index] !== 1) {
      hidden += 1;
      return;
    }
    const lanes = byGroup.get(lane.info.group);
    if (lanes === undefined) byGroup.set(lane.info.group, [index]);
    else lanes.push(index);
  });
  return { byGroup, watched, hidden };
}

/** The indices of the rows that a window shows: [first, end). */
export function rowsInView(
  layout: Layout,
  top: number,
  height: number,
): { readonly first: number; readonly end: number } {
  const { rows } = layout;
  const first = firstWhere(rows.length, (index) => {
    const row = rows[index];
    return row !== undefined && row.y + row.height > top;
  });
  let end = first;
  while (end < rows.length && (rows[end]?.y ?? 0) < top + height) end += 1;
  return { first, end };
}

/** The row at a height from the top of all rows. */
export function rowAt(layout: Layout, y: number): Row | undefined {
  const { first } = rowsInView(layout, y, 1);
  const row = layout.rows[first];
  return row !== undefined && y >= row.y && y < row.y + row.height ? row : undefined;
}

/** How far what was at a height of one layout is further down in another, in pixels; 0 where it is no more. */
export function movedBy(before: Layout, after: Layout, y: number): number {
  const row = rowAt(before, y);
  const moved = row === undefined ? undefined : after.rows.find((one) => isSameRow(one, row));
  return moved === undefined || row === undefined ? 0 : moved.y - row.y;
}

/** Whether two rows, perhaps of different layouts, are of the same thing. */
function isSameRow(a: Row, b: Row): boolean {
  if (a.type === 'lane') return b.type === 'lane' && a.lane === b.lane;
  if (a.type === 'track') return b.type === 'track' && trackKey(a) === trackKey(b);
  if (a.type === 'readers') return b.type === 'readers' && a.of.lane === b.of.lane && a.of.actor === b.of.actor;
  return a.type === b.type && a.group === b.group;
}

const NOISE = new Set([
  'coordination.k8s.io/leases',
  '/endpoints',
  'discovery.k8s.io/endpointslices',
  '/events',
  'events.k8s.io/events',
]);

/** Whether the objects of a group change all the time by their nature: leases, endpoints, core Events. */
function isNoise(store: TimelineStore, group: number): boolean {
  const { apiGroup = '', resource = '' } = store.groups[group] ?? {};
  return NOISE.has(`${apiGroup}/${resource}`);
}

function labelOf(store: TimelineStore, group: number): string {
  return store.groups[group]?.label ?? '';
}

const RANKS: Readonly<Record<Sort, (store: TimelineStore, lane: number) => number>> = {
  name: () => 0,
  activity: (store, lane) => store.lanes[lane]?.count ?? 0,
  findings: (store, lane) => store.lanes[lane]?.info.findings ?? 0,
  recent: (store, lane) => store.lanes[lane]?.lastAt ?? 0,
};

function comparison(store: TimelineStore, sort: Sort): (a: number, b: number) => number {
  const rank = RANKS[sort];
  return (a, b) => rank(store, b) - rank(store, a) || byName(store, a, b);
}

function byName(store: TimelineStore, a: number, b: number): number {
  const first = store.lanes[a]?.info;
  const second = store.lanes[b]?.info;
  if (first === undefined || second === undefined) return a - b;
  return compareTexts(first.namespace, second.namespace) || compareTexts(first.name, second.name) || a - b;
}
