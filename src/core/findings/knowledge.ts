import { dropFirst, keepLast } from '../keepLast.ts';
import { nameKey } from '../history.ts';
import type { Actor, ReadEvent, Token, WriteEvent } from '../traceEvent.ts';

/** When and how an actor was given a version. */
export interface Given {
  readonly at: number;
  readonly seq: number;
  readonly how: ReadEvent['verb'] | 'write';
  readonly cacheAllowed: boolean;
  /** When it was first read, where the answer to a write had given it before. */
  readonly read?: Given;
}

/** When a version was first read, whatever a write's answer had told before; undefined where it never was. */
export function firstRead(given: Given): Given | undefined {
  return given.how === 'write' ? given.read : given;
}

/** What one actor was given of one object. */
export interface ObjectKnowledge {
  /** Every token given, with each first time; the order is that of arrival. */
  readonly tokens: Map<Token, Given>;
  last: { token: Token; given: Given } | undefined;
}

const MAX_TOKENS = 48;
const MAX_OBJECTS = 5_000;
const MAX_NAMES = 20_000;
const MAX_DELIVERED = 64;

/** Who was asked for last, and the key: all rules ask for the same actor in turn, and finding it again needs no new hash. */
let lastKey: { readonly actor: Actor; readonly key: string } | undefined;

/** The identity of an actor in one log: client, user and agent; its manager only where nothing else is known. '' is nobody in particular. */
export function actorKey(actor: Actor): string {
  if (lastKey?.actor === actor) return lastKey.key;
  const who = joined(joined(actor.client ?? '', actor.user ?? ''), actor.agent ?? '');
  const key = who === '' ? (actor.manager ?? '') : who;
  lastKey = { actor, key };
  return key;
}

function joined(first: string, second: string): string {
  return first === '' ? second : second === '' ? first : `${first}|${second}`;
}

/** One key for an actor's doings on one object and subresource. */
export function actionKey(event: WriteEvent): string {
  return `${writerKey(event)}\0${event.subresource ?? ''}`;
}

/** One key for an actor's doings on one object, in whatever part of it. */
export function writerKey(event: WriteEvent): string {
  return `${actorKey(event.actor)}\0${nameKey(event.cluster, event.name)}`;
}

/** What a person would call an actor. */
export function actorName(actor: Actor): string {
  const who = actor.client ?? actor.user ?? actor.agent?.split(' ')[0] ?? actor.manager ?? 'unknown';
  const agent = actor.agent?.split('/')[0];
  // Several programs often share one client, or one user.
  const isShared = actor.client !== undefined || actor.user !== undefined;
  const more = [
    isShared && agent !== undefined && agent !== who ? agent : '',
    actor.client !== undefined && actor.manager !== undefined && actor.manager !== who ? actor.manager : '',
  ];
  const extra = more.filter((part) => part !== '').join(', ');
  return extra === '' ? who : `${who} (${extra})`;
}

/** Whether two writes are surely one actor's: the same identity, and not two field managers that both said their names. */
export function sameActor(a: Actor, b: Actor): boolean {
  const key = actorKey(a);
  if (key === '' || (a !== b && key !== actorKey(b))) return false;
  return a.manager === undefined || b.manager === undefined || a.manager === b.manager;
}

/** All that one actor is known to have been given. */
export class ActorKnowledge {
  /** By UID. */
  readonly objects = new Map<string, ObjectKnowledge>();
  /** The last UID given for a name, by name key, and whether it was shown as going or gone. */
  readonly names = new Map<string, { uid: string; at: number; seq: number; ending: boolean }>();
  /** Resources (`group/resource`) that it reads in ways whose content this log does not have. */
  readonly blindReads = new Map<string, number>();
  hasReads = false;
  client: string | undefined;
  /** One object for an actor that wrote, whatever event it came with. */
  private readonly written = new Map<string, Actor>();

  /** The same object for equal actors, so that a version costs no copy of its author. */
  same(actor: Actor): Actor {
    const key = actor.manager ?? '';
    const known = this.written.get(key);
    if (known !== undefined) return known;
    if (this.written.size < 100) this.written.set(key, actor);
    return actor;
  }
  /** By UID: when a watch delivered each token, the recent ones. */
  readonly watched = new Map<string, Map<Token, number>>();
  /** What watches delivered last, whatever it was about. */
  readonly delivered: { readonly uid: string; readonly token: Token; readonly at: number }[] = [];
  /** By UID: when a get or list last answered with it. */
  readonly requested = new Map<string, number>();

  give(uid: string, name: string, token: Token, given: Given, ending: boolean): void {
    const known = this.objects.get(uid) ?? { tokens: new Map<Token, Given>(), last: undefined };
    const first = known.tokens.get(token);
    if (first === undefined) known.tokens.set(token, given);
    else if (given.how !== 'write' && firstRead(first) === undefined)
      known.tokens.set(token, { ...first, read: given });
    known.last = { token, given };
    if (known.tokens.size > MAX_TOKENS) dropFirst(known.tokens);
    if (given.how === 'watch') this.watch(uid, token, given.at);
    else if (given.how !== 'write') keepLast(this.requested, uid, given.at, MAX_OBJECTS);
    keepLast(this.objects, uid, known, MAX_OBJECTS);
    keepLast(this.names, name, { uid, at: given.at, seq: given.seq, ending }, MAX_NAMES);
  }

  private watch(uid: string, token: Token, at: number): void {
    const seen = this.watched.get(uid) ?? new Map<Token, number>();
    seen.set(token, at);
    this.delivered.push({ uid, token, at });
    if (this.delivered.length > 2 * MAX_DELIVERED) this.delivered.splice(0, MAX_DELIVERED);
    if (seen.size > 256) dropFirst(seen);
    keepLast(this.watched, uid, seen, MAX_OBJECTS);
  }
}

/** Whether an answer without objects may have held some: an audit log below its highest level does not show them. */
export function isBlind(event: ReadEvent): boolean {
  return event.via === 'audit' && (event.code === undefined || event.code === 200);
}

/** What every actor was given, bounded: the actors that were longest silent are forgotten first. */
export class Knowledge {
  private readonly actors = new Map<string, ActorKnowledge>();
  /** Who was asked for last: all rules ask for the same actor in turn. */
  private last: { readonly actor: Actor; readonly known: ActorKnowledge } | undefined;

  of(actor: Actor): ActorKnowledge {
    if (this.last?.actor === actor) return this.last.known;
    const key = actorKey(actor);
    const known = this.actors.get(key) ?? new ActorKnowledge();
    known.client ??= actor.client;
    keepLast(this.actors, key, known, 1_000);
    this.last = { actor, known };
    return known;
  }

  /**
   * What was given to the one that watches for an actor: another agent of the same client that a watch gave this version, where
   * the actor itself reads nothing. Some programs watch by one agent and write by another.
   */
  watcherFor(actor: Actor, uid: string, token: Token): ActorKnowledge {
    const own = this.of(actor);
    if (own.hasReads || actor.client === undefined) return own;
    for (const other of this.actors.values())
      if (other.client === actor.client && other.watched.get(uid)?.has(token) === true) return other;
    return own;
  }
}
