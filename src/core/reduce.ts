import type { History } from './history.ts';
import { nameKey, uidKey } from './history.ts';
import { HistoryRecord, IncarnationRecord, NameRecord, VersionRecord } from './historyRecords.ts';
import type { PackedObservation, Packer } from './packedObservation.ts';
import { link, placeDelivered, placeFirst, placeSeen } from './placeVersion.ts';
import type { AbsentEvent, GapEvent, ObjectName, ObservedEvent, TraceEvent, WriteEvent } from './traceEvent.ts';

/** A history of nothing, to be given to `reduce`. */
export function emptyHistory(): HistoryRecord {
  return new HistoryRecord(wake);
}

/** The history of events, in the order of their arrival. */
export function historyOf(events: Iterable<TraceEvent>): History {
  const history = emptyHistory();
  for (const event of events) reduce(history, event);
  return history;
}

/**
 * Folds one event into a history, in place. The same function makes the live history and the replayed one. Incarnations
 * are told apart by UID, versions by token equality, and ordered by the streams that delivered them; what was not seen is
 * not claimed. `history` must come from `emptyHistory` or `historyOf`.
 */
export function reduce(history: History, event: TraceEvent): void {
  if (!(history instanceof HistoryRecord)) throw new TypeError('reduce needs a history made by emptyHistory');
  if (event.seq > history.lastSeq) history.lastSeq = event.seq;
  if (event.at > history.lastAt) history.lastAt = event.at;
  switch (event.type) {
    case 'observed':
      if (event.notStored !== true) reduceObserved(history, event);
      return;
    case 'absent':
      reduceAbsent(history, event);
      return;
    case 'gap':
      reduceGap(history, event);
      return;
    case 'write':
      reduceWrite(history, event);
      return;
    case 'read':
    case 'note':
      return;
  }
}

/**
 * Lets an observation sleep if it adds nothing to a history but an object that nobody knew and that was there before: it is
 * folded in when somebody asks for the object. Undefined where it has to be folded in now.
 */
export function letSleep(history: HistoryRecord, event: ObservedEvent, packer: Packer): PackedObservation | undefined {
  if (event.via !== 'list' || event.seq <= history.lastSeq) return undefined;
  const name = nameKey(event.cluster, event.name);
  const uid = uidKey(event.cluster, event.uid);
  if (history.names.has(name) || history.uids.has(uid) || wasInGap(history, event)) return undefined;
  const object = packer.pack(event);
  if (object === undefined) return undefined;
  history.sleepers.add(object, name, uid);
  history.lastSeq = event.seq;
  if (event.at > history.lastAt) history.lastAt = event.at;
  return object;
}

/** What was decided when it fell asleep holds still: it was there before the first look, whatever gaps came later. */
function wake(history: HistoryRecord, event: ObservedEvent): void {
  const name = nameOf(history, event.cluster, event.name, event.seq);
  see(begin(history, name, event, event.uid, 'earlier'), event);
}

function nameOf(history: HistoryRecord, cluster: string, name: ObjectName, seq: number): NameRecord {
  const key = nameKey(cluster, name);
  let record = history.names.get(key);
  if (record === undefined) {
    record = new NameRecord(cluster, name, seq);
    history.names.set(key, record);
  }
  return record;
}

function reduceObserved(history: HistoryRecord, event: ObservedEvent): void {
  let incarnation = history.uids.get(uidKey(event.cluster, event.uid));
  if (incarnation === undefined) {
    const at = nameOf(history, event.cluster, event.name, event.seq);
    if (isEarlierLife(at, event)) {
      if (event.via === 'list' || event.via === 'get') remarkBehind(history, event);
      return;
    }
    incarnation = begin(history, at, event, event.uid, beginningOf(history, at, event));
  } else if (incarnation.end !== undefined && !isOfEnded(history, incarnation, event)) return;
  history.touched = incarnation;
  const known = incarnation.find(event.token);
  if (known === undefined) {
    see(incarnation, event);
    return;
  }
  describe(incarnation, event);
  known.seen = fuller(known.seen, event);
  if (event.stream !== undefined) {
    const superseded = placeDelivered(incarnation, known, event.stream, isLive(event));
    if (superseded && !isLive(event) && event.via === 'list') remarkBehind(history, event);
  } else if (event.via === 'get' && known.placed && isSuperseded(incarnation, known)) remarkBehind(history, event);
}

/** Whether an event of a stream is a change as it happened; a list only says what is there. */
function isLive(event: ObservedEvent): boolean {
  return event.via === 'watch' || event.via === 'sandbox' || event.change !== undefined;
}

/** A version that was not known before. */
function see(incarnation: IncarnationRecord, event: ObservedEvent): void {
  describe(incarnation, event);
  const version = new VersionRecord(event.token, event.at, event.seq, false, event);
  placeSeen(incarnation, version, event.stream, isLive(event));
  if (version.place === 0 && incarnation.versions.length === 1) version.first = incarnation.began === 'seen';
  takeAwaited(incarnation, version);
}

