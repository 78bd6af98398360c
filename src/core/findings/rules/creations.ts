import { message, type Message } from '../../../base/message.ts';
import { isJsonObject, stringifyCanonical, type Json } from '../../../codec/json.ts';
import { hashText } from '../../hash.ts';
import { nameKey } from '../../history.ts';
import type { GapEvent, ReadEvent, WriteEvent } from '../../traceEvent.ts';
import { inTurn } from '../inTurn.ts';
import { actionKey, actorKey, actorName } from '../knowledge.ts';
import type { Rule } from '../rule.ts';
import { writtenObject, type World } from '../world.ts';
import { untoldOf, type Counted } from '../untold.ts';
import { keepLast } from '../../keepLast.ts';

interface Creation {
  readonly uid: string;
  readonly name: string;
  readonly at: number;
  readonly seq: number;
  /** All that it says, where the server gave it its name: nothing refuses a second one. */
  readonly generated: string | undefined;
  /** A read of the creator that covered the new object and did not show it. */
  missedBy: number | undefined;
  /** Whether the creator was woken by something about the owner since. */
  ownerSeen: boolean;
}

interface Refusals extends Counted {
  readonly events: { startedAt: number; at: number; seq: number }[];
}

const MAX_REMEMBERED = 3_000;
const MAX_EVENTS = 1_000;
const DUPLICATE_WINDOW_MS = 30_000;
/** What reached a client this shortly before need not have reached its cache. */
const UNPROCESSED_MS = 50;

/**
 * `already-exists-loop`: a create repeated though the name is taken, and its sender never reads what is there.
 * `stale-read` of kind `duplicate-create`: the same child made twice for one owner, as what its creator read in between did
 * not show the first one yet.
 */
export class CreationRule implements Rule {
  readonly between = true;
  private readonly refused = new Map<string, Refusals>();
  private readonly created = new Map<string, Creation[]>();

  read(event: ReadEvent): void {
    const prefix = `${actorKey(event.actor)}\0${event.cluster}\0${event.scope.group}/${event.scope.resource}\0`;
    for (const item of event.given) this.forget(event, item.namespace, item.name);
    const unseen = event.given.length === 0 && (event.code === undefined || event.code === 200);
    if (unseen && event.verb !== 'watch') this.forgetUnseen(event);
    for (const [key, list] of this.created) {
      if (!key.startsWith(`${actorKey(event.actor)}\0`)) continue;
      const [, , , , owner] = key.split('\0');
      for (const creation of list) {
        if (event.given.some((item) => item.uid === owner)) creation.ownerSeen = true;
        if (!key.startsWith(prefix) || event.verb !== 'list' || event.scope.name !== undefined) continue;
        if (event.given.some((item) => item.uid === creation.uid)) creation.missedBy = undefined;
        else if (covers(event, key)) creation.missedBy ??= event.seq;
      }
    }
  }

  write(event: WriteEvent, world: World): void {
    if (
      event.verb !== 'create' ||
      event.dryRun === true ||
      actorKey(event.actor) === '' ||
      event.name.resource === 'leases'
    )
      return;
    if (event.outcome === 'already-exists') this.extend(event, world);
    else if (event.outcome === 'accepted') {
      this.refused.delete(actionKey(event));
      this.checkDuplicate(event, world);
    }
  }

  /** What the owner asks for may have changed while nobody looked. */
  gap(event: GapEvent): void {
    for (const [key, list] of this.created)
      if (key.split('\0').includes(event.cluster)) for (const creation of list) creation.ownerSeen = false;
  }

  private forget(event: ReadEvent, namespace: string, name: string): void {
    if (this.refused.size === 0) return;
    const key = [actorKey(event.actor), nameKey(event.cluster, { ...event.scope, namespace, name }), ''].join('\0');
    this.refused.delete(key);
  }

  /** A read that succeeded, but whose answer the log does not hold: it showed what it asked for. */
  private forgetUnseen(event: ReadEvent): void {
    if (this.refused.size === 0) return;
    const { namespace = '', name } = event.scope;
    if (name !== undefined) {
      this.forget(event, namespace, name);
      return;
    }
    if (event.via !== 'audit') return;
    const { group, resource } = event.scope;
    const within = namespace === '' ? [] : [namespace];
    const prefix = [actorKey(event.actor), event.cluster, group, resource, ...within, ''].join('\0');
    for (const key of this.refused.keys()) if (key.startsWith(prefix)) this.refused.delete(key);
  }

  private extend(event: WriteEvent, world: World): void {
    const key = actionKey(event);
    const { count, windowMs } = world.thresholds.alreadyExistsLoop;
    const run = this.refused.get(key) ?? { events: [], total: 0, told: 0 };
    const last = run.events.at(-1);
    if (last !== undefined && event.at - last.at > windowMs) {
      run.events.length = 0;
      Object.assign(run, { total: 0, told: 0 });
    }
    run.events.push({ startedAt: event.startedAt ?? event.at, at: event.at, seq: event.seq });
    run.total += 1;
    if (run.events.length > MAX_EVENTS) run.events.splice(1, 1);
    keepLast(this.refused, key, run, MAX_REMEMBERED);
    if (inTurn(run.events.filter((item) => event.at - item.at <= windowMs)).length < count) return;
    const who = actorName(event.actor);
    world.report({
      key: ['already-exists-loop', key].join('\0'),
      id: 'already-exists-loop',
      cluster: event.cluster,
      object: writtenObject(event, world),
      actors: [who],
      fields: [],
      at: event.at,
      count: untoldOf(run),
      events: run.events.map((item) => item.seq),
      explanation: message`${who} tried ${run.total} times to create ${event.name.name}, which exists, and did not read it in between.`,
      remedy: message`When a create is answered with AlreadyExists, read the object: use it if it is yours (look at its owner), report a clash of names if it is not.`,
    });
  }

