import type { ReadTable } from './columns.ts';
import type { Filter } from './filter.ts';
import { NO_LANE } from './model.ts';
import { MarkSeries } from './series.ts';
import { trackKey, type Track } from './tracks.ts';

/** The reads of each track in order of time; made when one is looked at first, and kept up then. */
export class ReadIndex {
  readonly filter: Filter;
  private readonly table: ReadTable;
  private readonly tracks = new Map<string, MarkSeries>();
  private counted = 0;

  constructor(table: ReadTable, filter: Filter) {
    this.filter = filter;
    this.table = table;
  }

  of(track: Track): MarkSeries | undefined {
    return this.tracks.get(trackKey(track));
  }

  /** Takes the reads that came since; `shown` is 1 for each lane that the filter shows. */
  catchUp(shown: Uint8Array): void {
    const { table } = this;
    for (; this.counted < table.length; this.counted += 1) {
      const lane = table.lane.at(this.counted);
      const actor = table.actor.at(this.counted);
      if (lane === NO_LANE) {
        if (this.filter.terms.length === 0) this.insert({ actor });
      } else if (shown[lane] === 1) {
        this.insert({ actor });
        this.insert({ actor, lane });
      }
    }
  }

  private insert(track: Track): void {
    const key = trackKey(track);
    const series = this.tracks.get(key) ?? new MarkSeries();
    this.tracks.set(key, series);
    series.insert(this.table.at.at(this.counted), this.counted);
  }
}
