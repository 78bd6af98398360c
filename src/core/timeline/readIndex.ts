import type { Filter } from './filter.ts';
import { choosesLanes, readTest } from './filterMatch.ts';
import { NO_LANE } from './model.ts';
import { MarkSeries } from './series.ts';
import type { TimelineStore } from './store.ts';
import { trackKey, type Track } from './tracks.ts';

/** The reads of each track in order of time, and which match a filter; made when one is looked at first, and kept up then. */
export class ReadIndex {
  readonly filter: Filter;
  private readonly store: TimelineStore;
  private readonly tracks = new Map<string, MarkSeries>();
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

  of(track: Track): MarkSeries | undefined {
    return this.tracks.get(trackKey(track));
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
      this.insert({ actor });
      if (!isOfMany) this.insert({ actor, lane });
    }
  }

  private insert(track: Track): void {
    const key = trackKey(track);
    const series = this.tracks.get(key) ?? new MarkSeries();
    this.tracks.set(key, series);
    series.insert(this.store.reads.at.at(this.counted), this.counted);
  }
}
