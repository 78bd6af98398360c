import type { Json, JsonObject } from '../../codec/json.ts';
import { isJsonObject, stringifyCanonical, stringifyJson } from '../../codec/json.ts';
import type { ListTypeSchema } from '../schema/schema.ts';

/**
 * One step into an object, in the notation of FieldsV1, which is also its identity:
 * `f:NAME` a field, `k:{"name":"c"}` an item of a list by its keys, `v:"x"` an item of a set.
 * Source: the FieldsV1 type of the Kubernetes API reference.
 */
export type Element = string;

/** The step into a field or a map's key. */
export function fieldElement(name: string): Element {
  return `f:${name}`;
}

/** The name of a field step; undefined for items of lists. */
export function fieldName(element: Element): string | undefined {
  return element.startsWith('f:') ? element.slice(2) : undefined;
}

/**
 * The step to an item of a set or keyed list. Key fields that the item leaves out take their declared default (a Service
 * port without protocol is TCP).
 * @returns the sentence of the real server's error where the item has no identity
 */
export function itemElement(list: ListTypeSchema, item: Json): Element | { problem: string } {
  return list.merge === 'map' ? keyElement(list, item) : valueElement(item);
}

function keyElement(list: ListTypeSchema, item: Json): Element | { problem: string } {
  if (item === null) return { problem: 'associative list with keys may not have a null element' };
  if (!isJsonObject(item)) return { problem: 'associative list with keys may not have non-map elements' };
  const key: JsonObject = {};
  for (const name of [...list.keys].sort()) {
    const value = Object.hasOwn(item, name) ? item[name] : keyDefault(list, name);
    if (value !== undefined) key[name] = value;
  }
  if (Object.keys(key).length === 0) {
    const names = list.keys.map((name) => `"${name}"`).join(' ');
    return {
      problem: `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
    };
  }
  return `k:${stringifyJson(key)}`;
}

function keyDefault(list: ListTypeSchema, name: string): Json | undefined {
  return list.items.type === 'struct' ? list.items.fields.get(name)?.default : undefined;
}

function valueElement(item: Json): Element | { problem: string } {
  if (item === null) return { problem: "associative list without keys has an element that's an explicit null" };
  if (Array.isArray(item)) return { problem: 'not supported: associative list with lists as elements' };
  if (isJsonObject(item)) return { problem: "associative list without keys has an element that's a map type" };
  return `v:${stringifyJson(item)}`;
}

/** A step as apply conflicts show it: `.replicas`, `[name="web"]`, `[="x"]`. */
export function printElement(element: Element): string {
  const text = element.slice(2);
  if (element.startsWith('f:')) return `.${text}`;
  if (element.startsWith('v:')) return `[=${text}]`;
  if (element.startsWith('i:')) return `[${text}]`;
  const key: unknown = JSON.parse(text);
  if (!isJsonObject(key)) return `[${text}]`;
  return `[${Object.keys(key)
    .sort()
    .map((name) => `${name}=${stringifyJson(key[name] ?? null)}`)
    .join(',')}]`;
}

/** The order in which the server prints steps: fields, keyed items, set items, positions; each by its text. */
export function compareElements(a: Element, b: Element): number {
  const rank = 'fkvi'.indexOf(a.charAt(0)) - 'fkvi'.indexOf(b.charAt(0));
  if (rank !== 0) return rank;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Gives a step that a client wrote its one spelling: keys sorted, compact. Undefined where it is none. */
export function canonicalElement(text: string): Element | undefined {
  const kind = text.slice(0, 2);
  if (kind === 'f:') return text;
  if (kind === 'i:') return /^i:-?\d+$/.test(text) ? text : undefined;
  if (kind !== 'k:' && kind !== 'v:') return undefined;
  try {
    const value = JSON.parse(text.slice(2)) as Json;
    if (kind === 'k:' && !isJsonObject(value)) return undefined;
    return `${kind}${stringifyCanonical(value)}`;
  } catch {
    return undefined;
  }
}
