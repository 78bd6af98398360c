import { message } from '../../../base/message.ts';
import { isJsonObject, type JsonObject } from '../../../codec/json.ts';
import { formatPath, parsePath, valueAt } from '../../../codec/path.ts';
import { mayMentionUid, uidMentions } from '../../references.ts';
import type { AbsentEvent, ObservedEvent, TraceEvent } from '../../traceEvent.ts';
import { actorName } from '../knowledge.ts';
import type { ObjectState, VersionRecord } from '../objectState.ts';
import type { Rule, Timed, VersionChange } from '../rule.ts';
import { findingObject, type World } from '../world.ts';
import { keepLast } from '../../keepLast.ts';

interface Holder {
  readonly cluster: string;
  readonly uid: string;
  readonly path: string;
  readonly at: number;
  readonly seq: number;
}

const MAX_TARGETS = 50_000;
const MAX_HOLDERS = 200;
const MAX_UNSIGNED = 1_000;
const SETTLE_MS = 30_000;
const REMEDY = message`Point at the object by its present UID, or remove the reference (for a claimRef: its uid and resourceVersion only) once you know that the new object is the one that is meant; clean up what belonged to the old one.`;

/**
 * `stale-reference`: something still points at a UID that is gone while the name lives on: an owner reference, a claimRef, a
 * targetRef, or any string that holds the UID. What is written after the recreation, and a volume's claimRef, is told at once;
 * what merely was not cleaned up yet gets time for it.
 */
export class ReferenceRule implements Rule, Timed {
  readonly timed = this;
  private readonly holders = new Map<string, Map<string, Holder>>();
  private pending: { holder: Holder; dead: string; since: number }[] = [];
  /** By the UID of the holder: what was told of it before its writer was known. */
  private readonly unsigned = new Map<string, { holder: Holder; dead: string; live: ObjectState }[]>();

  /** Where no answer showed what was stored, the request tells what it holds. */
  judged({ write, version, object }: VersionChange, world: World): void {
    this.sign(object, version, world);
    if (write === undefined || !version.derived || !isJsonObject(write.body)) return;
    if (write.verb !== 'create' && write.verb !== 'replace') return;
    for (const [path, uid] of this.mentions(write.body, object, world)) {
      const holder = { cluster: object.cluster, uid: object.uid, path, at: write.at, seq: write.seq };
      this.remember(uid, holder);
      const key = `${object.cluster}\0${uid}\n${path}`;
      const isNew = !object.references.has(key);
      object.references.add(key);
      const live = world.replacedBy(object.cluster, uid);
      if (live === undefined || live.uid === object.uid) continue;
      const told = isNew && write.seq > live.firstSeq && !path.startsWith('.metadata.ownerReferences');
      if (told || isVolumeClaim(path)) this.tell(holder, uid, live, world);
      else this.pending.push({ holder, dead: uid, since: world.now });
    }
  }

  observed(event: ObservedEvent, object: ObjectState, version: VersionRecord, world: World): void {
    for (const [path, uid] of this.mentions(event.body, object, world)) {
      const holder = { cluster: object.cluster, uid: object.uid, path, at: event.at, seq: event.seq };
      this.remember(uid, holder);
      const key = `${object.cluster}\0${uid}\n${path}`;
      const isNew = !object.references.has(key);
      object.references.add(key);
      const live = world.replacedBy(object.cluster, uid);
      if (live === undefined || live.uid === object.uid) continue;
      const writtenSince =
        isNew &&
        version.seq > live.firstSeq &&
        event.change !== 'ADDED' &&
        event.via !== 'list' &&
        version.seq === event.seq;
      const made =
        object.firstSeq > live.firstSeq &&
        (event.change === 'ADDED' || event.via === 'write' || event.via === 'recorder' || event.via === 'audit');
      if (isVolumeClaim(path) || ((writtenSince || made) && !path.startsWith('.metadata.ownerReferences')))
        this.tell(holder, uid, live, world);
      else this.pending.push({ holder, dead: uid, since: world.now });
    }
  }

  recreated(before: ObjectState, after: ObjectState, event: TraceEvent, world: World): void {
    for (const holder of this.holders.get(`${before.cluster}\0${before.uid}`)?.values() ?? []) {
      if (holder.uid === after.uid || holder.uid === before.uid) continue;
      if (isVolumeClaim(holder.path)) this.tell({ ...holder, at: event.at }, before.uid, after, world);
      else this.pending.push({ holder, dead: before.uid, since: world.now });
    }
  }

  absent(event: AbsentEvent): void {
    if (event.uid !== undefined) this.pending = this.pending.filter((item) => item.holder.uid !== event.uid);
  }

  due(): number | undefined {
    const first = this.pending[0];
    return first === undefined ? undefined : first.since + SETTLE_MS;
  }

  time(now: number, world: World): void {
    this.pending = this.pending.filter((item) => {
      if (item.since + SETTLE_MS > now) return true;
      this.settle(item, world);
      return false;
    });
  }

  end(world: World): void {
    for (const item of this.pending) this.settle(item, world);
    this.pending = [];
  }

