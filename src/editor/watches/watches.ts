import { inGroup } from '../../core/inGroup.ts';
import { isAppError, messageOf, AppError } from '../../base/appError.ts';
import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/emitter.ts';
import { nameKey } from '../../core/history.ts';
import type { NewTraceEvent } from '../../core/traceEvent.ts';
import type { Clusters } from '../clusters/clusters.ts';
import type { Session } from '../session/session.ts';
import { openRestartGap } from './restartGap.ts';
import { readDefinition, type WatchDefinition } from './watchDefinition.ts';

/** How a watch is doing. */
export type WatchPhase = 'idle' | 'connecting' | 'listing' | 'live' | 'waiting' | 'failed';

/** What the tree shows of a watch besides its objects. */
export interface WatchStatus {
  readonly phase: WatchPhase;
  /** When the server was heard last, ms since the epoch. */
  readonly lastHeardAt?: number;
  /** Why it waits or failed. */
  readonly error?: AppError;
  /** The cluster's id in the log, once it answered. */
  readonly clusterId?: string;
}

/** What keeps definitions over reloads. */
export interface DefinitionStore {
  load(): unknown;
  save(definitions: readonly WatchDefinition[]): Promise<void>;
}

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;
const SETTLE_POLL_MS = 200;

interface Running {
  readonly definition: WatchDefinition;
  readonly controller: AbortController;
  status: WatchStatus;
  /** Keys of the names that it delivered. */
  readonly delivered: Set<string>;
  ended: Promise<void>;
}

/** What watches need of the rest. */
export interface WatchesOptions {
  readonly clusters: Clusters;
  readonly session: Session;
  readonly store: DefinitionStore;
  readonly clock: Clock;
  /** Whether whole objects may be kept. */
  readonly keepBodies: () => boolean;
  readonly onError: (error: unknown) => void;
}

/**
 * The watches that a person asked for. Each runs by itself: one that fails says so on its own row, and the others go on.
 * They start when somebody first looks, so that opening a window asks nothing of a cluster.
 */
export class Watches implements Disposable {
  private readonly options: WatchesOptions;
  private readonly changed: Emitter<void>;
  private running = new Map<string, Running>();
  private started = false;

  constructor(options: WatchesOptions) {
    this.options = options;
    this.changed = new Emitter(options.onError);
    const kept = options.store.load();
    for (const item of Array.isArray(kept) ? (kept as unknown[]) : []) {
      const definition = readDefinition(item);
      if (definition !== undefined) this.running.set(definition.id, this.idle(definition));
    }
  }

  /** Fires when a watch came, went, or changed its state. */
  get onDidChange(): Emitter<void>['event'] {
    return this.changed.event;
  }

  definitions(): readonly WatchDefinition[] {
    return [...this.running.values()].map((watch) => watch.definition);
  }

  get(id: string): WatchDefinition | undefined {
    return this.running.get(id)?.definition;
  }

  status(id: string): WatchStatus {
    return this.running.get(id)?.status ?? { phase: 'idle' };
  }

  /** Whether a watch has delivered a name; for watches by label, whose scope does not tell. */
  delivered(id: string, key: string): boolean {
    return this.running.get(id)?.delivered.has(key) === true;
  }

  /** Starts all watches, now and those to come. */
  start(): void {
    if (this.started) return;
    this.started = true;
    for (const watch of this.running.values()) this.run(watch);
  }

  /** Adds a watch; one that is there already is only started. `keep`: over reloads. */
  async add(definition: WatchDefinition, keep = true): Promise<void> {
    if (!this.running.has(definition.id)) {
      const watch = this.idle(definition);
      this.running.set(definition.id, watch);
      if (this.started) this.run(watch);
    }
    this.changed.fire();
    if (keep) await this.save();
  }

