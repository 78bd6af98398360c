import { nameKey } from '../history.ts';
import type { AbsentEvent, ObjectName, ObservedEvent, ReadEvent, TraceEvent, WriteEvent } from '../traceEvent.ts';
import { Contents } from './contents.ts';
import type { FindingObject } from './finding.ts';
import type { FindingStore, Report, Told } from './findingStore.ts';
import { Judging } from './judging.ts';
import { isBlind, Knowledge } from './knowledge.ts';
import { leavesOfHashes } from './leaves.ts';
import { ObjectState, type VersionRecord } from './objectState.ts';
import { Oldest } from './oldest.ts';
import type { Thresholds } from './options.ts';
import type { Rule, Timed } from './rule.ts';
import { sentOwners } from './stamp.ts';
import { keepLast } from '../keepLast.ts';

const MAX_NAMES = 100_000;

/** What is known of one name: the incarnation that holds it, and those that did. */
export interface NameState {
  current: string;
  readonly past: string[];
}

/** All that the rules share: objects with their versions in order, names, and what each actor was given. */
export class World {
  readonly thresholds: Thresholds;
  readonly knowledge = new Knowledge();
  /** The newest time in the log: it only goes on, whatever the times of single events, so that what waits from it on waits in line. */
  now = Number.NEGATIVE_INFINITY;
  /** Whether any read of any actor is in this log: without, nobody's knowledge can be told. */
  hasReads = false;
  /** Numbers of recent writes that were told as lost updates, so that lesser rules keep silent about them. */
  readonly losses = new Set<number>();
  /** Refused writes whose token most likely was retired by a write of the same sender whose answer was lost: by number, that write's. */
  readonly ownLost = new Map<number, number>();
  /** Whether any UID is no UUID, as in tests. */
  hasOddUids = false;
  private readonly objects = new Map<string, ObjectState>();
  private readonly oldestObject = new Oldest(this.objects);
  /** The object that was looked for last: an event and all rules ask for the same one in turn. */
  private last: ObjectState | undefined;
  /** The one that was put last among them. */
  private newest: ObjectState | undefined;
  private readonly names = new Map<string, NameState>();
  private readonly oldestName = new Oldest(this.names);
  private readonly recreatedByName = new Map<string, Set<string>>();
  private readonly contents: Contents;
  private readonly judging = new Judging((change) => {
    for (const rule of this.rulesFor(change.object.isAsked)) rule.judged?.(change, this);
  });
  private readonly store: FindingStore;
  private readonly rules: readonly Rule[];
  private readonly between: readonly Rule[];
  private readonly timed: readonly Timed[];

  constructor(thresholds: Thresholds, store: FindingStore, rules: readonly Rule[]) {
    this.thresholds = thresholds;
    this.contents = new Contents(thresholds.maxValues);
    this.store = store;
    this.rules = rules;
    this.between = rules.filter((rule) => rule.between);
    this.timed = [this.judging, ...rules.flatMap((rule) => rule.timed ?? [])];
  }

  report(report: Report): void {
    if (this.thresholds.isAsked(report.object)) this.store.report(report);
  }

  /** Takes a finding back, or a part of it. */
  retract(told: Told, part?: string): void {
    this.store.retract(told, part);
  }

  object(cluster: string, uid: string): ObjectState | undefined {
    const { last } = this;
    if (last?.uid === uid && last.cluster === cluster) return last;
    const found = this.objects.get(`${cluster}\0${uid}`);
    if (found !== undefined) this.last = found;
    return found;
  }

  nameState(cluster: string, name: ObjectName): NameState | undefined {
    return this.names.get(nameKey(cluster, name));
  }

  /** The incarnation that holds a name now, as far as is known. */
  current(cluster: string, name: ObjectName): ObjectState | undefined {
    const state = this.nameState(cluster, name);
    return state === undefined ? undefined : this.object(cluster, state.current);
  }

