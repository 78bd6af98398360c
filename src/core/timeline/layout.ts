import type { FilterMatch } from './filterMatch.ts';
import type { TimelineStore } from './store.ts';

/** Heights in CSS pixels. */
export const GROUP_HEIGHT = 26;
export const LANE_HEIGHT = 58;
export const COMPACT_LANE_HEIGHT = 30;

/** How the lanes of a group are ordered. */
export const SORTS = ['name', 'activity', 'findings', 'recent'] as const;
export type Sort = (typeof SORTS)[number];

/** What the person chose about rows. */
export interface LayoutOptions {
  readonly sort: Sort;
  readonly collapsed: ReadonlySet<string>;
  /** Groups whose folded lanes the person opened; left out: nothing is folded unasked. */
  readonly opened?: ReadonlySet<string>;
  /** Whether the person asks for lanes by kind or name: then only noise is folded unasked. */
  readonly asked?: boolean;
  readonly compact: boolean;
}

/** Why lanes are folded unasked: noise by the nature of their resource, or lanes that nobody watches and nothing happened on. */
export type Folded = 'noise' | 'unwatched';

/** One row: the head of a group, a lane, or how many more lanes of a group are folded. `y` is from the top of all rows. */
export type Row =
  | {
      readonly type: 'group';
      readonly group: number;
      readonly y: number;
      readonly height: number;
      readonly count: number;
      readonly collapsed: boolean;
      /** Why the whole group is folded although nobody asked. */
      readonly folded?: Folded;
    }
  | { readonly type: 'lane'; readonly lane: number; readonly y: number; readonly height: number }
  | {
      readonly type: 'more';
      readonly group: number;
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
  /** Lanes that the filter leaves out. */
  readonly hidden: number;
}

/**
 * Lays out the lanes that the filter shows, grouped by cluster and resource, groups and lanes in a fixed order. Groups that
 * somebody watches come first; those known from others' requests alone, such as a sandbox's feed, come after them. Of these,
 * lanes on which nothing happened but what is normal are folded while something is watched, and their number is said.
 */
export function layOut(store: TimelineStore, match: FilterMatch, options: LayoutOptions): Layout {
  const { byGroup, watched, hidden } = grouped(store, match);
  const order = Array.from(byGroup.keys()).sort(
    (a, b) =>
      Number(watched.has(b)) - Number(watched.has(a)) || compareTexts(labelOf(store, a), labelOf(store, b)) || a - b,
  );
  const laneHeight = options.compact ? COMPACT_LANE_HEIGHT : LANE_HEIGHT;
  const compare = comparison(store, options.sort);
  const rows: Row[] = [];
  const rowOfLane = new Map<number, number>();
  let y = 0;
  for (const group of order) {
    const lanes = byGroup.get(group) ?? [];
    const key = store.groups[group]?.key ?? '';
    const closed = options.opened?.has(key) === false;
    const noise = closed && !watched.has(group) && isNoise(store, group);
    const shown =
      closed && !noise && options.asked !== true && watched.size > 0
        ? lanes.filter((lane) => store.lanes[lane]?.isIncidental === false)
        : lanes;
    const folded: Folded | undefined = noise ? 'noise' : shown.length === 0 ? 'unwatched' : undefined;
    const collapsed = folded !== undefined || options.collapsed.has(key);
    const why = folded === undefined ? {} : { folded };
    rows.push({ type: 'group', group, y, height: GROUP_HEIGHT, count: lanes.length, collapsed, ...why });
    y += GROUP_HEIGHT;
    if (collapsed) continue;
    for (const lane of shown.sort(compare)) {
      rowOfLane.set(lane, rows.length);
      rows.push({ type: 'lane', lane, y, height: laneHeight });
      y += laneHeight;
    }
    const count = lanes.length - shown.length;
    if (count === 0) continue;
    rows.push({ type: 'more', group, y, height: GROUP_HEIGHT, count });
    y += GROUP_HEIGHT;
  }
  return { rows, height: y, rowOfLane, hidden };
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
    if (lane.info.watched === true) watched.add(lane.info.group);
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
  let low = 0;
  let high = layout.rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const row = layout.rows[middle];
    if (row !== undefined && row.y + row.height <= top) low = middle + 1;
    else high = middle;
  }
  let end = low;
  while (end < layout.rows.length && (layout.rows[end]?.y ?? 0) < top + height) end += 1;
  return { first: low, end };
}

/** The row at a height from the top of all rows. */
export function rowAt(layout: Layout, y: number): Row | undefined {
  const { first } = rowsInView(layout, y, 1);
  const row = layout.rows[first];
  return row !== undefined && y >= row.y && y < row.y + row.height ? row : undefined;
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

/** By code unit: the same on every machine. */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