  private checkDuplicate(event: WriteEvent, world: World): void {
    const child = childOf(event);
    const uid = event.result?.uid;
    if (child === undefined || uid === undefined) return;
    const key = [
      actorKey(event.actor),
      event.cluster,
      `${event.name.group}/${event.name.resource}`,
      event.name.namespace,
      child.owner,
      child.shape,
    ].join('\0');
    const list = (this.created.get(key) ?? []).filter((item) => event.at - item.at <= DUPLICATE_WINDOW_MS);
    const known = world.knowledge.of(event.actor);
    const start = event.startedAt ?? event.at;
    const unseen = (item: Creation, margin: number): boolean => {
      const last = known.objects.get(item.uid)?.last;
      return last === undefined || last.given.how === 'write' || last.given.at > start - margin;
    };
    const asked = list.length === 0 ? undefined : childrenAsked(child.owner, event, world);
    const proven = list.find((item) => item.missedBy !== undefined && unseen(item, 0));
    const likely = list.find(
      (item) =>
        item.ownerSeen && unseen(item, event.at > item.at ? UNPROCESSED_MS : 0) && (asked ?? Infinity) <= list.length,
    );
    // Two workers that have one owner in hand at once.
    const { generated } = child;
    const beside = list.filter(
      (item) => item.at > start && item.generated !== undefined && item.generated === generated,
    );
    const first =
      proven ?? likely ?? (asked !== undefined && asked > 0 && asked <= beside.length ? beside[0] : undefined);
    const { at, seq } = event;
    list.push({ uid, name: event.name.name, at, seq, generated, missedBy: undefined, ownerSeen: false });
    keepLast(this.created, key, list.slice(-50), MAX_REMEMBERED);
    if (first === undefined) return;
    const who = actorName(event.actor);
    world.report({
      key: ['stale-read', 'duplicate-create', key].join('\0'),
      id: 'stale-read',
      kind: 'duplicate-create',
      cluster: event.cluster,
      object: writtenObject(event, world),
      actors: [who],
      fields: [],
      at: event.at,
      events: [first.seq, ...(first.missedBy === undefined ? [] : [first.missedBy]), event.seq],
      explanation: message`${who} created ${event.name.name} for ${ownerText(child.owner, event, world)} and with the same content as ${first.name}, ${event.at - first.at} ms after it; what it had read in between did not show the first one yet.`,
      remedy: message`Give children a name that follows from the owner, so that a second create is refused; or remember what was created until the cache shows it.`,
      sureness: first.missedBy === undefined ? 'likely' : 'certain',
      details: { first: first.uid, owner: child.owner },
    });
  }
}

function ownerText(uid: string, event: WriteEvent, world: World): Message {
  const owner = world.object(event.cluster, uid);
  return owner === undefined
    ? message`the same owner`
    : message`the same owner (${owner.name.resource}/${owner.name.name})`;
}

/** The most children that the owner may ask for: a burst that fills a count is no duplicate. */
function childrenAsked(owner: string, event: WriteEvent, world: World): number | undefined {
  const leaves = world.object(event.cluster, owner)?.latest?.leaves;
  if (leaves === undefined) return undefined;
  return [...leaves].reduce(
    (most, [path, value]) => (path.startsWith('.spec') && /^\d+$/.test(value) ? Math.max(most, Number(value)) : most),
    0,
  );
}

/** What makes two children the same: their owner, how they are named, and all they say besides. */
function childOf(event: WriteEvent): { owner: string; shape: string; generated: string | undefined } | undefined {
  const { body } = event;
  const metadata = isJsonObject(body) ? body['metadata'] : undefined;
  if (!isJsonObject(body) || !isJsonObject(metadata)) return undefined;
  const owners = metadata['ownerReferences'];
  const owner = Array.isArray(owners) ? owners.find(isJsonObject)?.['uid'] : undefined;
  const generated = metadata['generateName'];
  if (typeof owner !== 'string') return undefined;
  const isGenerated = typeof generated === 'string' && generated !== '';
  const base = isGenerated ? generated : event.name.name.replace(/[-.]?[a-z0-9]*\d[a-z0-9]*$/, '');
  const { metadata: _metadata, status: _status, ...rest } = body as Record<string, Json>;
  const text = stringifyCanonical(rest).replaceAll(event.name.name, '');
  return { owner, shape: `${base} ${text}`, generated: isGenerated ? hashText(stringifyCanonical(body)) : undefined };
}

function covers(event: ReadEvent, key: string): boolean {
  const namespace = key.split('\0')[3];
  return event.scope.namespace === undefined || event.scope.namespace === '' || event.scope.namespace === namespace;
}