  /** Incarnations that took a name over in this namespace (or cluster-wide) and hold it now, by that name. */
  recreatedNamed(cluster: string, namespace: string, name: string): ObjectState[] {
    return [...(this.recreatedByName.get(`${cluster}\0${name}`) ?? [])].flatMap((uid) => {
      const object = this.object(cluster, uid);
      const near = object !== undefined && (object.name.namespace === namespace || object.name.namespace === '');
      return near && this.current(cluster, object.name) === object ? [object] : [];
    });
  }

  /** What a write was aimed at: the incarnation it names or was answered with, else the one that holds the name. */
  target(event: WriteEvent): ObjectState | undefined {
    const uid = event.result?.uid;
    const answered = uid === undefined || uid === '' ? undefined : this.object(event.cluster, uid);
    return answered ?? this.current(event.cluster, event.name);
  }

  /** A UID whose object is known to be gone although its name is held by another one. */
  replacedBy(cluster: string, uid: string): ObjectState | undefined {
    const object = this.object(cluster, uid);
    const now = object === undefined ? undefined : this.current(cluster, object.name);
    return now === undefined || now.uid === uid || now.gone !== undefined ? undefined : now;
  }

  add(event: TraceEvent): void {
    this.advance(event.at);
    if (event.at > this.now) this.now = event.at;
    switch (event.type) {
      case 'observed':
        this.observe(event);
        break;
      case 'absent':
        this.takeAbsent(event);
        break;
      case 'read':
        this.takeRead(event);
        break;
      case 'write':
        this.takeWrite(event);
        break;
      case 'gap':
        for (const rule of this.rules) rule.gap?.(event, this);
        break;
      case 'note':
        for (const rule of this.rules) rule.note?.(event, this);
        break;
    }
  }

  /**
   * Tells what time alone tells up to `now`. Each is told as of the moment when it was due, so that it makes no difference
   * how often this is asked, as long as no event before `now` is still to come.
   */
  advance(now: number): void {
    for (let first = this.firstDue(); first !== undefined && first.at <= now; first = this.firstDue())
      first.who.time(first.at, this);
  }

  /** When time alone tells something next; undefined where nothing waits for it. */
  due(): number | undefined {
    return this.firstDue()?.at;
  }

  private firstDue(): { readonly who: Timed; readonly at: number } | undefined {
    let first: { who: Timed; at: number } | undefined;
    for (const who of this.timed) {
      const at = who.due();
      if (at !== undefined && (first === undefined || at < first.at)) first = { who, at };
    }
    return first;
  }

  end(): void {
    this.judging.end();
    for (const rule of this.rules) rule.end?.(this);
  }

  private rulesFor(isAsked: boolean): readonly Rule[] {
    return isAsked ? this.rules : this.between;
  }

  private observe(event: ObservedEvent): void {
    if (isNoise(event.name)) return;
    const object = this.objectFor(event.cluster, event.name, event.uid, event);
    object.describe(event);
    if (event.notStored === true || event.token === '') return;
    const rules = this.rulesFor(object.isAsked);
    if (this.isBehind(object, event)) {
      for (const rule of rules) rule.behind?.(event, object, this);
      return;
    }
    const known = object.version(event.token);
    const isSuited = this.contents.suits(object, event);
    const version =
      event.stream === undefined
        ? (known ?? object.append(event.token, event.at, event.seq))
        : object.deliver(event.stream, event.token, event.at, event.seq);
    for (const rule of rules) rule.observed?.(event, object, version, this);
    this.fill(object, version, event, isSuited);
    this.judging.take(object, version, this.now);
    object.trim(this.thresholds.maxVersions);
  }

  /** Our own list, or a read that no race explains, shows what was superseded, or gone, before. */
  private isBehind(object: ObjectState, event: ObservedEvent): boolean {
    if (event.via === 'watch' || event.via === 'write') return false;
    const margin = event.via === 'list' && event.stream !== undefined ? 0 : 1_000;
    if (object.gone !== undefined && event.at - object.gone.at > margin) return true;
    if (margin === 0 && object.gone !== undefined) return true;
    const index = object.indexOf(event.token);
    const next = object.versions[index + 1];
    return index >= 0 && next !== undefined && next.placed && event.at - next.at > margin;
  }

