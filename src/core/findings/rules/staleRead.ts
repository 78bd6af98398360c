import { message } from '../../../base/message.ts';
import type { ReadEvent, WriteEvent } from '../../traceEvent.ts';
import { isAtOrBeneath } from '../derive.ts';
import { isForeign, latestChange } from '../given.ts';
import { type Given, actorKey, actorName, firstRead, sameActor, writerKey } from '../knowledge.ts';
import { changedPaths, outermost } from '../leaves.ts';
import type { ObjectState } from '../objectState.ts';
import type { Rule, VersionChange } from '../rule.ts';
import { basisText, requestText, tokenText } from '../words.ts';
import { findingObject, type World } from '../world.ts';
import { removedPaths } from './lostUpdateKinds.ts';
import { keepLast } from '../../keepLast.ts';

interface Backward {
  readonly token: string;
  readonly newer: string;
  readonly own: boolean;
  readonly seq: number;
  readonly newerSeq: number;
}

const MAX_REMEMBERED = 5_000;
const RACE_MS = 1_000;

/**
 * `stale-read`: a write based on a version older than one its sender had already been given (or, kind `own-write`, had itself
 * written), where a read in between went back in time; and an accepted write that undid its sender's own newer change.
 * `invented-token`: a token that nobody was ever given for this object.
 */
export class StaleReadRule implements Rule {
  /** Per actor and UID: the last read that went back behind what the actor knew. */
  private readonly backward = new Map<string, Backward>();

  read(event: ReadEvent, world: World): void {
    const actor = world.knowledge.of(event.actor);
    for (const item of event.given) {
      const key = `${actorKey(event.actor)}\0${item.uid}`;
      const object = world.object(event.cluster, item.uid);
      const known = actor.objects.get(item.uid);
      const index = object?.indexOf(item.token) ?? -1;
      if (object === undefined || known === undefined || index < 0) continue;
      const newer = newestKnown(known.tokens, object, index);
      if (newer === undefined) {
        if (known.last?.token !== item.token) this.backward.delete(key);
        continue;
      }
      const late = event.at - newer.given.at > RACE_MS;
      if (event.verb === 'watch' || !(event.cacheAllowed || late)) continue;
      keepLast(
        this.backward,
        key,
        {
          token: item.token,
          newer: newer.token,
          own: newer.given.how === 'write',
          seq: event.seq,
          newerSeq: newer.given.seq,
        },
        MAX_REMEMBERED,
      );
    }
  }

  write(event: WriteEvent, world: World): void {
    const object = world.target(event);
    const token = event.preconditions?.token ?? event.basedOn?.token;
    if (object === undefined || object.election || event.verb === 'create' || actorKey(event.actor) === '') return;
    const sent = event.preconditions?.token;
    if (sent !== undefined && sent !== '' && sent !== '0') this.checkInvented(event, object, sent, world);
    const back = this.backward.get(`${actorKey(event.actor)}\0${object.uid}`);
    if (back === undefined || (token !== undefined && token !== back.token)) return;
    const last = world.knowledge.of(event.actor).objects.get(object.uid)?.last;
    if (token === undefined && last?.token !== back.token) return;
    if (event.verb === 'apply' || event.verb === 'delete' || event.verb === 'deletecollection') return;
    report(
      event,
      object,
      back.own ? 'own-write' : undefined,
      [back.newerSeq, back.seq, event.seq],
      { read: back.token, newer: back.newer },
      [],
      world,
    );
  }

  /** An accepted write that put its sender's own newer change back, by one that had not read that change yet. */
  judged(change: VersionChange, world: World): void {
    const { write, changed, version, object } = change;
    if (write === undefined || changed === undefined || object.election) return;
    if (write.verb !== 'replace' && write.verb !== 'patch') return;
    const token = write.preconditions?.token;
    if (token !== undefined && token !== '' && token !== '0') return;
    const start = write.startedAt ?? write.at;
    const known = world.knowledge.of(write.actor).objects.get(object.uid);
    const reads = [...(known?.tokens ?? [])].flatMap(([other, given]) => {
      const read = firstRead(given);
      return read !== undefined && read.at <= start && read.seq < write.seq ? [{ token: other, read }] : [];
    });
    const meant = removedPaths(write);
    const undone = changed.filter((path) => {
      if (meant.some((removed) => isAtOrBeneath(path, removed))) return false;
      const at = latestChange(object, path, change.index - 1);
      const by = at === undefined ? undefined : object.versions[at];
      if (
        at === undefined ||
        by?.author === undefined ||
        !sameActor(by.author.actor, write.actor) ||
        isForeign(by, write.actor)
      )
        return false;
      const readSince = reads.some((item) => object.indexOf(item.token) >= at);
      return !readSince && object.versions[at - 1]?.leaves?.get(path) === version.leaves?.get(path);
    });
    const base = reads.toSorted((a, b) => a.read.seq - b.read.seq).at(-1);
    // To take back just what it did itself, its sender need not have read it again.
    if (undone.length === 0 || undone.length === changed.length || base === undefined) return;
    if (write.verb === 'replace' && !isAllUndone(undone, base.token, change)) return;
    if (!(base.read.seq > (object.version(base.token)?.seq ?? 0) || base.read.cacheAllowed)) return;
    const own = latestChange(object, undone[0] ?? '', change.index - 1);
    report(
      write,
      object,
      'own-write',
      [object.versions[own ?? 0]?.author?.seq ?? 0, base.read.seq, write.seq],
      { read: base.token },
      outermost(undone),
      world,
    );
  }

