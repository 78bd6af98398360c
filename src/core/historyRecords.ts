import type { JsonObject } from '../codec/json.ts';
import type { GapEvent, ObjectName, ObservedEvent, Token, WriteEvent, Actor } from './traceEvent.ts';
import type { History, Incarnation, NameHistory, Remark, Version } from './history.ts';
import { unambiguousManager } from './managerChange.ts';
import type { PackedObservation } from './packedObservation.ts';
import { Sleepers } from './sleepers.ts';
import { changedParts, type ChangedParts } from './versionChange.ts';
import { WakingMap } from './wakingMap.ts';

/** The reducer's own records behind the read-only interfaces of `history.ts`. Only the reducer writes to them. */
export class HistoryRecord implements History {
  /** Objects that a list showed and nobody has asked about since. */
  readonly sleepers = new Sleepers();
  readonly names: WakingMap<NameRecord>;
  readonly uids: WakingMap<IncarnationRecord>;
  readonly gaps: GapEvent[] = [];
  readonly remarks: Remark[] = [];
  lastSeq = 0;
  lastAt = 0;
  /** The incarnation of the observation that was folded in last. */
  touched: IncarnationRecord | undefined;
  /** Where each gap stands in `gaps`, by its id. */
  readonly gapPlaces = new Map<string, number>();
  /** What gaps there were about, by the key of their scope. */
  readonly gapScopes = new Set<string>();

  /** `wake` folds an observation that was asleep into this history. */
  constructor(wake: (history: HistoryRecord, event: ObservedEvent) => void) {
    const { sleepers } = this;
    const wakeOne = (found: PackedObservation | undefined): void => {
      if (found !== undefined) wake(this, found.unpack());
    };
    const wakeAll = (): void => {
      if (sleepers.size > 0) for (const found of sleepers.takeAll()) wakeOne(found);
    };
    const size = (): number => sleepers.size;
    this.names = new WakingMap({
      size,
      wakeAll,
      hasAsleep: (key) => sleepers.hasName(key),
      wake: (key) => wakeOne(sleepers.takeName(key)),
    });
    this.uids = new WakingMap({
      size,
      wakeAll,
      hasAsleep: (key) => sleepers.hasUid(key),
      wake: (key) => wakeOne(sleepers.takeUid(key)),
    });
  }
}

/** All at one name. */
export class NameRecord implements NameHistory {
  readonly cluster: string;
  readonly name: ObjectName;
  readonly incarnations: IncarnationRecord[] = [];
  readonly writes: WriteEvent[] = [];
  /** The event by which the name became known. */
  readonly firstSeq: number;
  /** Whether the name was known to be free at some time. */
  wasAbsent = false;

  constructor(cluster: string, name: ObjectName, firstSeq: number) {
    this.cluster = cluster;
    this.name = name;
    this.firstSeq = firstSeq;
  }

  /** The incarnation that is there as far as is known. */
  get live(): IncarnationRecord | undefined {
    const last = this.incarnations[this.incarnations.length - 1];
    return last === undefined || last.end !== undefined ? this.incarnations.find((one) => one.end === undefined) : last;
  }
}

/** One life of an object. */
export class IncarnationRecord implements Incarnation {
  readonly cluster: string;
  readonly name: ObjectName;
  readonly uid: string;
  readonly began: Incarnation['began'];
  readonly firstAt: number;
  readonly firstSeq: number;
  apiVersion = '';
  kind = '';
  creationTimestamp: string | undefined;
  readonly versions: VersionRecord[] = [];
  /** The stream that delivered the end, where one did. */
  endStream: string | undefined;
  /** Accepted writes whose version has not been seen yet. */
  readonly awaited: WriteEvent[] = [];
  /** The version that each stream delivered last. Nearly always there is one stream. */
  private readonly lastOf: { stream: string; version: VersionRecord }[] = [];
  private byToken: Map<Token, VersionRecord> | undefined;
  declare terminatingAt?: number;
  declare end?: NonNullable<Incarnation['end']>;

  constructor(cluster: string, name: ObjectName, uid: string, began: Incarnation['began'], at: number, seq: number) {
    this.cluster = cluster;
    this.name = name;
    this.uid = uid;
    this.began = began;
    this.firstAt = at;
    this.firstSeq = seq;
  }

  /** The version of a token; tokens are only ever compared for equality. */
  find(token: Token): VersionRecord | undefined {
    const { versions } = this;
    if (versions.length <= SHORT) {
      for (let index = versions.length - 1; index >= 0; index -= 1)
        if (versions[index]?.token === token) return versions[index];
      return undefined;
    }
    this.byToken ??= new Map(versions.map((version) => [version.token, version]));
    return this.byToken.get(token);
  }

  /** Puts a version at a place and renumbers what follows. */
  insert(version: VersionRecord, place: number): void {
    const { versions } = this;
    if (place >= versions.length) {
      version.place = versions.length;
      version.previous = versions[versions.length - 1];
      versions.push(version);
    } else {
      versions.splice(place, 0, version);
      this.renumber(place);
    }
    this.byToken?.set(version.token, version);
  }

