import { randomBytes } from 'node:crypto';
import type { Json, JsonObject } from '../codec/json.ts';
import { observedFrom, type ObserveContext } from '../core/observe.ts';
import { nameKey } from '../core/history.ts';
import { actorKey } from '../core/findings/knowledge.ts';
import type { Actor, NewTraceEvent, ObjectName, WriteEvent } from '../core/traceEvent.ts';
import { BaseFinder } from './basedOn.ts';
import type { RequestInfo } from './requestInfo.ts';
import { keepLast } from '../core/keepLast.ts';

const MAX_KNOWN = 100_000;
const MAX_TOKENS = 16;
const MAX_NAMES = 50_000;

/** What a recording needs. */
export interface RecordingOptions {
  readonly cluster: string;
  /** The time of what is being recorded, in ms since the epoch. */
  now(): number;
  readonly keepBodies: boolean;
  sink(event: NewTraceEvent): void;
  parseYaml(text: string): Json;
  /** A client touched a resource. */
  touched(info: RequestInfo): void;
  /** Whether our own watch covers a resource in a namespace. */
  isFollowed(info: RequestInfo, namespace: string): boolean;
}

/** What could not be read, and how often. */
export interface NotAnalysed {
  reads: number;
  writes: number;
  lost: number;
  /** Events that passed and could not be kept: what they show is in no finding. */
  eventsUnkept: number;
  /** By reason, at most 50 of them. */
  reasons: Record<string, number>;
}

/** One recording: gives events their place and time, remembers what is known so that nothing is told twice, and counts what was lost. */
export class Recording {
  readonly cluster: string;
  readonly keepBodies: boolean;
  /** The key of the hashes that stand in for Secrets' values; new for each recording, never stored. */
  readonly secretKey = randomBytes(16).toString('hex');
  readonly counts: NotAnalysed = { reads: 0, writes: 0, lost: 0, eventsUnkept: 0, reasons: {} };
  readonly parseYaml: (text: string) => Json;
  private readonly options: RecordingOptions;
  private readonly known = new Map<string, Map<string, number>>();
  private readonly uids = new Map<string, string>();
  private readonly bases = new BaseFinder();
  /** Actors that read for themselves. */
  private readonly readers = new Map<string, true>();
  private streams = 0;
  private gaps = 0;

  constructor(options: RecordingOptions) {
    this.options = options;
    this.cluster = options.cluster;
    this.keepBodies = options.keepBodies;
    this.parseYaml = (text) => options.parseYaml(text);
  }

  now(): number {
    return this.options.now();
  }

  add(event: NewTraceEvent): void {
    this.options.sink(event);
  }

  nextStream(): string {
    this.streams += 1;
    return `client-${this.streams}`;
  }

  touched(info: RequestInfo): void {
    this.options.touched(info);
  }

  isFollowed(info: RequestInfo, namespace: string): boolean {
    return this.options.isFollowed(info, namespace);
  }

  context(more: { resource: RequestInfo; stream?: string; change?: 'ADDED' | 'MODIFIED' }): ObserveContext {
    const { resource, ...rest } = more;
    return {
      cluster: this.cluster,
      via: 'recorder',
      at: this.now(),
      resource: { group: resource.group, resource: resource.resource, version: resource.version },
      keepBody: this.keepBodies,
      secretKey: this.secretKey,
      ...rest,
    };
  }

  /** Adds the event of an object that an answer showed whole. */
  observe(object: JsonObject, more: { resource: RequestInfo; stream?: string; change?: 'ADDED' | 'MODIFIED' }): void {
    const event = observedFrom(object, this.context(more));
    if (event === undefined) return;
    if (event.body !== undefined) this.bases.seen(event.uid, event.token, event.body);
    this.add(event);
  }

  /** Events of our own watch. */
  followed(events: readonly NewTraceEvent[]): void {
    for (const event of events) {
      if (event.type === 'observed') {
        this.isNew(event.uid, event.token, true);
        if (event.body !== undefined) this.bases.seen(event.uid, event.token, event.body);
      }
      this.add(event);
    }
  }

  /** Whether this version's content is not in the recording yet; from a stream, its order may be news although it is. */
  isNew(uid: string, token: string, streamed: boolean): boolean {
    const tokens = this.known.get(uid) ?? new Map<string, number>();
    const had = tokens.has(token);
    if (!had) keepLast(tokens, token, this.now(), MAX_TOKENS);
    keepLast(this.known, uid, tokens, MAX_KNOWN);
    return !had || streamed;
  }

  /** Whether a version was known before a time: our own watch may show a new one before its writer gets the answer. */
  wasKnown(uid: string, token: string, before: number): boolean {
    const since = this.known.get(uid)?.get(token);
    return since !== undefined && since < before;
  }

  /** A client was given a version, by a read of its own or by the answer to its write. */
  give(actor: Actor, isRead: boolean, name: ObjectName, uid: string, token: string): void {
    const own = actorKey(actor);
    if (isRead) keepLast(this.readers, own, true, MAX_NAMES);
    for (const who of new Set([own, actor.client ?? ''])) {
      this.bases.gave(who, uid, token);
      keepLast(this.uids, `${who}\0${nameKey('', name)}`, uid, MAX_NAMES);
    }
  }

  /** The UID that an actor was last given for a name. */
  uidGiven(actor: Actor, name: ObjectName): string | undefined {
    return this.uids.get(`${this.whoReadsFor(actor)}\0${nameKey('', name)}`);
  }

  /** What a write of an actor was based on; see `BaseFinder`. */
  baseOf(
    actor: Actor,
    uid: string | undefined,
    token: string | undefined,
    body: JsonObject | undefined,
  ): Pick<WriteEvent, 'basedOn' | 'paths'> {
    return this.bases.find(this.whoReadsFor(actor), uid, token, body);
  }

  /** A program that reads knows what it was given; for one that only writes, another one of its client may read. */
  private whoReadsFor(actor: Actor): string {
    const own = actorKey(actor);
    return this.readers.has(own) ? own : (actor.client ?? '');
  }

  notAnalysed(what: 'reads' | 'writes', reason: string): void {
    this.counts[what] += 1;
    this.count(reason);
  }

  /** Something passed that could not be read: a gap in what is known. */
  lost(info: RequestInfo, from: number, reason: string): void {
    this.counts.lost += 1;
    this.count(reason);
    this.gaps += 1;
    this.add({
      type: 'gap',
      at: this.now(),
      via: 'recorder',
      cluster: this.cluster,
      gap: `recorder-${this.gaps}`,
      scope: {
        group: info.group,
        resource: info.resource,
        ...(info.namespace === '' ? {} : { namespace: info.namespace }),
        ...(info.name === '' ? {} : { name: info.name }),
      },
      from,
      to: this.now(),
      cause: 'recorder',
      detail: reason,
    });
  }

  private count(reason: string): void {
    const short = reason.replaceAll(/\d+ bytes/g, 'N bytes').slice(0, 120);
    if (Object.keys(this.counts.reasons).length < 50 || short in this.counts.reasons)
      this.counts.reasons[short] = (this.counts.reasons[short] ?? 0) + 1;
  }
}
