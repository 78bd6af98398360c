import { message, type Message } from '../../../base/message.ts';
import { isJsonObject } from '../../../codec/json.ts';
import { nameKey } from '../../history.ts';
import { keepLast } from '../../keepLast.ts';
import type { Actor, ReadEvent, WriteEvent } from '../../traceEvent.ts';
import { actorKey, actorName, firstRead, sameActor, writerKey } from '../knowledge.ts';
import { leavesOf, outermost } from '../leaves.ts';
import type { ObjectState } from '../objectState.ts';
import type { Rule } from '../rule.ts';
import { findingObject, writtenObject, type World } from '../world.ts';

const MAX_REMEMBERED = 5_000;
/** How long a time is that ends with its seconds. */
const SECONDS = '2026-01-01T00:00:00'.length;

/**
 * The kind `revival` of `stale-incarnation-write`: an actor brings an object of others back that was deleted. An apply creates
 * what is not there: one that was made for the object that its sender knew makes a hollow one of it. A create whose body has
 * the creation time of the dead incarnation is a copy of that one. Who made the dead one, or deleted it itself, may make it anew.
 */
export class RevivalRule implements Rule {
  /** By actor and name: when it was last told that nothing is there. */
  private readonly missed = new Map<string, number>();
  /** By cluster and UID: who deleted it. */
  private readonly deleted = new Map<string, string>();

  read({ actor, cluster, scope, code, seq }: ReadEvent): void {
    if (code !== 404 || scope.name === undefined) return;
    const name = { ...scope, namespace: scope.namespace ?? '', name: scope.name };
    keepLast(this.missed, [actorKey(actor), nameKey(cluster, name)].join('\0'), seq, MAX_REMEMBERED);
  }

  write(event: WriteEvent, world: World): void {
    const { actor, cluster, verb, outcome } = event;
    if (event.dryRun === true || actorKey(actor) === '') return;
    const place = writerKey(event);
    if (outcome === 'not-found') keepLast(this.missed, place, event.seq, MAX_REMEMBERED);
    if (outcome !== 'accepted') return;
    const target = world.target(event);
    if (verb === 'delete' && target !== undefined)
      keepLast(this.deleted, `${cluster}\0${target.uid}`, actorKey(actor), MAX_REMEMBERED);
    if ((verb !== 'create' && verb !== 'apply') || event.subresource !== undefined) return;
    const dead = deadBefore(event, world);
    if (dead === undefined || !this.isOfOthers(dead, event, world)) return;
    const told = verb === 'create' ? copied(event, dead) : this.unaware(event, dead, place, world);
    if (told !== undefined) report(event, dead, told, world);
  }

  /** Whether the actor had read the incarnation, and neither made nor deleted it. */
  private isOfOthers(dead: ObjectState, { actor }: WriteEvent, world: World): boolean {
    if (this.deleted.get(`${dead.cluster}\0${dead.uid}`) === actorKey(actor)) return false;
    const tokens = world.knowledge.of(actor).objects.get(dead.uid)?.tokens;
    if (![...(tokens?.values() ?? [])].some((given) => firstRead(given) !== undefined)) return false;
    const maker = dead.versions[0]?.author;
    return maker === undefined ? !isOwner(dead, actor) : !sameActor(maker.actor, actor);
  }

  /** What an apply left out of an object whose end its sender had not been told. */
  private unaware(event: WriteEvent, dead: ObjectState, place: string, world: World): Told | undefined {
    const known = world.knowledge.of(event.actor).names.get(nameKey(event.cluster, event.name));
    const isTold = known?.ending === true || (this.missed.get(place) ?? 0) > (known?.seq ?? 0);
    const before = dead.versions.findLast(({ leaves }) => leaves !== undefined)?.leaves;
    if (isTold || known?.uid !== dead.uid || before === undefined || !isJsonObject(event.body)) return undefined;
    const sent = leavesOf(event.body);
    const missing = [...before.keys()].filter((path) => /^\.(?!metadata|status)/.test(path) && !sent.has(path));
    return missing.length === 0 ? undefined : { kind: 'apply', seq: known.seq, missing: outermost(missing) };
  }
}

type Told =
  | { readonly kind: 'apply'; readonly seq: number; readonly missing: readonly string[] }
  | { readonly kind: 'create'; readonly seq: number };

/** The incarnation that held the name before a write that made a new one; undefined where it made none, or there was none. */
function deadBefore(event: WriteEvent, world: World): ObjectState | undefined {
  const uid = event.result?.uid ?? '';
  const made = world.object(event.cluster, uid);
  if (uid === '' || (made !== undefined && made.versions[0]?.token !== event.result?.token)) return undefined;
  const state = world.nameState(event.cluster, event.name);
  const before = state?.current === uid ? state.past.at(-1) : state?.current;
  return before === undefined ? undefined : world.object(event.cluster, before);
}

/** Whether the body of a create is a copy of the dead incarnation: it has its creation time, which only the server sets. */
function copied({ body, seq }: WriteEvent, dead: ObjectState): Told | undefined {
  const metadata = isJsonObject(body) ? body['metadata'] : undefined;
  const created = isJsonObject(metadata) ? metadata['creationTimestamp'] : undefined;
  // Clients spell the same second in several ways.
  if (typeof created !== 'string' || created.slice(0, SECONDS) !== dead.creationTimestamp?.slice(0, SECONDS))
    return undefined;
  return { kind: 'create', seq: dead.latest?.seq ?? seq };
}

/** Whether an actor had a hand in an object, by the names that it or the server gives its fields; so where that is not known. */
function isOwner({ latest }: ObjectState, { manager, agent }: Actor): boolean {
  const own = [manager, agent?.split('/')[0]];
  const entries = latest?.managedFields;
  return entries?.every((entry) => !isJsonObject(entry) || !own.includes(entry['manager'] as string)) !== true;
}

function report(event: WriteEvent, dead: ObjectState, told: Told, world: World): void {
  const who = actorName(event.actor);
  const live = event.result?.uid ?? '';
  const text: Message =
    told.kind === 'create'
      ? message`${who} created ${event.name.name} from a copy of the incarnation ${dead.uid}, which was deleted: what it sent has the creation time of that one.`
      : message`${who} applied ${event.name.name}, which it knew as ${dead.uid}; that had been deleted, which ${who} had not been told, and as an apply creates what is not there, it made ${live}, without ${told.missing.slice(0, 6).join(', ')}.`;
  const made = world.object(event.cluster, live);
  world.report({
    key: ['stale-incarnation-write', 'revival', writerKey(event), live].join('\0'),
    id: 'stale-incarnation-write',
    kind: 'revival',
    cluster: event.cluster,
    object: made === undefined ? writtenObject(event, world) : findingObject(made),
    actors: [who],
    fields: told.kind === 'create' ? [] : told.missing,
    at: event.at,
    events: [...new Set([told.seq, ...(dead.gone === undefined ? [] : [dead.gone.seq]), event.seq])],
    explanation: text,
    remedy:
      told.kind === 'create'
        ? message`Where an update is answered with 404, the object was deleted: stop, and forget what was kept of it; do not create it from a copy.`
        : message`Send metadata.uid with the apply of an object that is not yours: it is refused (409) where the object is gone. Or patch it: that is answered with 404.`,
    sureness: told.kind === 'create' ? 'certain' : 'likely',
    details: { actedOn: dead.uid, live },
  });
}
