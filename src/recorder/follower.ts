import { messageOf } from '../base/appError.ts';
import type { NewTraceEvent } from '../core/traceEvent.ts';
import type { Cluster } from '../kube/cluster.ts';
import { discover, type ApiResource, type Discovery } from '../kube/discovery.ts';
import { watchResource } from '../kube/watch.ts';
import type { RequestInfo } from './requestInfo.ts';

/** What a follower needs. */
export interface FollowerOptions {
  readonly secretKey: string;
  readonly keepBodies: boolean;
  events(events: readonly NewTraceEvent[]): void;
  /** Said once for what cannot be watched: writes that go past the recorder are not seen there. */
  onProblem(message: string): void;
}

const MAX_FOLLOWED = 200;
/** How old an answer of discovery may be that does not know a resource: a definition may have come since. */
const DISCOVERY_AGE_MS = 200;
const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 8_000;
/** How long the first request to a resource waits for our own watch of it. */
const HOLD_MS = 200;

/**
 * Watches, with the user's own credential, what the recorder's clients touch, so that writes which go past the recorder are
 * seen and every version is ordered by a stream.
 */
export class Follower {
  private readonly cluster: Cluster;
  private readonly options: FollowerOptions;
  private readonly stopping = new AbortController();
  private readonly live = new Map<string, boolean>();
  private readonly running: Promise<void>[] = [];
  private readonly starts = new Map<string, Promise<void>>();
  private discovery: { found: Promise<Discovery>; at: number } | undefined;

  constructor(cluster: Cluster, options: FollowerOptions) {
    this.cluster = cluster;
    this.options = options;
  }

  /** Asks early what the server offers, so that the first touch is followed without delay. A failure is said when it matters. */
  async prepare(): Promise<void> {
    try {
      await this.discovered(false);
    } catch {
      // The first touch asks again, and says what is wrong.
      this.discovery = undefined;
    }
  }

  /** A client touched a resource: its namespace is watched from now on, or all of them where it asked for all. */
  touch(info: RequestInfo): void {
    if (info.resource === 'events' || info.resource.endsWith('reviews') || this.stopping.signal.aborted) return;
    const all = keyOf(info, '');
    const own = keyOf(info, info.namespace);
    if (this.live.has(all) || this.live.has(own) || this.live.size >= MAX_FOLLOWED) return;
    this.live.set(own, false);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.starts.set(own, promise);
    const begun = (): void => {
      this.starts.delete(own);
      resolve();
    };
    this.running.push(this.follow(info, own, begun).finally(begun), this.hold().then(begun));
  }

  /**
   * Settles when our own watch of what a request touches is under way, or cannot be, and in any case very soon: what others
   * write before would go unseen. Undefined where there is nothing to wait for.
   */
  starting(info: RequestInfo): Promise<void> | undefined {
    return this.starts.get(keyOf(info, '')) ?? this.starts.get(keyOf(info, info.namespace));
  }

  /** Whether a watch of ours covers a namespace of a resource and is live. */
  covers(info: RequestInfo, namespace: string): boolean {
    return this.live.get(keyOf(info, '')) === true || this.live.get(keyOf(info, namespace)) === true;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.running);
  }

  private async hold(): Promise<void> {
    try {
      await this.cluster.clock.delay(HOLD_MS, this.stopping.signal);
    } catch {
      // Stopping: nobody waits any longer.
    }
  }

  private async follow(info: RequestInfo, key: string, begun: () => void): Promise<void> {
    const { signal } = this.stopping;
    try {
      const resource = await this.resourceOf(info, begun);
      if (!resource.verbs.includes('watch')) return;
      let said = false;
      const namespace = resource.namespaced && info.namespace !== '' ? { namespace: info.namespace } : {};
      await watchResource(
        this.cluster,
        { resource, ...namespace, bodies: 'whole' },
        {
          events: (events) => this.options.events(events),
          state: (state) => {
            this.live.set(key, state.phase === 'live');
            if (state.phase === 'live' || state.phase === 'failed') begun();
            if (state.phase !== 'failed' || said) return;
            said = true;
            this.options.onProblem(
              `${info.resource} cannot be watched (${state.error?.message ?? 'refused'}): writes to it that go past the recorder are not seen.`,
            );
          },
        },
        { secretKey: this.options.secretKey, keepBodies: this.options.keepBodies },
        signal,
      );
    } catch (error) {
      if (!signal.aborted) this.options.onProblem(`${info.resource} cannot be watched: ${messageOf(error)}`);
    }
  }

  /** What the server offers under a name; waits for a definition that is not there yet, as where a client makes it first. */
  private async resourceOf(info: RequestInfo, unknown: () => void): Promise<ApiResource> {
    let found = find(await this.discovered(false), info);
    for (let waitMs = FIRST_WAIT_MS; found === undefined; waitMs = Math.min(2 * waitMs, MAX_WAIT_MS)) {
      found = find(await this.discovered(true), info);
      if (found !== undefined) break;
      unknown();
      await this.cluster.clock.delay(waitMs, this.stopping.signal);
    }
    return found;
  }

  private discovered(anew: boolean): Promise<Discovery> {
    const now = this.cluster.clock.now();
    if (this.discovery === undefined || (anew && now - this.discovery.at > DISCOVERY_AGE_MS)) {
      this.discovery = { found: discover(this.cluster, this.stopping.signal), at: now };
    }
    return this.discovery.found;
  }
}

function find(discovery: Discovery, info: RequestInfo): ApiResource | undefined {
  return discovery.resources.find(
    (item) => item.group === info.group && item.version === info.version && item.resource === info.resource,
  );
}

function keyOf(info: RequestInfo, namespace: string): string {
  return `${info.group}/${info.version}/${info.resource}\0${namespace}`;
}
