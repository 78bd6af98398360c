import { toDisposable, type Disposable } from '../../base/disposable.ts';
import { uidKey, type History, type Incarnation, type Version } from '../../core/history.ts';

/** The histories that documents of versions are made from: the live one, and those of the traces that are open. */
export class TraceSources {
  private readonly live: () => History;
  private readonly traces = new Set<History>();

  constructor(live: () => History) {
    this.live = live;
  }

  /** Makes a trace's history known while it is open. */
  add(history: History): Disposable {
    this.traces.add(history);
    return toDisposable(() => this.traces.delete(history));
  }

  /** Finds a version by cluster, UID and token. */
  find(
    cluster: string,
    uid: string,
    token: string,
  ): { readonly incarnation: Incarnation; readonly version: Version } | undefined {
    for (const history of [this.live(), ...this.traces]) {
      const incarnation = history.uids.get(uidKey(cluster, uid));
      const version = incarnation?.versions.find((item) => item.token === token);
      if (incarnation !== undefined && version !== undefined) return { incarnation, version };
    }
    return undefined;
  }
}
