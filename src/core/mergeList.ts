import { equalJson, isJsonObject, type Json, type JsonObject } from '../codec/json.ts';
import { identifyItems, type Identified } from './diff.ts';
import type { ListType } from './listSchema.ts';
import { mergePositions } from './mergePositions.ts';
import type { Maybe, MergeContext } from './mergeTypes.ts';
import type { Path } from '../codec/path.ts';

type Items = ReadonlyMap<string, Identified>;

interface Sides<T> {
  readonly base: T;
  readonly theirs: T;
  readonly yours: T;
}

/** Merges a list that both sides changed, as its declared type says. */
export function mergeList(
  path: Path,
  base: Json[] | undefined,
  theirs: Json[],
  yours: Json[],
  context: MergeContext,
): Maybe {
  const { out } = context;
  const type = context.schema.listTypeAt(path);
  if (type === undefined) {
    const merged = base === undefined ? undefined : mergePositions(base, theirs, yours);
    if (merged !== undefined) return merged;
    out.add(path, base === undefined ? 'both-added' : 'no-identity', base, theirs, yours);
    return theirs;
  }
  const items = type.type === 'atomic' ? undefined : identify({ base: base ?? [], theirs, yours }, type);
  if (items === undefined) {
    out.add(path, type.type === 'atomic' ? 'both-changed' : 'no-identity', base, theirs, yours);
    return theirs;
  }
  return mergeIdentified(path, type, items, { base, theirs, yours }, context);
}

function identify(lists: Sides<readonly Json[]>, type: ListType): Sides<Items> | undefined {
  const base = identifyItems(lists.base, type);
  const theirs = identifyItems(lists.theirs, type);
  const yours = identifyItems(lists.yours, type);
  return base === undefined || theirs === undefined || yours === undefined ? undefined : { base, theirs, yours };
}

function mergeIdentified(
  path: Path,
  type: ListType,
  items: Sides<Items>,
  lists: Sides<Maybe>,
  context: MergeContext,
): Maybe {
  const { out } = context;
  const order = mergeOrder(
    [...items.base.keys()],
    [...items.theirs.keys()],
    [...items.yours.keys()],
    type.type === 'set',
  );
  if (order === undefined) {
    out.add(path, 'order', lists.base, lists.theirs, lists.yours);
    return lists.theirs;
  }
  const rekeyed = type.type === 'map' ? rekeyedOnBothSides(items, type.keys) : new Map<string, Rekeyed>();
  for (const { base, theirs, yours } of rekeyed.values()) {
    out.add([...path, base.step], 'key-changed', base.item, theirs, yours);
  }
  const givenUp = new Set([...rekeyed.values()].flatMap(({ yoursId }) => (yoursId === undefined ? [] : [yoursId])));
  const merged: Json[] = [];
  for (const id of order) {
    const [base, theirs, yours] = [items.base.get(id), items.theirs.get(id), items.yours.get(id)];
    const step = (theirs ?? yours ?? base)?.step;
    if (step === undefined || (givenUp.has(id) && theirs === undefined)) continue;
    const item = rekeyed.has(id)
      ? theirs?.item
      : context.mergeValue([...path, step], base?.item, theirs?.item, yours?.item, context);
    if (item !== undefined) merged.push(item);
  }
  return merged;
}

interface Rekeyed {
  readonly base: Identified;
  readonly theirs: Maybe;
  readonly yours: Maybe;
  /** The new identity that yours gave the item. */
  readonly yoursId?: string;
}

/**
 * Items of the base whose key one side changed while the other changed the key too (to something else), or removed the
 * item. That the other side *changed* the item is found by the merge itself, as a removal against a change.
 */
function rekeyedOnBothSides(items: Sides<Items>, keys: readonly string[]): Map<string, Rekeyed> {
  const found = new Map<string, Rekeyed>();
  const theirs = renames(items.base, items.theirs, keys);
  const yours = renames(items.base, items.yours, keys);
  for (const [id, base] of items.base) {
    const [theirNew, yourNew] = [theirs.get(id), yours.get(id)];
    if (items.theirs.has(id) || items.yours.has(id) || theirNew === yourNew) continue;
    found.set(id, {
      base,
      theirs: theirNew === undefined ? undefined : items.theirs.get(theirNew)?.item,
      yours: yourNew === undefined ? undefined : items.yours.get(yourNew)?.item,
      ...(yourNew === undefined ? {} : { yoursId: yourNew }),
    });
  }
  return found;
}

/** Old identities to new ones: an item that left and one that came, alike in all but the key, or the only two at one place. */
function renames(base: Items, side: Items, keys: readonly string[]): Map<string, string> {
  const left = [...base].filter(([id]) => !side.has(id));
  const came = [...side].filter(([id]) => !base.has(id));
  const renamed = new Map<string, string>();
  for (const [oldId, old] of left) {
    const match = came.find(
      ([newId, young]) =>
        ![...renamed.values()].includes(newId) && equalJson(besides(old.item, keys), besides(young.item, keys)),
    );
    if (match !== undefined) renamed.set(oldId, match[0]);
  }
  const [onlyLeft, onlyCame] = [left[0], came[0]];
  if (left.length === 1 && came.length === 1 && onlyLeft !== undefined && onlyCame !== undefined) {
    const place = (list: Items, id: string): number => [...list.keys()].indexOf(id);
    if (place(base, onlyLeft[0]) === place(side, onlyCame[0])) renamed.set(onlyLeft[0], onlyCame[0]);
  }
  return renamed;
}

/** An item of a list without its key fields. */
export function besides(item: Json, keys: readonly string[]): Json {
  if (!isJsonObject(item)) return item;
  const rest: JsonObject = {};
  for (const [field, value] of Object.entries(item)) if (!keys.includes(field)) rest[field] = value;
  return rest;
}

/**
 * The merged order of identities: that of the side which changed the order of common items, theirs where neither did, with
 * the other side's new items behind what stood before them. Undefined where both changed the order, differently: in a
 * keyed list that is a decision (init containers run in order); in a set it is nothing.
 */
function mergeOrder(base: string[], theirs: string[], yours: string[], isSet: boolean): string[] | undefined {
  const common = new Set(base.filter((id) => theirs.includes(id) && yours.includes(id)));
  const of = (list: string[]): string => list.filter((id) => common.has(id)).join('\n');
  const [inBase, inTheirs, inYours] = [of(base), of(theirs), of(yours)];
  const yoursLeads = !isSet && inTheirs === inBase && inYours !== inBase;
  if (!isSet && inTheirs !== inBase && inYours !== inBase && inTheirs !== inYours) return undefined;
  return yoursLeads ? weave(yours, theirs) : weave(theirs, yours);
}

/** `lead`, with what only `other` has put behind the item that stands before it there. */
function weave(lead: readonly string[], other: readonly string[]): string[] {
  const woven = [...lead];
  let at = -1;
  for (const id of other) {
    const place = woven.indexOf(id);
    if (place >= 0) at = place;
    else {
      at += 1;
      woven.splice(at, 0, id);
    }
  }
  return woven;
}
