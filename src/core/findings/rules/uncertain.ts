import { message, type Message } from '../../../base/message.ts';
import { isJsonObject } from '../../../codec/json.ts';
import { nameKey } from '../../history.ts';
import type { ReadEvent, WriteEvent } from '../../traceEvent.ts';
import type { FindingObject } from '../finding.ts';
import type { Told } from '../findingStore.ts';
import { actorName, sameActor, writerKey } from '../knowledge.ts';
import { leavesOf } from '../leaves.ts';
import type { ObjectState } from '../objectState.ts';
import type { Rule, VersionChange } from '../rule.ts';
import { withoutToken } from '../stamp.ts';
import { tokenText } from '../words.ts';
import { findingObject, writtenObject, type World } from '../world.ts';

type Settled = 'unknown' | 'written' | 'not-written';

interface Lost {
  readonly event: WriteEvent;
  telling: Telling;
  /** The finding that tells of it. */
  told: Told | undefined;
  /** The read by which its sender looked what became of it, before it did anything else there. */
  looked: number | undefined;
}

/** A create whose answer was lost, with what was found of it and what its sender made in its place. */
interface LostCreate extends Lost {
  stored: { readonly object: ObjectState; readonly seq: number } | undefined;
  again: { readonly object: FindingObject; readonly seq: number } | undefined;
}

interface Telling {
  readonly settled: Settled;
  readonly how: Message;
  readonly events: readonly number[];
  readonly kind?: 'self-conflict' | 'duplicate-create';
  readonly object?: FindingObject;
}

const MAX_LOST = 500;
const MAX_OWN = 1_000;

/**
 * `uncertain-write`: the answer to a write was lost; how it was settled, also by a conflict of its sender with itself, or by
 * a second object (kind `duplicate-create`) that its sender made without a look for the first. It is information where its
 * sender looked before it did anything else, as one should.
 */
export class UncertainRule implements Rule {
  readonly between = true;
  private readonly lost = new Map<string, Lost>();
  private creates: LostCreate[] = [];
  /** Those whose sender has done nothing there since. */
  private untouched: Lost[] = [];

  read(event: ReadEvent, world: World): void {
    // What a watch brings is no look; a write that is based on it shows that it was seen.
    if (this.untouched.length === 0 || event.verb === 'watch') return;
    this.touch((lost) => (looksAt(event, lost) ? event.seq : 'elsewhere'), world);
  }

  write(event: WriteEvent, world: World): void {
    if (this.untouched.length > 0)
      this.touch((lost) => (isSamePlace(event, lost) ? basisSince(event, lost, world) : 'elsewhere'), world);
    if (event.outcome === 'uncertain' || event.outcome === 'cancelled') this.lose(event, world);
    else if (event.verb === 'create') this.createdAgain(event, world);
    else this.settle(event, world);
  }

  private lose(event: WriteEvent, world: World): void {
    const lost: Lost = {
      event,
      telling: { settled: 'unknown', how: message`What became of it is not known yet.`, events: [event.seq] },
      told: undefined,
      looked: undefined,
    };
    if (event.verb === 'create') {
      this.creates = [...this.creates, Object.assign(lost, { stored: undefined, again: undefined })].slice(-MAX_LOST);
    } else {
      this.lost.set(lostKey(event), lost);
      const oldest = this.lost.size > MAX_LOST ? this.lost.keys().next().value : undefined;
      if (oldest !== undefined) this.lost.delete(oldest);
    }
    this.untouched = [...this.untouched, lost].slice(-MAX_LOST);
    tell(lost, lost.telling, world);
  }

  /** The first thing that its sender does where the answer was lost tells whether it looked: `lookOf` gives the look. */
  private touch(lookOf: (lost: WriteEvent) => number | 'none' | 'elsewhere', world: World): void {
    this.untouched = this.untouched.filter((lost) => {
      const look = lookOf(lost.event);
      if (look === 'elsewhere') return true;
      if (look !== 'none') {
        lost.looked = look;
        tell(lost, lost.telling, world);
      }
      return false;
    });
  }

  private settle(event: WriteEvent, world: World): void {
    const open = this.lost.get(lostKey(event));
    if (open === undefined || !sameActor(open.event.actor, event.actor)) return;
    const { settled } = open.telling;
    const token = open.event.preconditions?.token;
    if (token === undefined || token === '' || token !== event.preconditions?.token || settled === 'not-written')
      return;
    const events = [open.event.seq, event.seq];
    if (event.outcome === 'version-conflict' && !this.others(event, token, world)) {
      world.ownLost.set(event.seq, open.event.seq);
      const oldest = world.ownLost.size > MAX_OWN ? world.ownLost.keys().next().value : undefined;
      if (oldest !== undefined) world.ownLost.delete(oldest);
      if (open.telling.kind !== undefined) return;
      const how = message`It was repeated with the same token and refused, and nobody else is known to have written: most likely it had been stored, and its sender was in conflict with itself.`;
      tell(open, { settled: 'written', how, events, kind: 'self-conflict' }, world);
    } else if (event.outcome === 'accepted' && settled === 'unknown') {
      const how = message`The same token was accepted afterwards, so it had not been stored.`;
      tell(open, { settled: 'not-written', how, events }, world);
    }
  }

