import { message, type Words } from '../base/message.ts';
import { AppError, wordsOf } from '../base/appError.ts';
import { isTooDeep, TOO_DEEP, type JsonObject } from '../codec/json.ts';
import { absentFrom, deletedFrom, observedFrom, type ObserveContext } from '../core/observe.ts';
import type { GapEvent, NewTraceEvent, ObservedEvent, Token } from '../core/traceEvent.ts';
import { appErrorOf } from './answers.ts';
import type { Cluster } from './cluster.ts';
import { pathOf } from './discovery.ts';
import { KnownObjects, type KnownObject } from './knownObjects.ts';
import { getObject } from './list.ts';
import { canBeLeft } from './selection.ts';
import type { WatchOptions, WatchSink, WatchTarget } from './watch.ts';
import { WatchGap } from './watchGap.ts';

const CHUNK = 500;

/** An object that was seen, as the event that says so. */
export type Seen = Omit<ObservedEvent, 'seq'>;

/**
 * Turns what a server says into events and hands them to the sink: compares lists with what is known, tells a deletion from
 * an object that only left the selection, keeps the gap. Knows nothing of connections.
 */
export class WatchFeed {
  readonly known: KnownObjects;
  private readonly cluster: Cluster;
  private readonly target: WatchTarget;
  private readonly sink: WatchSink;
  private readonly options: WatchOptions;
  private readonly signal: AbortSignal;
  /** UIDs of objects whose content was said to be left out. */
  private readonly tooDeep = new Set<string>();
  private readonly gap = new WatchGap();
  private readonly leavable: boolean;
  private clusterId = '';
  private stream = '';

  constructor(cluster: Cluster, target: WatchTarget, sink: WatchSink, options: WatchOptions, signal: AbortSignal) {
    this.cluster = cluster;
    this.target = target;
    this.sink = sink;
    this.options = options;
    this.signal = signal;
    this.known = new KnownObjects(target.resource);
    this.leavable = canBeLeft(target);
  }

  /** Asks who the cluster is, once. */
  async identify(): Promise<void> {
    if (this.clusterId === '') this.clusterId = await this.cluster.id(this.signal);
  }

  /** What follows comes from a new unbroken sequence of the server. */
  beginStream(): void {
    this.stream = this.newId();
  }

  /** The events of what a list says is there; an object without a name or UID is left out and reported. */
  listed(objects: readonly JsonObject[]): Seen[] {
    const context = this.context('list');
    return objects.map((object) => this.eventOf(object, context)).filter((event) => event !== undefined);
  }

  private seen(object: JsonObject, via: 'watch' | 'get', change?: 'ADDED' | 'MODIFIED'): Seen | undefined {
    return this.eventOf(object, this.context(via, change));
  }

  private eventOf(object: JsonObject, context: ObserveContext): Seen | undefined {
    const tooDeep = isTooDeep(object);
    const event = observedFrom(object, context, tooDeep);
    if (event === undefined)
      this.problem('bad-answer', message`The API server sent an object without a name or UID; it is left out.`);
    else if (tooDeep && !this.tooDeep.has(event.uid)) {
      this.tooDeep.add(event.uid);
      const { namespace, name } = event.name;
      const what = `${this.target.resource.resource} ${namespace === '' ? name : `${namespace}/${name}`}`;
      this.problem('bad-answer', message`The content of ${what} is left out: ${TOO_DEEP}.`);
    }
    return event;
  }

  /** Everything that is there, in one state of the store: compares it with what was known, and closes the gap. */
  async replaceAll(objects: readonly Seen[]): Promise<void> {
    const missing = this.known.missing(objects.map((object) => object.name));
    for (const object of missing) await this.gone(object, 'list');
    let events: NewTraceEvent[] = [];
    for (const object of objects) {
      this.pushSight(events, object);
      if (events.length >= CHUNK) {
        this.deliver(events);
        events = [];
      }
    }
    this.deliver(events);
    this.closeGap(this.cluster.clock.now(), { detail: 'listed anew: what happened in between is not known' });
  }

  /** One event of a watch. */
  async changed(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: JsonObject): Promise<void> {
    if (type === 'DELETED') {
      await this.deleted(object);
      return;
    }
    const seen = this.seen(object, 'watch', type);
    if (seen === undefined) return;
    const events: NewTraceEvent[] = [];
    this.pushSight(events, seen);
    for (const event of events) this.deliver([event]);
  }