  async remove(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      this.running.get(id)?.controller.abort();
      this.running.delete(id);
    }
    this.changed.fire();
    await this.save();
  }

  /** Starts a watch anew, such as one that failed. */
  retry(id: string): void {
    const old = this.running.get(id);
    if (old === undefined) return;
    old.controller.abort();
    const watch = this.idle(old.definition);
    this.running.set(id, watch);
    this.run(watch);
    this.changed.fire();
  }

  /** Resolves when each watch of a cluster has its first list, or has failed; or after a while, where there is none. */
  async settled(cluster: string, limitMs: number, signal: AbortSignal): Promise<void> {
    const end = this.options.clock.now() + limitMs;
    while (!signal.aborted && this.options.clock.now() < end) {
      const own = [...this.running.values()].filter(({ definition }) => definition.cluster === cluster);
      const isSettled = own.every(
        ({ status: { phase } }) => phase === 'live' || phase === 'waiting' || phase === 'failed',
      );
      if (own.length > 0 && isSettled) return;
      await this.options.clock.delay(SETTLE_POLL_MS, signal).catch(() => undefined);
    }
  }

  /** Starts the watches anew that wait or failed: what they connect with has changed. Those that are well go on. */
  retryFailed(): void {
    if (!this.started) return;
    for (const { id } of this.definitions()) {
      const { phase } = this.status(id);
      if (phase === 'failed' || phase === 'waiting') this.retry(id);
    }
  }

  /** Ends the watches of a cluster that is no more, such as a stopped sandbox. */
  async removeCluster(cluster: string): Promise<void> {
    await this.remove(
      this.definitions()
        .filter((definition) => definition.cluster === cluster)
        .map((definition) => definition.id),
    );
  }

  dispose(): void {
    for (const watch of this.running.values()) watch.controller.abort();
    this.running = new Map();
    this.changed.dispose();
  }

  private idle(definition: WatchDefinition): Running {
    return {
      definition,
      controller: new AbortController(),
      status: { phase: 'idle' },
      delivered: new Set(),
      ended: Promise.resolve(),
    };
  }

  private save(): Promise<void> {
    return this.options.store.save(this.definitions());
  }

  private run(watch: Running): void {
    watch.ended = this.keepFollowing(watch).catch((error: unknown) => {
      if (watch.controller.signal.aborted) return;
      const failure = isAppError(error) ? error : new AppError('internal', messageOf(error), { cause: error });
      this.setStatus(watch, { ...watch.status, phase: 'failed', error: failure });
      if (failure.code === 'internal') this.options.onError(error);
    });
  }

  /** A cluster that cannot be reached now is asked again, ever more seldom; other failures want a person. */
  private async keepFollowing(watch: Running): Promise<void> {
    const { signal } = watch.controller;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
      try {
        await this.follow(watch);
        return;
      } catch (error) {
        if (signal.aborted || !isAppError(error, 'unreachable', 'timed-out', 'connection-lost', 'server-error'))
          throw error;
        this.setStatus(watch, { ...watch.status, phase: 'waiting', error });
        await this.options.clock.delay(waitMs * (0.5 + this.options.clock.random() / 2), signal);
      }
    }
  }

  private async follow(watch: Running): Promise<void> {
    const { definition, controller } = watch;
    const { clusters, session } = this.options;
    const { signal } = controller;
    this.setStatus(watch, { phase: 'connecting' });
    const connected = await clusters.connect(definition.cluster, signal);
    this.setStatus(watch, { phase: 'listing', clusterId: connected.id });
    const discovery = await connected.discovery(signal);
    const resource = discovery.find(inGroup(`${definition.resource}.${definition.version}`, definition.group));
    const { watchResource } = await import('../../kube/watch.ts');
    session.nameCluster(connected.id, connected.label, connected.cluster.url);
    let gap = openRestartGap(session, connected.id, definition, () => this.options.clock.now());
    await watchResource(
      connected.cluster,
      {
        resource,
        ...(definition.namespace === undefined ? {} : { namespace: definition.namespace }),
        ...(definition.name === undefined ? {} : { name: definition.name }),
        ...(definition.labelSelector === undefined ? {} : { labelSelector: definition.labelSelector }),
        ...(definition.fieldSelector === undefined ? {} : { fieldSelector: definition.fieldSelector }),
        bodies: this.options.keepBodies() ? 'auto' : 'metadata',
      },
      {
        events: (events) => this.take(watch, events),
        state: (state) => {
          this.setStatus(watch, { ...state, clusterId: connected.id });
          if (state.phase !== 'live') return;
          gap?.close(watch.delivered);
          gap = undefined;
        },
      },
      { secretKey: session.secretKey, keepBodies: this.options.keepBodies(), onProblem: this.options.onError },
      signal,
    );
  }

  private take(watch: Running, events: readonly NewTraceEvent[]): void {
    if (watch.controller.signal.aborted) return;
    for (const event of events) {
      if (event.type === 'observed' || event.type === 'absent') watch.delivered.add(nameKey(event.cluster, event.name));
    }
    this.options.session.append(events);
  }

  private setStatus(watch: Running, status: WatchStatus): void {
    if (watch.controller.signal.aborted) return;
    watch.status = status;
    this.changed.fire();
  }
}
