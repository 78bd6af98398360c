import type { Event } from '../base/emitter.ts';
import { Emitter } from '../base/emitter.ts';
import type { Json } from '../codec/json.ts';
import { uidKey, type History } from './history.ts';
import type { HistoryRecord, VersionRecord } from './historyRecords.ts';
import { PackedObservation, Packer } from './packedObservation.ts';
import { emptyHistory, letSleep, reduce } from './reduce.ts';
import { shareContent } from './shareContent.ts';
import type { NewTraceEvent, NoteEvent, ObjectName, ObservedEvent, TraceEvent } from './traceEvent.ts';

/** Bounds of a log in memory. What is dropped from memory is still in the log on disk. */
export interface EventLogLimits {
  /** Bytes of bodies, managed fields and leaf hashes, as estimated, that are kept; the oldest are dropped first. Default 256 MiB. */
  readonly maxContentBytes?: number;
  /** Events that can be asked for by number; default one million. Their history stays. */
  readonly maxEvents?: number;
}

const DEFAULT_CONTENT_BYTES = 256 * 1024 * 1024;
const DEFAULT_EVENTS = 1_000_000;
/** Numbers of a trace may leave out this many at once. */
const MAX_LEAP = 1_000_000;

/**
 * The one log in memory: gives each event its number, folds it into the history and tells the listeners, in this order.
 * Contents are dropped oldest first when they outgrow their bound: before that, what changed in the versions they belong to
 * is worked out and kept, so that only the text itself is lost.
 */
export class EventLog {
  private readonly record: HistoryRecord = emptyHistory();
  private readonly packer = new Packer();
  readonly history: History = this.record;
  readonly onDidAppend: Event<readonly TraceEvent[]>;
  private readonly emitter: Emitter<readonly TraceEvent[]>;
  private readonly limits: Required<EventLogLimits>;
  private events: (TraceEvent | PackedObservation)[] = [];
  private firstSeq = 1;
  private nextSeq = 1;
  /** Events with contents, oldest first, and where in the list the oldest that still has them is. */
  private contents: { event: ObservedEvent; bytes: number }[] = [];
  private oldest = 0;
  private contentBytes = 0;
  private meanBytes = 0;
  private measured = 0;

  /** `onError` is told when a listener throws; the log goes on. */
  constructor(limits: EventLogLimits = {}, onError: (error: unknown) => void = rethrow) {
    this.limits = {
      maxContentBytes: limits.maxContentBytes ?? DEFAULT_CONTENT_BYTES,
      maxEvents: limits.maxEvents ?? DEFAULT_EVENTS,
    };
    this.emitter = new Emitter(onError);
    this.onDidAppend = this.emitter.event;
  }

  /** The number of the newest event; 0 while there is none. */
  get lastSeq(): number {
    return this.nextSeq - 1;
  }

  /** Appends one event and returns it with its number. */
  append(event: NewTraceEvent): TraceEvent {
    const added = this.add(event);
    this.emitter.fire([added]);
    return added;
  }

  /** Appends several; listeners hear of them once. */
  appendAll(events: readonly NewTraceEvent[]): TraceEvent[] {
    const added = events.map((event) => this.add(event));
    if (added.length > 0) this.emitter.fire(added);
    return added;
  }

  /**
   * Takes over events of a trace. They keep their numbers where these rise from what the log has; the others (of a second
   * trace, say) get the next ones. Returns the events as they are in the log.
   */
  replay(events: readonly TraceEvent[]): TraceEvent[] {
    const taken = events.map((event) => {
      const leap = event.seq - this.nextSeq;
      const own = leap >= 0 && leap < MAX_LEAP ? event : { ...event, seq: this.nextSeq };
      this.keep(own);
      return own;
    });
    if (taken.length > 0) this.emitter.fire(taken);
    return taken;
  }

  /** The event with a number, while it is in memory. */
  eventAt(seq: number): TraceEvent | undefined {
    const event = this.events[seq - this.firstSeq];
    return event instanceof PackedObservation ? event.unpack() : event;
  }

  /** The events in memory from a number on, in order. */
  *eventsFrom(seq: number): Iterable<TraceEvent> {
    for (let next = Math.max(seq, this.firstSeq); next < this.nextSeq; next += 1) {
      const event = this.eventAt(next);
      if (event !== undefined) yield event;
    }
  }

  /** The notes in memory, in order. */
  notes(): NoteEvent[] {
    return this.events.flatMap((event) => (event instanceof PackedObservation || event.type !== 'note' ? [] : [event]));
  }

  dispose(): void {
    this.emitter.dispose();
  }