  private takeAbsent(event: AbsentEvent): void {
    for (const rule of this.rules) rule.absent?.(event, this);
    const object =
      event.uid === undefined ? this.current(event.cluster, event.name) : this.object(event.cluster, event.uid);
    if (object !== undefined && object.gone === undefined) object.gone = { at: event.at, seq: event.seq };
  }

  private takeRead(event: ReadEvent): void {
    this.hasReads = true;
    for (const rule of this.rules) rule.read?.(event, this);
    const actor = this.knowledge.of(event.actor);
    actor.hasReads = true;
    const resource = `${event.scope.group}/${event.scope.resource}`;
    if (event.given.length === 0 && isBlind(event)) actor.blindReads.set(resource, event.at);
    for (const item of event.given) {
      const name = {
        group: event.scope.group,
        resource: event.scope.resource,
        namespace: item.namespace,
        name: item.name,
      };
      const given = { at: event.at, seq: event.seq, how: event.verb, cacheAllowed: event.cacheAllowed };
      actor.give(
        item.uid,
        nameKey(event.cluster, name),
        item.token,
        given,
        item.deleted === true || item.terminating === true,
      );
    }
  }

  private takeWrite(event: WriteEvent): void {
    for (const rule of this.rulesFor(this.thresholds.isAsked(event.name))) rule.write?.(event, this);
    const { result } = event;
    const stored = (event.outcome === 'accepted' || event.outcome === 'unchanged') && event.dryRun !== true;
    if (!stored || result === undefined || result.uid === '' || event.verb === 'deletecollection') return;
    if (isNoise(event.name)) return;
    const object = this.objectFor(event.cluster, event.name, result.uid, event);
    if (event.verb === 'delete') {
      // What waits for finalizers or a grace period is answered as the object itself; a bare success says that it is gone.
      if (result.token === '') object.gone ??= { at: event.at, seq: event.seq };
      return;
    }
    if (result.token === '') return;
    if (result.released === true) {
      this.takeRelease(object, event);
      return;
    }
    const given = { at: event.at, seq: event.seq, how: 'write' as const, cacheAllowed: false };
    this.knowledge.of(event.actor).give(result.uid, nameKey(event.cluster, event.name), result.token, given, false);
    const from = event.preconditions?.token;
    const known = object.version(result.token);
    if (event.outcome === 'unchanged' || from === result.token || known?.author !== undefined) return;
    if (known?.judged === true) return;
    const version =
      from === undefined || from === ''
        ? (known ?? object.append(result.token, event.at, event.seq))
        : object.chain(from, result.token, event.at, event.seq);
    version.generation ??= result.generation;
    this.made(object, version, event);
  }

  /** What the last finalizer's removal left was never stored: it stands after all versions, without a token. */
  private takeRelease(object: ObjectState, event: WriteEvent): void {
    object.gone ??= { at: event.at, seq: event.seq };
    const version = object.append('', event.at, event.seq);
    version.terminating = true;
    this.made(object, version, event);
  }

  private made(object: ObjectState, version: VersionRecord, event: WriteEvent): void {
    version.author = {
      actor: this.knowledge.of(event.actor).same(event.actor),
      seq: event.seq,
      at: event.at,
      verb: event.verb,
      subresource: event.subresource,
    };
    if (object.isAsked) version.sentOwners = sentOwners(event);
    version.write = object.isAsked ? { ...this.sharing(object, event), actor: version.author.actor } : event;
    this.judging.take(object, version, this.now);
    object.trim(this.thresholds.maxVersions);
  }

  /** Of what is not asked for too little is known to share with. */
  private sharing(object: ObjectState, write: WriteEvent): WriteEvent {
    return object.isAsked ? this.contents.sharing(object, write) : write;
  }

