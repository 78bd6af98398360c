import type { TraceHeader } from '../../core/traceEvent.ts';

/** What people call clusters, by id: the part of a trace's header. */
export type ClusterLabels = NonNullable<TraceHeader['clusters']>;

/** Keeps a value from window to window. */
interface Store<T> {
  load(): T | undefined;
  save(value: T): Promise<void>;
}

const MAX_KEPT = 200;

/** What people call clusters. It is kept: events of an earlier window name a cluster by its id only, and it may be gone since. */
export class ClusterNames {
  private labels: ClusterLabels;
  private readonly store: Store<ClusterLabels> | undefined;
  private readonly onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void = () => undefined, store?: Store<ClusterLabels>) {
    this.onError = onError;
    this.store = store;
    this.labels = { ...store?.load() };
  }

  /** All that are known. */
  all(): ClusterLabels {
    return this.labels;
  }

  /** Says what a person calls a cluster; the last that were said are kept. */
  name(id: string, label: string, server?: string): void {
    const known = this.labels[id];
    if (known?.label === label && known.server === server) return;
    const { [id]: _before, ...others } = this.labels;
    const kept = Object.entries(others).slice(1 - MAX_KEPT);
    this.labels = { ...Object.fromEntries(kept), [id]: { label, ...(server === undefined ? {} : { server }) } };
    this.store?.save(this.labels).catch(this.onError);
  }
}