function isSuperseded(incarnation: IncarnationRecord, version: VersionRecord): boolean {
  for (let index = version.place + 1; index < incarnation.versions.length; index += 1) {
    if (incarnation.versions[index]?.placed === true) return true;
  }
  return false;
}

/** One version looks the same from everywhere (list, watch, get); the observation that holds most is kept. */
function fuller(known: ObservedEvent | undefined, event: ObservedEvent): ObservedEvent {
  if (known === undefined) return event;
  const weight = (seen: ObservedEvent): number =>
    (seen.body !== undefined ? 2 : 0) + (seen.leaves !== undefined ? 1 : 0);
  return weight(event) > weight(known) ? event : known;
}

function describe(incarnation: IncarnationRecord, event: ObservedEvent): void {
  if (event.apiVersion !== undefined && incarnation.apiVersion === '') incarnation.apiVersion = event.apiVersion;
  if (event.kind !== undefined && incarnation.kind === '') incarnation.kind = event.kind;
  incarnation.creationTimestamp ??= event.creationTimestamp;
  if (event.deletionTimestamp !== undefined) incarnation.terminatingAt ??= event.at;
}

/**
 * Whether an observation of an object that was taken for gone is to be folded in. Its own stream may show it again (a
 * selector lost it and found it), or a version that nobody had seen disproves an end that was only inferred: then it lives.
 * What a watch or an answer brings late was made before the end. Anything else is a server that is behind.
 */
function isOfEnded(history: HistoryRecord, incarnation: IncarnationRecord, event: ObservedEvent): boolean {
  const isNew = incarnation.find(event.token) === undefined;
  const inferred = incarnation.end?.how === 'in-gap';
  const live = event.stream !== undefined && isLive(event);
  const sameStream = live && event.stream === incarnation.endStream;
  const isLook = event.stream !== undefined || event.via === 'get';
  const { live: successor } = nameOf(history, event.cluster, event.name, event.seq);
  if (isNew && isLook && (inferred || sameStream) && successor === undefined) {
    delete incarnation.end;
    incarnation.endStream = undefined;
    return true;
  }
  if (live || !(event.via === 'list' || event.via === 'get')) return true;
  remarkBehind(history, event);
  return false;
}

function remarkBehind(history: HistoryRecord, event: ObservedEvent): void {
  const { seq, at, cluster, name, uid, token } = event;
  history.remarks.push({ kind: 'server-behind', seq, at, cluster, name, uid, token });
}

/**
 * Whether an unknown incarnation was created before the one that was seen last at its name: an answer from the past. A
 * stream that told of that one, or of its end, is not judged by times: the clocks of several API servers differ.
 */
function isEarlierLife(at: NameRecord, event: ObservedEvent): boolean {
  const newest = at.incarnations[at.incarnations.length - 1];
  const created = event.creationTimestamp;
  if (newest?.creationTimestamp === undefined || created === undefined) return false;
  const { stream } = event;
  if (stream !== undefined && (newest.endStream === stream || (isLive(event) && newest.lastFrom(stream) !== undefined)))
    return false;
  return SERVER_TIME.test(newest.creationTimestamp) && SERVER_TIME.test(created) && created < newest.creationTimestamp;
}

/** Times of metadata are UTC in whole seconds, so that their texts sort as they do. */
const SERVER_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

function beginningOf(history: HistoryRecord, at: NameRecord, event: ObservedEvent): IncarnationRecord['began'] {
  const predecessor = at.live;
  if ((event.via === 'watch' || event.via === 'sandbox') && event.change === 'ADDED') return 'seen';
  if (predecessor !== undefined || at.wasAbsent || at.incarnations.length > 0) return 'in-gap';
  if (event.via === 'list' && wasInGap(history, event)) return 'in-gap';
  return event.change === 'MODIFIED' && event.via === 'watch' ? 'in-gap' : 'earlier';
}

/** The key of what a gap is about; an absent namespace or name stands for all. */
function scopeKey(cluster: string, scope: GapEvent['scope']): string {
  return [cluster, scope.group, scope.resource, scope.namespace ?? '', scope.name ?? ''].join('\0');
}

/** Whether an object of this name could not be seen for a while at some time before. */
function wasInGap(history: HistoryRecord, event: ObservedEvent): boolean {
  if (history.gapScopes.size === 0) return false;
  const { group, resource, namespace, name } = event.name;
  const wholes = [{}, { namespace }, { namespace, name }, { name }];
  return wholes.some((part) => history.gapScopes.has(scopeKey(event.cluster, { group, resource, ...part })));
}