  /** The state of an incarnation; makes it, and notes a recreation, where it is new. */
  private objectFor(cluster: string, name: ObjectName, uid: string, event: TraceEvent): ObjectState {
    const known = this.object(cluster, uid);
    const key = `${cluster}\0${uid}`;
    if (known !== undefined) {
      if (known !== this.newest) keepLast(this.objects, key, known, this.thresholds.maxObjects);
      this.newest = known;
      return known;
    }
    const object = new ObjectState(cluster, name, uid, event.at, event.seq, this.thresholds.isAsked(name));
    this.hasOddUids ||= uid.length !== 36;
    if (event.type === 'observed') object.creationTimestamp = event.creationTimestamp;
    this.objects.set(key, object);
    this.newest = object;
    this.holdName(object, event);
    if (this.objects.size > this.thresholds.maxObjects) this.forgetOldest();
    return object;
  }

  private holdName(object: ObjectState, event: TraceEvent): void {
    const key = nameKey(object.cluster, object.name);
    const state = this.names.get(key);
    if (state === undefined) {
      this.names.set(key, { current: object.uid, past: [] });
      const oldest = this.names.size > MAX_NAMES ? this.oldestName.next() : undefined;
      if (oldest !== undefined) this.names.delete(oldest);
      return;
    }
    // It was forgotten among very many, and is seen again.
    if (state.current === object.uid) return;
    if (state.past.includes(object.uid)) {
      object.gone = { at: event.at, seq: event.seq };
      return;
    }
    const before = this.object(object.cluster, state.current);
    if (
      before?.creationTimestamp !== undefined &&
      object.creationTimestamp !== undefined &&
      object.creationTimestamp < before.creationTimestamp
    ) {
      state.past.unshift(object.uid);
      object.gone = { at: event.at, seq: event.seq };
      return;
    }
    state.past.push(state.current);
    if (state.past.length > 16) state.past.shift();
    state.current = object.uid;
    if (before === undefined) return;
    before.gone ??= { at: event.at, seq: event.seq };
    this.noteRecreated(object);
    for (const rule of this.rules) rule.recreated?.(before, object, event, this);
  }

  private noteRecreated(object: ObjectState): void {
    const key = `${object.cluster}\0${object.name.name}`;
    const uids = this.recreatedByName.get(key) ?? new Set<string>();
    uids.add(object.uid);
    keepLast(this.recreatedByName, key, uids, 10_000);
  }

  private fill(object: ObjectState, version: VersionRecord, event: ObservedEvent, isSuited: boolean): void {
    if (isSuited && (version.leaves === undefined || version.derived)) {
      if (event.body !== undefined) {
        const { leaves, body, managedFields } = this.contents.take(object, event.body);
        Object.assign(version, { leaves, body });
        version.managedFields ??= managedFields;
        if (version.write !== undefined) version.write = this.sharing(object, version.write);
      } else if (event.leaves !== undefined) version.leaves = leavesOfHashes(event.leaves);
      version.derived = version.derived && event.body === undefined && event.leaves === undefined;
    }
    version.managedFields ??= event.managedFields;
    version.generation = event.generation ?? version.generation;
    version.observedGeneration = event.observedGeneration ?? version.observedGeneration;
    version.apiVersion ??= event.apiVersion;
    version.terminating ||= event.deletionTimestamp !== undefined;
  }

  private forgetOldest(): void {
    const key = this.oldestObject.next();
    const object = key === undefined ? undefined : this.objects.get(key);
    if (key === undefined || object === undefined) return;
    this.judging.finish(object);
    this.objects.delete(key);
    this.last = undefined;
    this.newest = undefined;
    this.contents.forget(object);
  }
}

/** Events are about other objects and nobody contends for them. */
function isNoise(name: ObjectName): boolean {
  return name.resource === 'events' && (name.group === '' || name.group === 'events.k8s.io');
}

/** The finding's object of a state. */
export function findingObject(object: ObjectState): FindingObject {
  return { ...object.name, uid: object.uid };
}

/** The finding's object of a write, whose UID may not be known. */
export function writtenObject(event: WriteEvent, world: World): FindingObject {
  return { ...event.name, uid: event.result?.uid ?? world.target(event)?.uid ?? event.preconditions?.uid ?? '' };
}