  private add(event: NewTraceEvent): TraceEvent {
    const added: TraceEvent = { ...event, seq: this.nextSeq };
    this.keep(added);
    return added;
  }

  private keep(event: TraceEvent): void {
    if (this.events.length === 0) this.firstSeq = event.seq;
    this.nextSeq = event.seq + 1;
    const asleep = event.type === 'observed' ? letSleep(this.record, event, this.packer) : undefined;
    this.events[event.seq - this.firstSeq] = asleep ?? event;
    if (asleep === undefined) {
      reduce(this.record, event);
      if (event.type === 'observed') {
        this.share(event);
        this.holdContent(event);
      }
    }
    if (this.events.length >= this.limits.maxEvents * 1.25) this.forgetEvents();
  }

  /** What an event says again is kept once: names and UIDs, and the content that the version before it had already. */
  private share(event: ObservedEvent): void {
    const incarnation = this.record.touched;
    if (incarnation?.uid !== event.uid || incarnation.cluster !== event.cluster) return;
    if (isSameName(incarnation.name, event.name)) event.name = incarnation.name;
    event.uid = incarnation.uid;
    event.cluster = incarnation.cluster;
    const version = incarnation.find(event.token);
    const before = version?.seen === event ? version.previous?.seen : version?.seen;
    if (before !== undefined && before !== event) shareContent(before, event);
  }

  private forgetEvents(): void {
    const surplus = this.events.length - this.limits.maxEvents;
    for (const event of this.events.slice(0, surplus)) {
      const version =
        event instanceof PackedObservation || event?.type !== 'observed' ? undefined : this.versionOf(event);
      if (version === undefined) continue;
      version.after?.settle();
      version.record.release();
    }
    this.events = this.events.slice(surplus);
    this.firstSeq += surplus;
  }

  /** The version whose fullest observation an event is, and the one after it. */
  private versionOf(event: ObservedEvent): { record: VersionRecord; after: VersionRecord | undefined } | undefined {
    const incarnation = this.record.uids.get(uidKey(event.cluster, event.uid));
    const record = incarnation?.find(event.token);
    if (incarnation === undefined || record?.seen !== event) return undefined;
    return { record, after: incarnation.versions[record.place + 1] };
  }

  /** What follows from a content is worked out before the content goes. */
  private dropContent(event: ObservedEvent): void {
    const version = this.versionOf(event);
    version?.record.settle();
    version?.after?.settle();
    const emptied: Emptied = event;
    emptied.body = undefined;
    emptied.leaves = undefined;
    emptied.managedFields = undefined;
    emptied.annotations = undefined;
  }

  /** Every eighth content is measured; the others count as the mean of late. */
  private estimate(event: ObservedEvent): number {
    if (event.body === undefined && event.leaves === undefined && event.managedFields === undefined) return 0;
    if (this.measured % 8 === 0) {
      const bytes = sizeOf(event.body ?? event.leaves) + (event.body === undefined ? sizeOf(event.managedFields) : 0);
      this.meanBytes = this.measured === 0 ? bytes : this.meanBytes * 0.9 + bytes * 0.1;
    }
    this.measured += 1;
    return this.meanBytes;
  }

  private holdContent(event: ObservedEvent): void {
    const bytes = this.estimate(event);
    if (bytes === 0) return;
    this.contents.push({ event, bytes });
    this.contentBytes += bytes;
    while (this.contentBytes > this.limits.maxContentBytes && this.oldest < this.contents.length - 1) {
      const dropped = this.contents[this.oldest];
      this.oldest += 1;
      if (dropped === undefined) continue;
      this.contentBytes -= dropped.bytes;
      this.dropContent(dropped.event);
    }
    if (this.oldest > 10_000 && this.oldest * 2 > this.contents.length) {
      this.contents = this.contents.slice(this.oldest);
      this.oldest = 0;
    }
  }
}

/** Members are emptied and not deleted: deleting makes an object several times as large. */
type Emptied = { [member in 'body' | 'leaves' | 'managedFields' | 'annotations']?: unknown };

/** An estimate of what a value takes in memory, in bytes; what it shares with others counts in each. */
function sizeOf(value: Json | undefined): number {
  if (value === undefined) return 0;
  if (typeof value === 'string') return 16 + value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let bytes = 32;
  if (Array.isArray(value)) for (const item of value) bytes += sizeOf(item);
  else for (const name in value) bytes += 16 + sizeOf(value[name]);
  return bytes;
}

function isSameName(a: ObjectName, b: ObjectName): boolean {
  return a.name === b.name && a.namespace === b.namespace && a.resource === b.resource && a.group === b.group;
}

function rethrow(error: unknown): never {
  throw error;
}
