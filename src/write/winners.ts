import { equalJson, type Json, type JsonObject } from '../codec/json.ts';
import { diffObjects } from '../core/diff.ts';
import type { ListSchema } from '../core/listSchema.ts';
import { withServerSet } from '../core/merge.ts';
import { describeOwner, ownersAt, ownersOf, type FieldOwner } from '../core/ownership.ts';
import { formatPath, startsWith, valueAt, type Path } from '../codec/path.ts';
import type { Owned, Winner } from './report.ts';
import { metadataOf } from './target.ts';

/** The owners of an object's fields. */
export function ownersIn(object: JsonObject): FieldOwner[] {
  const fields = metadataOf(object)['managedFields'];
  return ownersOf(Array.isArray(fields) ? fields : undefined);
}

/** The paths that differ between two reads of one object, besides what only a server sets. */
export function changedPaths(before: JsonObject, after: JsonObject, schema: ListSchema): Path[] {
  return diffObjects(before, withServerSet(before, after), schema).map((change) => change.path);
}

/**
 * Who made progress between two reads, by the entries of `managedFields` that changed. Where exactly one entry changed, all
 * that changed is its doing, removals included; else each entry has what it owns now. Where none changed, the values are their
 * owners' doing: anybody else's write would have taken the fields over (entries tell whole seconds only). Without managed
 * fields: nobody is known.
 */
export function winnersBetween(before: JsonObject, after: JsonObject, schema: ListSchema): Winner[] {
  const paths = changedPaths(before, after, schema);
  const old = new Map(entriesOf(before));
  const owners = ownersIn(after);
  const entries = entriesOf(after).map(([identity, entry], index) => ({
    entry,
    was: old.get(identity),
    owner: owners[index],
  }));
  const changed = entries.filter(({ entry, was }) => !equalJson(entry, was));
  const moved = changed.filter(({ entry, was }) => was === undefined || !equalJson(timeOf(entry), timeOf(was)));
  const candidates = moved.length > 0 ? moved : changed.length > 0 ? changed : entries;
  return candidates.flatMap(({ owner }) => {
    if (owner === undefined) return [];
    const isAlone = candidates.length === 1 && candidates !== entries;
    const own = isAlone ? paths : paths.filter((path) => ownersOfPath([owner], after, path, schema).length > 0);
    return own.length === 0 && candidates === entries ? [] : [winner(owner, own.map(formatPath))];
  });
}

function winner(owner: FieldOwner, fields: readonly string[]): Winner {
  return {
    manager: owner.manager,
    operation: owner.operation,
    ...(owner.subresource === undefined ? {} : { subresource: owner.subresource }),
    ...(owner.time === undefined ? {} : { time: owner.time }),
    fields,
  };
}

/** Entries that `ownersOf` understands, in the same order, each with what identifies it. */
function entriesOf(object: JsonObject): [string, Json][] {
  const fields = metadataOf(object)['managedFields'];
  if (!Array.isArray(fields)) return [];
  return fields.flatMap((entry): [string, Json][] => {
    const owner = ownersOf([entry])[0];
    return owner === undefined
      ? []
      : [[`${owner.manager}\n${owner.operation}\n${owner.subresource ?? ''}\n${owner.apiVersion}`, entry]];
  });
}

function timeOf(entry: Json): Json | undefined {
  return ownersOf([entry])[0]?.time;
}

/**
 * Those of an object's owners who own what is at a path, or a part of it, or an atomic list or map that it is in. Owning a
 * map or a keyed list as such does not make its members one's own.
 */
export function ownersOfPath(
  owners: readonly FieldOwner[],
  object: JsonObject,
  path: Path,
  schema: ListSchema,
): FieldOwner[] {
  const isAtomic = (at: Path): boolean => {
    const type = Array.isArray(valueAt(object, at)) ? (schema.listTypeAt(at)?.type ?? 'atomic') : undefined;
    return type === 'atomic' || (type === undefined && schema.isAtomicMapAt(at));
  };
  return ownersAt(owners, path).filter((owner) =>
    owner.paths.some((owned) => startsWith(owned, path) || (startsWith(path, owned) && isAtomic(owned))),
  );
}

/** The fields at these paths that a manager other than `manager` owns, one row per field and owner. */
export function ownedByOthers(
  object: JsonObject,
  paths: readonly Path[],
  manager: string,
  schema: ListSchema,
): Owned[] {
  const owners = ownersIn(object).filter((owner) => owner.manager !== manager);
  return paths.flatMap((path) =>
    ownersOfPath(owners, object, path, schema).map((owner) => ({
      path: formatPath(path),
      manager: owner.manager,
      operation: owner.operation,
      ...(owner.subresource === undefined ? {} : { subresource: owner.subresource }),
      ...(owner.time === undefined ? {} : { time: owner.time }),
    })),
  );
}

/** Those who own what is at a path besides this manager, in words: `m-old (Update)`. */
export function otherOwnersAt(object: JsonObject, path: Path, manager: string, schema: ListSchema): string[] {
  const others = ownersIn(object).filter((owner) => owner.manager !== manager);
  return ownersOfPath(others, object, path, schema).map((owner) => describeOwner(owner));
}