  /** Moves the versions from `start` to before `end` in front of what is at `place`, which is not among them. */
  move(start: number, end: number, place: number): void {
    const moved = this.versions.splice(start, end - start);
    this.versions.splice(place > start ? place - moved.length : place, 0, ...moved);
    this.renumber(Math.min(start, place));
  }

  private renumber(from: number): void {
    for (let index = from; index < this.versions.length; index += 1) {
      const version = this.versions[index];
      if (version === undefined) continue;
      version.place = index;
      version.previous = this.versions[index - 1];
    }
  }

  /** The version that a stream delivered last, if it did. */
  lastFrom(stream: string): VersionRecord | undefined {
    for (const entry of this.lastOf) if (entry.stream === stream) return entry.version;
    return undefined;
  }

  /** Remembers what a stream delivered last; only a few streams are remembered, the oldest forgotten first. */
  delivered(stream: string, version: VersionRecord): void {
    for (const entry of this.lastOf) {
      if (entry.stream !== stream) continue;
      entry.version = version;
      return;
    }
    if (this.lastOf.length >= REMEMBERED_STREAMS) this.lastOf.shift();
    this.lastOf.push({ stream, version });
  }
}

/** Up to this many versions are searched one by one. */
const SHORT = 8;
const REMEMBERED_STREAMS = 4;

interface Facts {
  readonly generation?: number | undefined;
  readonly observedGeneration?: number | undefined;
  readonly deletionTimestamp?: string | undefined;
}

const NO_FACTS: Facts = {};

/** One (UID, token). What follows from its neighbour is computed when asked for, and kept. */
export class VersionRecord implements Version {
  readonly token: Token;
  readonly at: number;
  readonly seq: number;
  readonly event: number;
  placed: boolean;
  /** Whether the version before it is known to be the one directly before it. */
  follows = false;
  place = 0;
  previous: VersionRecord | undefined;
  /** The fullest observation of it; a write whose answer named a version nobody has seen yet has none. */
  seen: ObservedEvent | undefined;
  /** The write that made it, if one was recorded. */
  madeBy: WriteEvent | undefined;
  /** Whether it is the first state of an object whose creation was seen. */
  first = false;
  /** What is known of it without an observation. */
  private facts: Facts;
  /** Whether contents are gone, so that what was worked out is all there will be. */
  private settled = false;
  /** What was worked out from this and the version before it, and from which observations. */
  private derived: Derived | undefined;

  constructor(
    token: Token,
    at: number,
    seq: number,
    placed: boolean,
    seen: ObservedEvent | undefined,
    generation?: number,
  ) {
    this.token = token;
    this.at = at;
    this.seq = seq;
    this.event = seq;
    this.placed = placed;
    this.seen = seen;
    this.facts = generation === undefined ? NO_FACTS : { generation };
  }

  get generation(): number | undefined {
    return this.seen === undefined ? this.facts.generation : this.seen.generation;
  }

  get observedGeneration(): number | undefined {
    return this.seen === undefined ? this.facts.observedGeneration : this.seen.observedGeneration;
  }

  get deletionTimestamp(): string | undefined {
    return this.seen === undefined ? this.facts.deletionTimestamp : this.seen.deletionTimestamp;
  }

  get body(): JsonObject | undefined {
    return this.seen?.body;
  }

  get changed(): ChangedParts | undefined {
    return this.placed ? this.derive().change : undefined;
  }

  get actorKnown(): 'write' | 'managed-fields' | undefined {
    if (this.madeBy !== undefined) return 'write';
    return this.manager === undefined ? undefined : 'managed-fields';
  }

  get actor(): Actor | undefined {
    if (this.madeBy !== undefined) return this.madeBy.actor;
    const { manager } = this;
    return manager === undefined ? undefined : { manager };
  }

  /** Works out everything that needs contents, so that they can be dropped. */
  settle(): void {
    const { previous, change, manager } = this.derive();
    change?.settle();
    this.settled = true;
    this.derived = { previous, before: undefined, seen: undefined, change, manager };
  }

  /** Lets go of the observation; what it said in numbers, and what followed from it, stays. */
  release(): void {
    const { generation, observedGeneration, deletionTimestamp } = this;
    this.settle();
    const nothing = generation === undefined && observedGeneration === undefined && deletionTimestamp === undefined;
    this.facts = nothing ? NO_FACTS : { generation, observedGeneration, deletionTimestamp };
    this.seen = undefined;
  }

  private get manager(): string | undefined {
    return this.follows || (this.first && this.previous === undefined) ? this.derive().manager : undefined;
  }

  private derive(): Derived {
    const { seen, previous } = this;
    const before = previous?.seen;
    const known = this.derived;
    const isCurrent = this.settled || (known?.before === before && known?.seen === seen);
    if (known !== undefined && known.previous === previous && isCurrent) return known;
    const change = before === undefined || seen === undefined ? undefined : changedParts(before, seen);
    const fields = this.previous === undefined ? [] : before?.managedFields;
    const manager = unambiguousManager(fields, seen?.managedFields);
    this.derived = { previous, before, seen, change, manager };
    return this.derived;
  }
}

interface Derived {
  readonly previous: VersionRecord | undefined;
  readonly before: ObservedEvent | undefined;
  readonly seen: ObservedEvent | undefined;
  readonly change: ChangedParts | undefined;
  readonly manager: string | undefined;
}