  /** The stream is lost: from when the server was last heard, nothing is seen. Nothing happens while a gap is open. */
  openGap(cause: GapEvent['cause'], lastHeardAt: number | undefined, detail: string): void {
    if (this.clusterId === '' || this.stream === '' || lastHeardAt === undefined) return;
    const { resource, namespace, name } = this.target;
    const scope = {
      group: resource.group,
      resource: resource.resource,
      ...(namespace === undefined || namespace === '' ? {} : { namespace }),
      ...(name === undefined ? {} : { name }),
    };
    const opened = this.gap.begin(
      this.newId(),
      { cluster: this.clusterId, scope },
      lastHeardAt,
      this.cluster.clock.now(),
      cause,
      detail,
    );
    if (opened !== undefined) this.deliver([opened]);
  }

  /** What happened since the stream was lost is known up to `to`. */
  closeGap(to: number, how: { detail: string; resumed?: boolean }): void {
    const closed = this.gap.end(to, this.cluster.clock.now(), how);
    if (closed !== undefined) this.deliver([closed]);
  }

  get isInGap(): boolean {
    return this.gap.isOpen;
  }

  private pushSight(events: NewTraceEvent[], seen: Seen): void {
    const { sight, before } = this.known.see(seen);
    if (sight === 'same') return;
    if (sight === 'recreated' && before !== undefined) {
      // Nobody saw the first one go, whatever brought the second.
      events.push(
        absentFrom(before.name, this.context(seen.via === 'watch' ? 'watch' : 'list'), {
          how: 'list',
          uid: before.uid,
        }),
      );
    }
    events.push(seen);
  }

  private async deleted(object: JsonObject): Promise<void> {
    const event = deletedFrom(object, this.context('watch'));
    if (event === undefined) {
      this.problem('bad-answer', message`The API server sent a deletion without a name or UID; it is left out.`);
      return;
    }
    const known = this.known.get(event.name);
    if (known === undefined) return;
    if (known.uid !== event.uid) {
      this.deliver([event]);
      return;
    }
    if (this.leavable) await this.gone(known, '404');
    else {
      this.known.forget(known.name, known.uid);
      this.deliver([event]);
    }
  }

  /**
   * An object is no longer among those selected. Where labels or fields select, it may live on: it is read to tell.
   * Source: Kubernetes API concepts: a watch with a selector says DELETED when an object stops matching.
   */
  private async gone(object: KnownObject, how: 'list' | '404'): Promise<void> {
    this.known.forget(object.name, object.uid);
    const context = this.context(how === 'list' ? 'list' : 'watch');
    if (!this.leavable) {
      this.deliver([absentFrom(object.name, context, { how, uid: object.uid })]);
      return;
    }
    const { group, version, resource, namespaced } = this.target.resource;
    const path = pathOf({ group, version, resource, namespaced }, object.name.namespace, object.name.name);
    try {
      const found = await getObject(this.cluster, path, this.signal);
      const seen = found === undefined ? undefined : this.seen(found, 'get');
      if (seen?.uid === object.uid) this.deliver([seen]);
      else this.deliver([absentFrom(object.name, context, { how, uid: object.uid })]);
    } catch (error) {
      if (this.signal.aborted) throw error;
      const now = this.cluster.clock.now();
      const detail = 'it was deleted or left the selection; which of the two could not be read';
      this.deliver([
        {
          type: 'gap',
          at: now,
          via: 'watch',
          cluster: this.clusterId,
          gap: this.newId(),
          scope: { group, resource, namespace: object.name.namespace, name: object.name.name },
          from: now,
          cause: 'error',
          detail,
        },
      ]);
      this.options.onProblem?.(appErrorOf(error));
    }
  }

  private deliver(events: readonly NewTraceEvent[]): void {
    if (events.length === 0) return;
    try {
      this.sink.events(events);
    } catch (error) {
      this.problem(
        'internal',
        message`What takes the events of ${this.target.resource.resource} failed on one of them: ${wordsOf(error)}`,
        error,
      );
    }
  }

  private problem(code: 'bad-answer' | 'internal', sentence: Words, cause?: unknown): void {
    this.options.onProblem?.(
      new AppError(code, sentence, { advice: message`The watch goes on.`, ...(cause === undefined ? {} : { cause }) }),
    );
  }

  private context(via: 'list' | 'watch' | 'get', change?: 'ADDED' | 'MODIFIED'): ObserveContext {
    return {
      cluster: this.clusterId,
      via,
      at: this.cluster.clock.now(),
      resource: this.target.resource,
      ...(via === 'get' ? {} : { stream: this.stream }),
      ...(change === undefined ? {} : { change }),
      keepBody: this.options.keepBodies ?? true,
      secretKey: this.options.secretKey,
    };
  }

  private newId(): string {
    const part = (): string => Math.floor(this.cluster.clock.random() * 2 ** 40).toString(36);
    return `${part()}${part()}`;
  }
}

/** A token that a watch may start from; the server's `0` means "any age" and is never sent. */
export function usableToken(token: Token): Token | undefined {
  return token === '' || token === '0' ? undefined : token;
}
