import type { Json, JsonObject } from '../../codec/json.ts';
import { isJsonObject } from '../../codec/json.ts';

/** The object at a field; an empty one where there is none (which is then not part of the parent). */
export function objectAt(parent: JsonObject | undefined, ...names: readonly string[]): JsonObject {
  let value: Json | undefined = parent;
  for (const name of names) value = isJsonObject(value) ? value[name] : undefined;
  return isJsonObject(value) ? value : {};
}

/** The object at a field, made if it is not there. */
export function ensureObject(parent: JsonObject, name: string): JsonObject {
  const known = parent[name];
  if (isJsonObject(known)) return known;
  const made: JsonObject = {};
  parent[name] = made;
  return made;
}

/** The items of a list that are objects. */
export function objectsAt(parent: JsonObject | undefined, ...names: readonly string[]): JsonObject[] {
  const list = valueAtNames(parent, names);
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

/** The texts of a list. */
export function textsAt(parent: JsonObject | undefined, ...names: readonly string[]): string[] {
  const list = valueAtNames(parent, names);
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [];
}

/** The text at a field; '' where there is none. */
export function textAt(parent: JsonObject | undefined, ...names: readonly string[]): string {
  const value = valueAtNames(parent, names);
  return typeof value === 'string' ? value : '';
}

/** The number at a field; undefined where there is none. */
export function numberAt(parent: JsonObject | undefined, ...names: readonly string[]): number | undefined {
  const value = valueAtNames(parent, names);
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined;
}

/** Any value at a path of fields. */
export function valueAtNames(parent: JsonObject | undefined, names: readonly string[]): Json | undefined {
  let value: Json | undefined = parent;
  for (const name of names) value = isJsonObject(value) ? value[name] : undefined;
  return value;
}

/** Sets a field that is absent, null, or an empty text. */
export function setDefault(parent: JsonObject, name: string, value: Json): void {
  const known = parent[name];
  if (known === undefined || known === null || known === '') parent[name] = value;
}

/** Sets a field, or removes it where the value is undefined. */
export function setOrDelete(parent: JsonObject, name: string, value: Json | undefined): void {
  if (value === undefined) delete parent[name];
  else parent[name] = value;
}