  /** The same create once more: one that a server names makes a second object, one with a name tells of the first. */
  private createdAgain(event: WriteEvent, world: World): void {
    const open = this.creates.findLast((item) => item.again === undefined && isSameCreate(item.event, event));
    if (open === undefined || (event.outcome !== 'accepted' && event.outcome !== 'already-exists')) return;
    const events = [open.event.seq, event.seq];
    if (event.outcome === 'already-exists') {
      const how = message`The same create was refused afterwards, as the name was taken: most likely it had been stored.`;
      settleCreate(open, { settled: 'written', how, events }, world);
    } else if (generatedName(event) === undefined) {
      const how = message`The same create was accepted afterwards, so it had not been stored.`;
      settleCreate(open, { settled: 'not-written', how, events }, world);
    } else {
      open.again = { object: writtenObject(event, world), seq: event.seq };
      reportDuplicate(open, world);
    }
  }

  judged(change: VersionChange, world: World): void {
    const { object, version } = change;
    if (version.leaves === undefined || version.author !== undefined) return;
    if (change.index === 0 && !object.truncated) this.found(change, world);
    for (const subresource of ['', 'status']) {
      const open = this.lost.get(`${nameKey(object.cluster, object.name)}\0${subresource}`);
      if (open === undefined || open.telling.settled !== 'unknown' || !holds(change, open.event)) continue;
      const how = message`The version ${tokenText(version.token)}, which no other write explains, holds all that it asked for.`;
      tell(open, { settled: 'written', how, events: [open.event.seq, version.seq] }, world);
    }
  }

  /** An object that no write explains: it may be what a lost create made. */
  private found(change: VersionChange, world: World): void {
    const { object, version } = change;
    const open = this.creates.find(
      (item) =>
        item.stored === undefined &&
        item.telling.settled !== 'not-written' &&
        isNamedBy(object, item.event) &&
        holds(change, item.event),
    );
    if (open === undefined) return;
    open.stored = { object, seq: version.seq };
    const how = message`${object.name.name}, which no other write explains, holds all that it asked for.`;
    const events = [open.event.seq, version.seq];
    settleCreate(open, { settled: 'written', how, events, object: findingObject(object) }, world);
    reportDuplicate(open, world);
  }

  private others(event: WriteEvent, token: string, world: World): boolean {
    const object = world.target(event);
    const index = object?.indexOf(token) ?? -1;
    const next = index < 0 ? undefined : object?.versions[index + 1];
    return next?.author !== undefined && !sameActor(next.author.actor, event.actor);
  }
}

function lostKey(event: WriteEvent): string {
  return `${nameKey(event.cluster, event.name)}\0${event.subresource ?? ''}`;
}

/** Whether a version came after a write was sent and holds all that it asked for. */
function holds({ version }: VersionChange, write: WriteEvent): boolean {
  if (version.at < (write.startedAt ?? write.at) || !isJsonObject(write.body)) return false;
  const status = write.subresource === 'status';
  return [...leavesOf(write.body)].every(
    ([path, value]) => path.startsWith('.status') !== status || version.leaves?.get(path) === value,
  );
}

/** The beginning of the name that a create leaves to the server. */
function generatedName(event: WriteEvent): string | undefined {
  const metadata = isJsonObject(event.body) ? event.body['metadata'] : undefined;
  const generated =
    isJsonObject(metadata) && typeof metadata['name'] !== 'string' ? metadata['generateName'] : undefined;
  return typeof generated === 'string' && generated !== '' ? generated : undefined;
}

function isNamedBy({ name, cluster }: ObjectState, event: WriteEvent): boolean {
  const { group, resource, namespace } = event.name;
  if (cluster !== event.cluster || name.group !== group || name.resource !== resource || name.namespace !== namespace)
    return false;
  const generated = generatedName(event);
  return generated === undefined ? name.name === event.name.name : name.name.startsWith(generated);
}

