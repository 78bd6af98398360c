import type { Filter } from './filter.ts';
import { choosesLanes, readTest } from './filterMatch.ts';
import { NO_LANE } from './model.ts';
import { MarkSeries } from './series.ts';
import type { TimelineStore } from './store.ts';
import type { Track } from './tracks.ts';

/** What one actor was given, in order of time: of all, and of each object. */
interface ActorReads {
  readonly all: MarkSeries;
  readonly lanes: Map<number, MarkSeries>;
}

/** The reads of each track in order of time, and which match a filter; made when one is looked at first, and kept up then. */
export class ReadIndex {
  readonly filter: Filter;
  private readonly store: TimelineStore;
  private readonly byActor = new Map<number, ActorReads>();
  private readonly matches: ((read: number) => boolean) | undefined;
  private matchedReads: Uint8Array | undefined;
  private counted = 0;

  constructor(store: TimelineStore, filter: Filter) {
    this.filter = filter;
    this.store = store;
    this.matches = readTest(store, filter);
    this.matchedReads = this.matches === undefined ? undefined : new Uint8Array(1024);
  }

  /** 1 for each read that matches, by its place in its columns; undefined where all do. */
  get matched(): Uint8Array | undefined {
    return this.matchedReads;
  }

  of({ actor, lane }: Track): MarkSeries | undefined {
    const reads = this.byActor.get(actor);
    return lane === undefined ? reads?.all : reads?.lanes.get(lane);
  }

  /** Who was given anything; of an object, where one is named. */
  actors(lane?: number): number[] {
    const all = Array.from(this.byActor.keys());
    return lane === undefined ? all : all.filter((actor) => this.byActor.get(actor)?.lanes.has(lane) === true);
  }

  /** The lanes of the objects that an actor was given. */
  lanesOf(actor: number): number[] {
    return Array.from(this.byActor.get(actor)?.lanes.keys() ?? []);
  }

  /** Takes the reads that came since; `shown` is 1 for each lane that the filter shows. */
  catchUp(shown: Uint8Array): void {
    const { reads } = this.store;
    if (this.counted === reads.length) return;
    if (this.matchedReads !== undefined && this.matchedReads.length < reads.length) {
      const grown = new Uint8Array(reads.length * 2);
      grown.set(this.matchedReads);
      this.matchedReads = grown;
    }
    const all = !choosesLanes(this.filter);
    for (; this.counted < reads.length; this.counted += 1) {
      const lane = reads.lane.at(this.counted);
      const actor = reads.actor.at(this.counted);
      const isOfMany = lane === NO_LANE;
      if (isOfMany ? !all : shown[lane] !== 1) continue;
      if (this.matchedReads !== undefined && this.matches?.(this.counted) === true) this.matchedReads[this.counted] = 1;
      const own = this.byActor.get(actor) ?? { all: new MarkSeries(), lanes: new Map<number, MarkSeries>() };
      this.byActor.set(actor, own);
      const at = reads.at.at(this.counted);
      own.all.insert(at, this.counted);
      if (isOfMany) continue;
      const ofLane = own.lanes.get(lane) ?? new MarkSeries();
      own.lanes.set(lane, ofLane);
      ofLane.insert(at, this.counted);
    }
  }
}
