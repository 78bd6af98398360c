import { listed, message, type Message, type Words } from '../../../base/message.ts';
import { isJsonObject, type Json } from '../../../codec/json.ts';
import type { WriteEvent } from '../../traceEvent.ts';
import { fieldStep } from '../derive.ts';
import { foreignChange, givenTokens, isForeign } from '../given.ts';
import { actorName, writerKey } from '../knowledge.ts';
import { isByPlace, itemIdentity, itemsOf, type Leaves } from '../leaves.ts';
import type { ObjectState, VersionRecord } from '../objectState.ts';
import type { Rule, VersionChange } from '../rule.ts';
import { findingObject, type World } from '../world.ts';
import { explainLoss, indexedPaths, isGuarded, lossRemedy, printPointer } from './lostUpdateKinds.ts';

const MAX_OLDER = 8;

/**
 * `unguarded-patch`, and the `index-patch` kind of `lost-update`: a patch by position or of a whole list that checks nothing.
 * It did damage where the item at that position was another one than in the version its sender had been given.
 */
export class PatchRule implements Rule {
  judged(change: VersionChange, world: World): void {
    const { write } = change;
    if (
      write === undefined ||
      write.verb !== 'patch' ||
      change.object.election ||
      isGuarded(write) ||
      world.losses.has(write.seq)
    )
      return;
    const indexed = indexedPaths(write);
    if (indexed.length > 0) {
      const base = givenVersion(write, change.object, world);
      const hit = indexed.flatMap((pointer) => hitItem(pointer, base, change));
      if (hit.length > 0) reportHit(hit, write, change, world);
      else
        this.unguarded(
          indexed.map(printPointer),
          message`by position`,
          write,
          change,
          world,
          outdated(indexed, write, change, world),
        );
      return;
    }
    if (write.patchType !== 'merge-patch') return;
    const lists = listsIn('', write.body ?? null).filter((path) => isShared(path, write, change));
    if (lists.length > 0) this.unguarded(lists, message`of a whole list`, write, change, world);
  }

  private unguarded(
    fields: readonly string[],
    what: Message,
    write: WriteEvent,
    change: VersionChange,
    world: World,
    wrong: readonly Hit[] = [],
  ): void {
    const who = actorName(write.actor);
    const request = message`${who} sent a patch ${what} (${fields.join(', ')}) without a token or a test`;
    world.report({
      key: ['unguarded-patch', writerKey(write)].join('\0'),
      id: 'unguarded-patch',
      cluster: change.object.cluster,
      object: findingObject(change.object),
      actors: [who],
      fields,
      at: write.at,
      events: [write.seq],
      explanation:
        wrong.length === 0
          ? message`${request}; had the list changed in between, it would have hit another item. Nothing was lost this time.`
          : message`${request}, and it hit ${wrong.map(({ item }) => item).join(', ')}. In an older version that it had been given, that position held ${meantOf(wrong)}: if the patch was computed from that one, it hit the wrong item.`,
      remedy: message`Put metadata.resourceVersion into the patch, or a test of the item before the operation.`,
    });
  }
}

interface Hit {
  readonly item: string;
  readonly meant: string | undefined;
}

/** The item that an operation really hit, in whichever of the lists on its way, where the sender's version had another one there. */
function hitItem(pointer: string, base: VersionRecord | undefined, change: VersionChange): Hit[] {
  const tokens = pointer.split('/').slice(1);
  if (base === change.previous) return [];
  let path = '';
  for (const [at, token] of tokens.entries()) {
    const before = /^\d+$/.test(token) ? itemsIn(change.previous?.leaves, path) : undefined;
    if (before === undefined) {
      path += printPointer(`/${token}`);
      continue;
    }
    const given = itemsIn(base?.leaves, path);
    const [hit, meant] = [before[Number(token)], given?.[Number(token)]];
    if (hit === undefined || given === undefined) return [];
    if (isAnother(hit, meant, before, given)) {
      const isLast = at === tokens.length - 1;
      const isStill = isLast && isKnown(itemsIn(change.version.leaves, path), hit);
      return isStill ? [] : [{ item: hit.path, meant: meant?.text }];
    }
    path = hit.path;
  }
  return [];
}

