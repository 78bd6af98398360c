import { equalJson, isJsonObject, setOwn, type Json, type JsonObject } from '../codec/json.ts';
import type { ListSchema } from './listSchema.ts';
import { mergeValue } from './mergeValue.ts';
import { ConflictList, type Merge } from './mergeTypes.ts';

/**
 * What only a server sets in metadata. It is left out of every comparison and taken from the newest object.
 * Source: ObjectMeta in the Kubernetes API reference ("populated by the system", "read-only").
 */
export const serverSetMetadata: readonly string[] = [
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'selfLink',
  'managedFields',
];

/**
 * Carries edits over to a newer object: what `yours` changed of `base` is done to `theirs`.
 *
 * Maps are merged by key, keyed lists by their declared keys, sets as sets, atomic lists and maps as one. A list of which
 * nothing is declared is merged only where unchanged neighbours tell which item is meant. Both sides the same is no
 * conflict. Absent, null and empty are three values; but removing a map and removing its members one by one are the same
 * for maps of plain values, because a server drops a map that has become empty.
 *
 * Server-set metadata comes from `theirs`. A whole `status` that is missing in `yours` was hidden, not removed, and comes
 * from `theirs` as well.
 *
 * Pure and total: any three values give a merge. At a conflict `merged` holds what `theirs` has.
 */
export function merge3(base: JsonObject, theirs: JsonObject, yours: JsonObject, schema: ListSchema): Merge<JsonObject> {
  const conflicts = new ConflictList();
  const merged = mergeValue([], base, theirs, withServerSet(base, yours), { schema, out: conflicts, mergeValue });
  return { merged: withServerSet(theirs, isJsonObject(merged) ? merged : theirs), conflicts: conflicts.conflicts };
}

/** `object` with the server-set metadata of `source`, and its status where `object` has none. Neither is changed. */
export function withServerSet(source: JsonObject, object: JsonObject): JsonObject {
  const result = copyOf(object);
  if (!Object.hasOwn(object, 'status') && source['status'] !== undefined) setOwn(result, 'status', source['status']);
  const from = source['metadata'];
  const metadata = isJsonObject(object['metadata']) ? copyOf(object['metadata']) : undefined;
  if (metadata === undefined && from === undefined) return result;
  const target = metadata ?? {};
  for (const field of serverSetMetadata) {
    const value = isJsonObject(from) ? from[field] : undefined;
    if (value === undefined) delete target[field];
    else setOwn(target, field, value);
  }
  if (metadata !== undefined || Object.keys(target).length > 0) setOwn(result, 'metadata', target);
  return result;
}

/** Whether two objects are the same but for what only a server sets. */
export function sameBesidesServerSet(a: JsonObject, b: JsonObject): boolean {
  return equalJson(withServerSet(a, b), a);
}

function copyOf(object: JsonObject): JsonObject {
  const copy: JsonObject = {};
  for (const key of Object.keys(object)) setOwn(copy, key, object[key] as Json);
  return copy;
}
