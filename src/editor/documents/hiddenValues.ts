import { isJsonObject, setOwn, type Json, type JsonObject } from '../../codec/json.ts';
import { HIDDEN, hideSecrets, isSecretResource } from '../../core/secrets.ts';

/**
 * What of an object a document shows: all but `managedFields`, which the tree shows by owner. A Secret's values stand as
 * keyed hashes unless a person asked to see them.
 */
export function shownOf(object: JsonObject, hide: { readonly key: string } | undefined): JsonObject {
  const metadata = object['metadata'];
  let shown = object;
  if (isJsonObject(metadata) && Object.hasOwn(metadata, 'managedFields')) {
    const { managedFields: _managedFields, ...rest } = metadata;
    shown = { ...object, metadata: rest };
  }
  return hide === undefined ? shown : hideSecrets(shown, hide.key);
}

/** Whether documents of a resource hide values. */
export function hidesValues(name: { readonly group: string; readonly resource: string }): boolean {
  return isSecretResource(name);
}

/** A stand-in of which nothing tells what it stood for, such as one typed or pasted from another object. */
interface UnknownStandIn {
  readonly path: readonly (string | number)[];
}

/**
 * Puts back what was hidden: a stand-in becomes the value that it stood for in `original`, wherever a person moved it; what
 * stayed hidden stays as it is, byte for byte.
 */
export function revealed(
  edited: JsonObject,
  original: JsonObject,
  key: string,
): { readonly object: JsonObject; readonly unknown: readonly UnknownStandIn[] } {
  const values = new Map<string, Json>();
  collect(shownOf(original, { key }), shownOf(original, undefined), values);
  const unknown: UnknownStandIn[] = [];
  const object = putBack(edited, values, [], unknown);
  return { object: isJsonObject(object) ? object : edited, unknown };
}

function collect(hidden: Json | undefined, open: Json | undefined, values: Map<string, Json>): void {
  if (typeof hidden === 'string') {
    if (hidden.startsWith(HIDDEN) && open !== undefined) values.set(hidden, open);
  } else if (Array.isArray(hidden)) {
    for (const [index, item] of hidden.entries()) collect(item, Array.isArray(open) ? open[index] : undefined, values);
  } else if (isJsonObject(hidden)) {
    for (const [name, item] of Object.entries(hidden))
      collect(item, isJsonObject(open) ? open[name] : undefined, values);
  }
}

function putBack(
  value: Json,
  values: ReadonlyMap<string, Json>,
  path: readonly (string | number)[],
  unknown: UnknownStandIn[],
): Json {
  if (typeof value === 'string') {
    if (!value.startsWith(HIDDEN)) return value;
    const stoodFor = values.get(value);
    if (stoodFor === undefined) unknown.push({ path });
    return stoodFor ?? value;
  }
  if (Array.isArray(value)) return value.map((item, index) => putBack(item, values, [...path, index], unknown));
  if (!isJsonObject(value)) return value;
  const copy: JsonObject = {};
  for (const [name, item] of Object.entries(value)) setOwn(copy, name, putBack(item, values, [...path, name], unknown));
  return copy;
}