/** Whether another item stands there. One without a key may have been changed where it is; it was shifted where either stands elsewhere. */
function isAnother(hit: Item, meant: Item | undefined, before: readonly Item[], given: readonly Item[]): boolean {
  if (meant?.identity === hit.identity) return false;
  return !isByPlace(hit.path) || isKnown(given, hit) || isKnown(before, meant);
}

function isKnown(items: readonly Item[] | undefined, item: Item | undefined): boolean {
  return item !== undefined && items?.some(({ identity }) => identity === item.identity) === true;
}

interface Item {
  readonly path: string;
  readonly identity: string;
  readonly text: string;
}

function itemsIn(leaves: Leaves | undefined, list: string): Item[] | undefined {
  if (leaves === undefined) return undefined;
  return itemsOf(leaves, list)?.map((path) => {
    const identity = itemIdentity(leaves, path);
    return { path, identity, text: isByPlace(path) ? firstWords(leaves, path) : path };
  });
}

/** An item by the first thing that it says, as its place says nothing of it. */
function firstWords(leaves: Leaves, item: string): string {
  for (const [path, value] of leaves)
    if (path.startsWith(item) && path !== item) return `${path.slice(item.length + 1)}: ${value}`;
  return leaves.get(item) ?? item;
}

function givenVersion(write: WriteEvent, object: ObjectState, world: World): VersionRecord | undefined {
  const token = write.basedOn?.token ?? givenTokens(write, object, world).at(-1);
  return token === undefined ? undefined : object.version(token);
}

/**
 * The items that a patch hit where the newest older version that its sender had been given, since it wrote the object itself,
 * had others: a patch may come from a read before the last one, as that of a script does.
 */
function outdated(indexed: readonly string[], write: WriteEvent, change: VersionChange, world: World): Hit[] {
  for (const token of givenTokens(write, change.object, world).slice(-MAX_OLDER).toReversed()) {
    const version = change.object.version(token);
    const hits = indexed
      .flatMap((pointer) => hitItem(pointer, version, change))
      .filter(({ meant }) => meant !== undefined);
    if (hits.length > 0 || (version !== undefined && !isForeign(version, write.actor))) return hits;
  }
  return [];
}

function meantOf(hits: readonly Hit[]): Words {
  return listed(hits.map((hit) => hit.meant ?? message`nothing`));
}

function reportHit(hits: readonly Hit[], write: WriteEvent, change: VersionChange, world: World): void {
  const { object } = change;
  const fields = hits.map((hit) => hit.item);
  const index = change.index - 1;
  const movers = object.versions.slice(0, index + 1).filter((version) => isForeign(version, write.actor));
  const mover = movers.at(-1);
  const other = mover?.author === undefined ? (mover?.manager ?? 'another actor') : actorName(mover.author.actor);
  const base = givenVersion(write, object, world)?.token;
  world.report({
    key: ['lost-update', 'index-patch', writerKey(write)].join('\0'),
    id: 'lost-update',
    kind: 'index-patch',
    cluster: object.cluster,
    object: findingObject(object),
    actors: [actorName(write.actor), other],
    fields,
    at: write.at,
    events: [...new Set([mover?.author?.seq ?? mover?.seq, write.seq, change.version.seq])].filter(
      (seq) => seq !== undefined,
    ),
    explanation: message`${explainLoss({ how: 'unseen', base }, 'index-patch', { ...change, write, over: change.previous }, [other], fields)} In the version it was given, that position held ${meantOf(hits)}.`,
    remedy: lossRemedy('index-patch'),
    details: { written: change.version.token },
  });
}

function listsIn(prefix: string, value: Json): string[] {
  if (Array.isArray(value)) return [prefix];
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([field, item]) => listsIn(`${prefix}${fieldStep(field)}`, item));
}

/** Whether another actor is known to have put an item into the list that the patch replaces. */
function isShared(path: string, write: WriteEvent, change: VersionChange): boolean {
  const items = change.previous?.leaves === undefined ? undefined : itemsOf(change.previous.leaves, path);
  return (items ?? []).some((item) => {
    return foreignChange(change.object, item, change.index - 1, write.actor) !== undefined;
  });
}
