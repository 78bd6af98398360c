import type { GapEvent } from '../core/traceEvent.ts';

type NewGap = Omit<GapEvent, 'seq'>;

/** What a gap event says besides its times. */
export type GapFacts = Pick<NewGap, 'cluster' | 'scope'>;

/** The one gap that a watch may be in: opened when the stream is lost, closed when what happened since is known. */
export class WatchGap {
  private open: NewGap | undefined;

  get isOpen(): boolean {
    return this.open !== undefined;
  }

  /** The event that opens a gap; undefined while one is open already. `from` is when the server was last heard. */
  begin(
    id: string,
    facts: GapFacts,
    from: number,
    now: number,
    cause: GapEvent['cause'],
    detail: string,
  ): NewGap | undefined {
    if (this.open !== undefined) return undefined;
    this.open = {
      type: 'gap',
      at: now,
      via: 'watch',
      cluster: facts.cluster,
      gap: id,
      scope: facts.scope,
      from,
      cause,
      detail,
    };
    return this.open;
  }

  /** The event that closes the gap; undefined if none is open. */
  end(to: number, now: number, how: Pick<NewGap, 'detail' | 'resumed'>): NewGap | undefined {
    const open = this.open;
    this.open = undefined;
    return open === undefined ? undefined : { ...open, at: now, to, ...how };
  }
}
