import type { Json, JsonObject } from '../../codec/json.ts';
import { cloneJson, isJsonObject } from '../../codec/json.ts';
import type { Kind } from '../kinds/kind.ts';
import { normalize, type Reader } from '../schema/normalize.ts';
import { asksForReset } from './managedFields.ts';

/**
 * Makes an object of any JSON that claims to be of a kind: typed, unknown fields dropped, defaults filled in.
 * @returns the object, and for custom resources the paths of the fields that were dropped
 * @throws DecodeError where a value is of a wrong type
 */
export function completeObject(
  kind: Kind,
  value: Json,
  reader: Reader = 'json',
): { object: JsonObject; dropped: readonly string[] } {
  const given = isJsonObject(value) ? value : {};
  const { object, dropped } = kind.coerce?.(given) ?? { object: builtIn(kind, value, reader), dropped: [] };
  object['apiVersion'] = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
  object['kind'] = kind.kind;
  keepReset(kind, object, given);
  kind.applyDefaults(object);
  return { object: { kind: kind.kind, apiVersion: object['apiVersion'], ...object }, dropped };
}

/**
 * Makes an object of what an apply merged. A custom resource is not pruned again here: nulls that the configuration sent,
 * or that are left where the last field of a struct was removed, stay for validation to judge.
 * @throws DecodeError where a value is of a wrong type
 */
export function completeApplied(kind: Kind, merged: JsonObject): JsonObject {
  if (kind.coerce === undefined) return completeObject(kind, merged, 'converter').object;
  const metadata = kind.coerce({ metadata: merged['metadata'] ?? {} }).object['metadata'];
  const object: JsonObject = { ...cloneJson(merged), metadata: metadata ?? {} };
  kind.applyDefaults(object);
  return object;
}

function builtIn(kind: Kind, value: Json, reader: Reader): JsonObject {
  const object = normalize(kind.schema, value, reader);
  return isJsonObject(object) ? object : {};
}

/** An empty list of managedFields asks to forget them; it must not get lost as empty lists do. */
function keepReset(kind: Kind, object: JsonObject, given: JsonObject): void {
  const sent = isJsonObject(given['metadata']) ? given['metadata']['managedFields'] : undefined;
  if (asksForReset(sent, kind.origin) && isJsonObject(object['metadata'])) object['metadata']['managedFields'] = [];
}