  private checkInvented(event: WriteEvent, object: ObjectState, token: string, world: World): void {
    const actor = world.knowledge.of(event.actor);
    const known = actor.objects.get(object.uid);
    const resource = `${event.name.group}/${event.name.resource}`;
    if (known === undefined || known.tokens.has(token) || object.version(token) !== undefined || object.truncated)
      return;
    if (actor.blindReads.has(resource) || event.via === 'write' || known.tokens.size >= 48) return;
    if (![...known.tokens.values()].some((given) => firstRead(given) !== undefined)) return;
    const who = actorName(event.actor);
    world.report({
      key: ['invented-token', writerKey(event)].join('\0'),
      id: 'invented-token',
      cluster: event.cluster,
      object: findingObject(object),
      actors: [who],
      fields: ['.metadata.resourceVersion'],
      at: event.at,
      events: [known.last?.given.seq ?? event.seq, event.seq],
      explanation: message`${who} sent the token ${tokenText(token)}, which it was never given for this object; the last one that it was given is ${known.last === undefined ? message`none` : tokenText(known.last.token)}.`,
      remedy: message`Send the resourceVersion exactly as the object that was read carries it: it is no number to count on, and the one of a list or of another object is not its.`,
      details: { token },
    });
  }
}

/** Whether a whole object came back without any of its sender's changes since a version: else it knows of them. */
function isAllUndone(undone: readonly string[], since: string, { object, previous, write }: VersionChange): boolean {
  const base = object.version(since)?.leaves;
  if (base === undefined || previous?.leaves === undefined || write === undefined) return true;
  const own = changedPaths(base, previous.leaves).filter((path) => {
    const at = latestChange(object, path, object.versions.indexOf(previous));
    const by = at === undefined ? undefined : object.versions[at]?.author;
    return by !== undefined && sameActor(by.actor, write.actor);
  });
  return own.every((path) => undone.includes(path));
}

function newestKnown(
  tokens: ReadonlyMap<string, Given>,
  object: ObjectState,
  than: number,
): { token: string; given: Given } | undefined {
  for (let index = object.versions.length - 1; index > than; index -= 1) {
    const token = object.versions[index]?.token ?? '';
    const given = tokens.get(token);
    if (given !== undefined) return { token, given };
  }
  return undefined;
}

function report(
  event: WriteEvent,
  object: ObjectState,
  kind: 'own-write' | undefined,
  events: number[],
  details: Record<string, string>,
  fields: readonly string[],
  world: World,
): void {
  const who = actorName(event.actor);
  world.report({
    key: ['stale-read', kind ?? '', writerKey(event)].join('\0'),
    id: 'stale-read',
    ...(kind === undefined ? {} : { kind }),
    cluster: object.cluster,
    object: findingObject(object),
    actors: [who],
    fields,
    at: event.at,
    events: events.filter((seq) => seq > 0),
    explanation: message`${
      kind === 'own-write'
        ? message`${who} wrote this object and then based its next ${requestText(event)} on a version from before that${details['read'] === undefined ? '' : ` (${details['read']})`}${fields.length === 0 ? '' : message`, so that it undid its own change of ${fields.join(', ')}`}.`
        : message`${who} had been given the version ${details['newer'] ?? ''}, then read the older one ${details['read'] ?? ''} and based its write on that.`
    }${basisText(event)}`,
    remedy: message`Wait until the cache shows your own last write before you act again, or read from the server without resourceVersion=0; carry the token so that a stale write is refused.`,
    details,
  });
}