  /** It still points at what is gone, and neither it nor the name has gone away since. */
  private settle(item: { holder: Holder; dead: string }, world: World): void {
    const { holder, dead } = item;
    const live = world.replacedBy(holder.cluster, dead);
    const object = world.object(holder.cluster, holder.uid);
    const still = this.holders.get(`${holder.cluster}\0${dead}`)?.has(`${holder.uid} ${holder.path}`) === true;
    if (
      live !== undefined &&
      object !== undefined &&
      object.gone === undefined &&
      still &&
      object.latest?.terminating !== true
    )
      this.tell(holder, dead, live, world);
  }

  /** Who wrote what was told is known now. */
  private sign(object: ObjectState, version: VersionRecord, world: World): void {
    const waiting = this.unsigned.get(object.uid);
    if (waiting === undefined) return;
    this.unsigned.delete(object.uid);
    for (const item of waiting)
      if (item.holder.seq !== version.seq)
        this.unsigned.set(object.uid, [...(this.unsigned.get(object.uid) ?? []), item]);
      else if (writerOf(object, item.holder) !== undefined) this.tell(item.holder, item.dead, item.live, world);
  }

  private mentions(body: JsonObject | undefined, object: ObjectState, world: World): [string, string][] {
    const found = new Map<string, string>();
    const known = (uid: string): boolean => uid !== object.uid && world.object(object.cluster, uid) !== undefined;
    if (body !== undefined) {
      if (mayMention(body, object, world))
        for (const mention of uidMentions(body, known)) found.set(formatPath(mention.path), mention.uid);
    } else
      for (const [index, owner] of object.owners.entries())
        found.set(`.metadata.ownerReferences[${index}].uid`, owner.uid);
    for (const text of world.thresholds.externalReferences) {
      const parsed = parsePath(text);
      const value = 'path' in parsed && body !== undefined ? valueAt(body, parsed.path) : undefined;
      if (typeof value === 'string') found.set(text, value);
    }
    this.forget(object, found, world);
    return [...found].filter(
      ([path]) => !path.startsWith('.metadata.managedFields') && !path.includes('last-applied-configuration'),
    );
  }

  /** What a newer version of the holder does not say any more is no reference of it; a volume that was seen to is in order. */
  private forget(object: ObjectState, found: ReadonlyMap<string, string>, world: World): void {
    if (this.pending.length > 0) {
      this.pending = this.pending.filter(
        (item) => item.holder.uid !== object.uid || found.get(item.holder.path) === item.dead,
      );
    }
    for (const key of object.references)
      if (![...found].some(([path, uid]) => key === `${object.cluster}\0${uid}\n${path}`)) {
        const [target = '', path = ''] = key.split('\n');
        const [cluster = '', dead = ''] = target.split('\0');
        if (isVolumeClaim(path)) world.retract({ key: findingKey(cluster, dead), uid: object.uid }, path);
        this.holders.get(target)?.delete(`${object.uid} ${path}`);
        object.references.delete(key);
      }
  }

  private remember(uid: string, holder: Holder): void {
    const target = `${holder.cluster}\0${uid}`;
    const holders = this.holders.get(target) ?? new Map<string, Holder>();
    if (holders.size < MAX_HOLDERS) holders.set(`${holder.uid} ${holder.path}`, holder);
    keepLast(this.holders, target, holders, MAX_TARGETS);
  }

  private tell(holder: Holder, dead: string, live: ObjectState, world: World): void {
    const object = world.object(holder.cluster, holder.uid);
    if (object === undefined) return;
    const author = writerOf(object, holder);
    if (author === undefined) {
      const waiting = [...(this.unsigned.get(object.uid) ?? []), { holder, dead, live }].slice(-MAX_HOLDERS);
      keepLast(this.unsigned, object.uid, waiting, MAX_UNSIGNED);
    }
    world.report({
      key: findingKey(holder.cluster, dead),
      part: holder.path,
      id: 'stale-reference',
      cluster: holder.cluster,
      object: findingObject(object),
      actors: author === undefined ? [] : [author],
      fields: [holder.path],
      at: holder.at,
      total: 1,
      events: [live.firstSeq, holder.seq],
      explanation: message`${holder.path} of ${object.name.name} points at the UID ${dead}, which is gone; ${live.name.resource}/${live.name.name} exists again as ${live.uid}.${author === undefined ? '' : message` ${author} wrote it so.`}`,
      remedy: REMEDY,
      details: { dead, live: live.uid, name: live.name.name },
    });
  }
}

/** Whether a body that is seen now may hold another object's UID; what the one before it held none in is not looked at again. */
function mayMention(body: JsonObject, object: ObjectState, { hasOddUids }: World): boolean {
  const { lastBody } = object;
  const without = hasOddUids || lastBody?.mentionsUids === true ? undefined : lastBody?.body;
  const may = mayMentionUid(body, hasOddUids, without);
  object.mentionsUids = may;
  return may;
}

/** Who wrote the version that the reference was seen in, where that is known. */
function writerOf(object: ObjectState, holder: Holder): string | undefined {
  const version = object.versions.find((item) => item.seq === holder.seq || item.author?.seq === holder.seq);
  return version?.author === undefined ? version?.manager : actorName(version.author.actor);
}

/** One finding for what one object says of one that is gone, wherever it says so. */
function findingKey(cluster: string, dead: string): string {
  return ['stale-reference', cluster, dead].join('\0');
}

function isVolumeClaim(path: string): boolean {
  return path === '.spec.claimRef.uid';
}