/** Starts an incarnation; whatever held the name before is gone, though nobody saw it go. */
function begin(
  history: HistoryRecord,
  at: NameRecord,
  event: ObservedEvent | AbsentEvent | WriteEvent,
  uid: string,
  began: IncarnationRecord['began'],
): IncarnationRecord {
  const predecessor = at.live;
  if (predecessor !== undefined) predecessor.end = { at: event.at, seq: event.seq, how: 'in-gap' };
  const incarnation = new IncarnationRecord(event.cluster, at.name, uid, began, event.at, event.seq);
  at.incarnations.push(incarnation);
  history.uids.set(uidKey(event.cluster, uid), incarnation);
  return incarnation;
}

function reduceAbsent(history: HistoryRecord, event: AbsentEvent): void {
  const at = nameOf(history, event.cluster, event.name, event.seq);
  at.wasAbsent = true;
  let incarnation = event.uid === undefined ? at.live : history.uids.get(uidKey(event.cluster, event.uid));
  if (incarnation === undefined) {
    if (event.uid === undefined || event.how !== 'event' || at.live !== undefined) return;
    incarnation = new IncarnationRecord(event.cluster, at.name, event.uid, 'earlier', event.at, event.seq);
    at.incarnations.push(incarnation);
    history.uids.set(uidKey(event.cluster, event.uid), incarnation);
  }
  const before = incarnation.end;
  if (before?.how === 'event' || (before !== undefined && event.how !== 'event')) return;
  incarnation.end = {
    at: before?.at ?? event.at,
    seq: before?.seq ?? event.seq,
    how: event.how === 'list' ? 'in-gap' : event.how,
    ...(event.token === undefined ? {} : { token: event.token }),
  };
  incarnation.endStream = event.stream;
}

function reduceGap(history: HistoryRecord, event: GapEvent): void {
  const key = uidKey(event.cluster, event.gap);
  const place = history.gapPlaces.get(key);
  const open = place === undefined ? undefined : history.gaps[place];
  if (place === undefined || open === undefined) {
    history.gapPlaces.set(key, history.gaps.length);
    history.gapScopes.add(scopeKey(event.cluster, event.scope));
    history.gaps.push(event);
  } else {
    history.gaps[place] = {
      ...open,
      ...(event.to === undefined ? {} : { to: event.to }),
      ...(event.detail === undefined ? {} : { detail: event.detail }),
      ...(event.resumed === undefined ? {} : { resumed: event.resumed }),
    };
  }
}

function reduceWrite(history: HistoryRecord, event: WriteEvent): void {
  const at = nameOf(history, event.cluster, event.name, event.seq);
  at.writes.push(event);
  const { result, verb } = event;
  const deletes = verb === 'delete' || verb === 'deletecollection';
  if (event.outcome !== 'accepted' || event.dryRun === true || result === undefined || result.token === '') return;
  if (result.released === true) return;
  if (result.token === event.preconditions?.token || result.token === event.basedOn?.token) return;
  let incarnation = history.uids.get(uidKey(event.cluster, result.uid));
  if (incarnation === undefined) {
    if (deletes || !isNewLife(at, event)) return;
    incarnation = begin(
      history,
      at,
      event,
      result.uid,
      verb === 'create' ? 'seen' : at.incarnations.length > 0 ? 'in-gap' : 'earlier',
    );
  }
  const version = incarnation.find(result.token);
  if (version !== undefined) attribute(version, event);
  else if (deletes || incarnation.end !== undefined) incarnation.awaited.push(event);
  else {
    const made = new VersionRecord(result.token, event.at, event.seq, false, undefined, result.generation);
    made.madeBy = event;
    placeSeen(incarnation, made, undefined, false);
  }
  const made = incarnation.find(result.token);
  if (made?.madeBy !== event) return;
  if (verb === 'create') {
    made.first = true;
    placeFirst(incarnation, made);
    return;
  }
  const base = event.preconditions?.token;
  const before = base === undefined || base === '' ? undefined : incarnation.find(base);
  if (before !== undefined) link(incarnation, before, made);
}

/** Whether a write can have made an incarnation that nobody has seen: not if it was sent before another one was seen alive. */
function isNewLife(at: NameRecord, event: WriteEvent): boolean {
  const { live } = at;
  return live === undefined || (event.startedAt ?? event.at) > live.firstAt;
}

/** Unless it was there before the write was sent, or somebody else is known to have made it. */
function attribute(version: VersionRecord, write: WriteEvent): void {
  if (version.madeBy !== undefined) return;
  if (write.startedAt !== undefined && version.at < write.startedAt) return;
  version.madeBy = write;
}

function takeAwaited(incarnation: IncarnationRecord, version: VersionRecord): void {
  const index = incarnation.awaited.findIndex((write) => write.result?.token === version.token);
  if (index < 0) return;
  version.madeBy = incarnation.awaited[index];
  incarnation.awaited.splice(index, 1);
}