function isSameCreate(lost: WriteEvent, event: WriteEvent): boolean {
  const { group, resource, namespace } = event.name;
  const { name } = lost;
  const samePlace = name.group === group && name.resource === resource && name.namespace === namespace;
  if (!samePlace || lost.cluster !== event.cluster || !sameActor(lost.actor, event.actor)) return false;
  if (generatedName(lost) === undefined && name.name !== event.name.name) return false;
  return lost.body !== undefined && event.body !== undefined && withoutToken(lost.body) === withoutToken(event.body);
}

/** Whether a request of a lost write's sender shows what became of it. */
function looksAt({ actor, cluster, scope }: ReadEvent, lost: WriteEvent): boolean {
  const { group, resource, namespace, name } = lost.name;
  return (
    cluster === lost.cluster &&
    scope.group === group &&
    scope.resource === resource &&
    (scope.namespace === undefined || scope.namespace === '' || scope.namespace === namespace) &&
    (scope.name === undefined || scope.name === name) &&
    sameActor(actor, lost.actor)
  );
}

/** Whether the sender of a lost write writes the same object; where a server names it, one of its kind in the namespace. */
function isSamePlace({ actor, cluster, name }: WriteEvent, lost: WriteEvent): boolean {
  const { group, resource, namespace } = lost.name;
  const isNear = name.group === group && name.resource === resource && name.namespace === namespace;
  const isNamed = generatedName(lost) !== undefined || name.name === lost.name.name;
  return cluster === lost.cluster && isNear && isNamed && sameActor(actor, lost.actor);
}

/** The event that gave the writer its basis, where that came after the loss. */
function basisSince(event: WriteEvent, lost: WriteEvent, world: World): number | 'none' {
  const token = event.preconditions?.token;
  const uid = world.target(event)?.uid ?? '';
  const given = token === undefined ? undefined : world.knowledge.of(event.actor).objects.get(uid)?.tokens.get(token);
  return given !== undefined && given.seq > lost.seq ? given.seq : 'none';
}

function settleCreate(open: LostCreate, telling: Telling, world: World): void {
  if (open.telling.settled === 'unknown') tell(open, telling, world);
}

function reportDuplicate(open: LostCreate, world: World): void {
  const { event, stored, again } = open;
  if (stored === undefined || again === undefined) return;
  const how = message`It had been stored as ${stored.object.name.name}; its sender made ${again.object.name} in its place without a look, so that there are two.`;
  const events = [event.seq, stored.seq, again.seq];
  tell(
    open,
    { settled: 'written', how, events, kind: 'duplicate-create', object: findingObject(stored.object) },
    world,
  );
}

/**
 * Tells anew how a lost answer was settled: what was not settled before is said no more. Who gave up waiting knows that; only
 * what follows from it is worth telling.
 */
function tell(lost: Lost, telling: Telling, world: World): void {
  lost.telling = telling;
  const { event, looked } = lost;
  const { settled, how, events, kind } = telling;
  if (event.outcome !== 'uncertain' && kind === undefined) return;
  const didRight = looked !== undefined && kind === undefined;
  const who = actorName(event.actor);
  const verb = event.verb === 'replace' ? 'update' : event.verb;
  const gaveUp = message`${who} stopped waiting for the answer to its ${verb}.`;
  const written = writtenObject(event, world);
  const object = telling.object ?? {
    ...written,
    name: written.name === '' ? (generatedName(event) ?? '') : written.name,
  };
  const part = String(event.seq);
  const key = ['uncertain-write', kind ?? '', String(didRight), writerKey(event), object.name].join('\0');
  if (lost.told !== undefined) world.retract(lost.told, part);
  lost.told = { key, uid: object.uid };
  world.report({
    key,
    part,
    id: 'uncertain-write',
    ...(kind === undefined ? {} : { kind }),
    ...(didRight ? { severity: 'info' } : {}),
    cluster: event.cluster,
    object,
    actors: [who],
    fields: [],
    at: event.at,
    events: [...new Set(didRight ? [...events, looked] : events)].sort((a, b) => a - b),
    explanation: message`${event.outcome === 'cancelled' ? gaveUp : message`The answer to the ${verb} of ${who} was lost.`} ${how}${didRight ? message` Its sender looked at what is stored before it did anything else there.` : ''}`,
    remedy: didRight ? message`Nothing: to read again and compare is what a lost answer asks for.` : remedyOf(kind),
    sureness: settled === 'unknown' ? 'certain' : 'likely',
    details: { settled },
  });
}

function remedyOf(kind: Telling['kind']): Message {
  return kind === 'duplicate-create'
    ? message`After a lost answer look for what may have been made (by its owner or label) before you make another one; or give it a name that follows from its owner, so that a second create is refused.`
    : message`After a lost answer, read again and compare before you write once more; never repeat a write that carries no token.`;
}
