import type { ActorMarks } from './actorMarks.ts';
import { compareTexts } from './compareTexts.ts';
import type { FilterMatch } from './filterMatch.ts';
import type { Sort } from './layout.ts';
import type { MarkSeries } from './series.ts';
import type { TimelineStore } from './store.ts';

/** What one actor did: to one object, or to all that the filter shows where `lane` is absent. */
export interface Track {
  /** A place in `strings`; 0: it is not known who. */
  readonly actor: number;
  readonly lane?: number;
}

/** Tells tracks apart. */
export function trackKey({ actor, lane }: Track): string {
  return `${actor} ${lane ?? ''}`;
}

/** The marks of a track; undefined where it has none. */
export function trackMarks(store: TimelineStore, match: FilterMatch, { actor, lane }: Track): ActorMarks | undefined {
  if (lane === undefined) return store.actors(match).actors.get(actor);
  return store.lanes[lane]?.byActor.actors.get(actor);
}

/** What tells an object's lane, or an actor, apart beyond one model: what a person opened stays open. */
export function openKey(store: TimelineStore, { actor, lane }: Partial<Track>): string {
  const info = lane === undefined ? undefined : store.lanes[lane]?.info;
  if (info === undefined) return `actor ${store.text(actor ?? 0)}`;
  return `lane ${store.groups[info.group]?.key ?? ''} ${info.namespace}/${info.name}`;
}

/** What tells apart whether all rows are shown of who, or what, was only read: of a lane's actors, an actor's objects, or all actors. */
export function onlyReadKey(store: TimelineStore, of: Partial<Track>): string {
  return `only read${of.lane === undefined && of.actor === undefined ? '' : ` ${openKey(store, of)}`}`;
}

/** Who did something to an object, in order; who is not known comes last. */
export function tracksOfLane(store: TimelineStore, lane: number, sort: Sort): Track[] {
  const { actors = NO_ACTORS } = store.lanes[lane]?.byActor ?? {};
  return Array.from(actors.keys(), (actor) => ({ actor, lane })).sort(
    (a, b) => Number(a.actor === 0) - Number(b.actor === 0) || byRank(store, sort, actors, a.actor, b.actor),
  );
}

const NO_ACTORS: ReadonlyMap<number, ActorMarks> = new Map();

/** All who did anything to what the filter shows, in order; who is not known comes last. */
export function actorTracks(store: TimelineStore, match: FilterMatch, sort: Sort): Track[] {
  const { actors } = store.actors(match);
  const findings = (actor: number): number =>
    sort === 'findings' ? (store.findingsByActor.get(actor)?.count ?? 0) : 0;
  return Array.from(actors.keys(), (actor) => ({ actor })).sort(
    (a, b) =>
      Number(a.actor === 0) - Number(b.actor === 0) ||
      findings(b.actor) - findings(a.actor) ||
      byRank(store, sort, actors, a.actor, b.actor),
  );
}

/** Who was given something of an object, or of what the filter shows, and did nothing to it, in order. */
export function onlyReaders(store: TimelineStore, match: FilterMatch, sort: Sort, lane?: number): Track[] {
  const reads = store.readsOf(match);
  return reads
    .actors(lane)
    .map((actor): Track => (lane === undefined ? { actor } : { actor, lane }))
    .filter((track) => trackMarks(store, match, track) === undefined)
    .sort(
      (a, b) =>
        rankOfReads(sort, reads.of(b)) - rankOfReads(sort, reads.of(a)) ||
        compareTexts(store.text(a.actor), store.text(b.actor)),
    );
}

/** How soon a track of reads comes, the greatest first. */
export function rankOfReads(sort: Sort, reads: MarkSeries | undefined): number {
  if (reads === undefined || sort === 'name' || sort === 'findings') return 0;
  return sort === 'activity' ? reads.length : reads.timeAt(reads.length - 1);
}

const RANKS: Readonly<Record<Sort, (marks: ActorMarks | undefined) => number>> = {
  name: () => 0,
  activity: (marks) => marks?.count ?? 0,
  findings: (marks) => marks?.alarms ?? 0,
  recent: (marks) => marks?.lastAt ?? 0,
};

function byRank(
  store: TimelineStore,
  sort: Sort,
  actors: ReadonlyMap<number, ActorMarks>,
  a: number,
  b: number,
): number {
  const rank = RANKS[sort];
  return rank(actors.get(b)) - rank(actors.get(a)) || compareTexts(store.text(a), store.text(b));
}
